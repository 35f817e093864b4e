/* SPDX-License-Identifier: MIT */
/* Cards about a captured backward: hooks, accumulations, calls, and their origins. */

#include "inspect/backward-cards.h"

#include <glib/gi18n.h>

#include "analysis/adj-node-bytes.h"
#include "inspect/adj-histogram.h"
#include "ir/adj-graph.h"
#include "model/adj-tensor-stats.h"
#include "report/adj-properties.h"
#include "tensor/adj-late-bytes-internal.h"

#define FIRST_ELEMENTS 6

/* The captured node, if the graph is a captured backward.  (nullable) */
static const AdjCapturedNode *
find_captured (AdjDocument *document, AdjNodeId id, AdjCaptured **captured)
{
  *captured = adj_document_get_captured (document);
  return *captured != NULL ? adj_captured_get_node (*captured, id.index) : NULL;
}

static const AdjNode *
get_node (const AdjCaptured *captured, guint index)
{
  return adj_graph_get_node (adj_captured_get_graph (captured), index);
}

static void
add_node (AdjPropertyCard *card, const AdjCaptured *captured, const char *key, guint32 index)
{
  const AdjNode *node = get_node (captured, index);
  g_autofree char *annotation = adj_properties_annotation (adj_captured_get_graph (captured), node);

  adj_property_card_add_link (card, key, node->name, (AdjNodeId){ index }, annotation);
}

/* Adds an autograd node, with a link to its first node in the graph. */
static void
add_call (AdjPropertyCard *card, const AdjCaptured *captured, const char *key, guint32 number)
{
  g_autofree char *name = NULL;
  const AdjCapturedCall *call;

  if (number == ADJ_CAPTURED_NONE)
    return;
  name = adj_captured_name_call (captured, number);
  call = adj_captured_get_call (captured, number);
  if (adj_node_id_is_valid (call->first))
    adj_property_card_add_link (card, key, name, call->first, NULL);
  else
    adj_property_card_add (card, key, name);
}

/* Adds the line of the program whose operation @number is the backward of: the frame above those of
 * compiled autograd. */
static void
add_line (AdjPropertyCard *card, const AdjCaptured *captured, guint32 number)
{
  const AdjNodeMeta *meta;
  const AdjFrame *frame;
  g_autofree char *base = NULL, *place = NULL;
  AdjNodeId first =
      number != ADJ_CAPTURED_NONE ? adj_captured_get_call (captured, number)->first : ADJ_NO_NODE;

  if (!adj_node_id_is_valid (first))
    return;
  meta = &get_node (captured, first.index)->meta;
  if (meta->n_frames < 2)
    return;
  frame = &meta->frames[meta->n_frames - 2];
  base = g_path_get_basename (frame->file);
  place = g_strdup_printf ("%s:%u", base, frame->line);
  adj_property_card_add_link (card, _ ("Forward line"), place, first, frame->code);
}

/* -- values -- */

static gboolean
take_first (const AdjValue *leaf, gpointer data)
{
  AdjTensorData **found = data;

  if (leaf->kind == ADJ_VALUE_DATA && *found == NULL)
    *found = leaf->data;
  return *found == NULL;
}

/* (nullable) (transfer none) */
static AdjTensorData *
find_given (AdjDocument *document, const AdjCaptured *captured, const AdjNode *node)
{
  const AdjRecordedCall *recorded = adj_captured_get_recorded (captured);
  const AdjValue *arg = node->args.n > 1 ? &node->args.items[1] : NULL;

  if (arg != NULL && adj_value_is_container (arg) && arg->n > 0)
    arg = &arg->items[0];
  if (recorded == NULL || arg == NULL || arg->kind != ADJ_VALUE_NODE)
    return NULL;
  return adj_bundle_get_tap (adj_document_get_bundle (document), recorded,
                             get_node (captured, arg->node.index)->name, FALSE);
}

static void
add_stats (AdjPropertyCard *card, const char *key, AdjTensorData *data, const AdjTensorStats *stats)
{
  g_autofree char *mean = adj_properties_number (stats->mean);
  g_autofree char *deviation = adj_properties_number (stats->deviation);
  g_autofree char *first = adj_tensor_stats_first (data, FIRST_ELEMENTS);
  g_autofree char *text = g_strdup_printf (_ ("%s ± %s: %s"), mean, deviation, first);

  adj_property_card_add (card, key, text);
}

/* (nullable): @data, or %NULL if its file has changed. */
static AdjTensorData *
readable (AdjTensorData *data)
{
  return data != NULL && adj_tensor_data_fetch (data, NULL) ? data : NULL;
}

/* Adds histograms of a hook's argument and its result, over one range. */
static void
add_values (AdjPropertyCard *card, AdjDocument *document, const AdjCaptured *captured, guint index)
{
  const AdjValue *result = adj_captured_get_result (captured, index);
  AdjTensorData *given = readable (find_given (document, captured, get_node (captured, index)));
  AdjTensorData *gave = NULL;
  AdjTensorStats before, after;

  if (result != NULL)
    adj_value_foreach (result, take_first, &gave);
  gave = readable (gave);
  if (given != NULL && gave != NULL)
    adj_tensor_stats_compute_both (given, gave, &before, &after);
  else if (given != NULL)
    adj_tensor_stats_compute (given, &before);
  else if (gave != NULL)
    adj_tensor_stats_compute (gave, &after);
  if (given != NULL)
    add_stats (card, _ ("Was given"), given, &before);
  if (gave != NULL)
    add_stats (card,
               adj_captured_get_node (captured, index)->after != ADJ_CAPTURED_NONE
                   ? _ ("Left as gradient")
                   : _ ("Gave"),
               gave, &after);
  if (given != NULL && gave != NULL && after.n > 1)
    {
      adj_property_card_add_widget (card, adj_histogram_new (&after, &before));
      adj_property_card_add_text (card, _ ("▮ gave   ━ was given"), FALSE);
    }
  else if (gave != NULL && after.n > 1)
    adj_property_card_add_widget (card, adj_histogram_new (&after, NULL));
}

/* -- cards -- */

/* Adds the arguments: of a hook the gradients, both those that it may change and those that
 * arrived; of a custom backward its saved values, then its gradients. */
static void
add_arguments (AdjPropertyCard *card,
               const AdjCaptured *captured,
               const AdjNode *node,
               gboolean custom)
{
  for (guint i = 1; i < node->args.n; i++)
    {
      const AdjValue *arg = &node->args.items[i];
      const char *key = custom && i == 1   ? _ ("Saved")
                        : custom || i == 1 ? _ ("Gradient")
                                           : _ ("Arrived");

      if (arg->kind == ADJ_VALUE_NODE)
        add_node (card, captured, key, arg->node.index);
      for (guint k = 0; adj_value_is_container (arg) && k < arg->n; k++)
        if (arg->items[k].kind == ADJ_VALUE_NODE)
          add_node (card, captured, key, arg->items[k].node.index);
    }
}

void
adj_backward_card_fill_hook (AdjPropertyCard *card, AdjDocument *document, AdjNodeId id)
{
  AdjCaptured *captured;
  const AdjCapturedNode *node = find_captured (document, id, &captured);
  const char *where;
  g_autofree char *type = NULL, *item = NULL;

  if (node == NULL || (node->kind != ADJ_CAPTURED_HOOK && node->kind != ADJ_CAPTURED_BACKWARD))
    return;
  type = adj_captured_name_hook_type (captured, id.index);
  where = adj_captured_get_text (captured, "hooks", node->item, "where");
  adj_property_card_add (card, _ ("Calls"),
                         adj_captured_get_text (captured, "hooks", node->item, "name"));
  adj_property_card_add (card, _ ("Type"), type);
  if (node->item != ADJ_CAPTURED_NONE)
    {
      item = g_strdup_printf ("hooks[%u]", node->item);
      adj_property_card_add (card, _ ("Item"), item);
    }
  if (where != NULL)
    {
      g_autofree char *base = g_path_get_basename (where);

      adj_property_card_add_action (card, _ ("Stands at"), base, "win.show-page",
                                    g_variant_new_string ("source"), NULL);
    }
  if (node->after != ADJ_CAPTURED_NONE)
    add_node (card, captured, _ ("Runs after"), node->after);
  else
    add_arguments (card, captured, get_node (captured, id.index),
                   node->kind == ADJ_CAPTURED_BACKWARD);
  add_values (card, document, captured, id.index);
}

static guint32
find_accumulation (const AdjCaptured *captured, guint32 leaf)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (adj_captured_get_graph (captured)); i++)
    if (adj_captured_get_node (captured, i)->kind == ADJ_CAPTURED_ACCUMULATE &&
        adj_captured_get_node (captured, i)->leaf == leaf)
      return i;
  return ADJ_CAPTURED_NONE;
}

static void
add_accumulation (AdjPropertyCard *card, const AdjCaptured *captured, guint32 leaf)
{
  guint32 accumulation = find_accumulation (captured, leaf);

  if (accumulation != ADJ_CAPTURED_NONE)
    add_node (card, captured, _ ("Added to by"), accumulation);
}

static void
add_last_use (AdjPropertyCard *card, const AdjCaptured *captured, guint index)
{
  guint32 last = adj_graph_get_last_use (adj_captured_get_graph (captured), index).index;

  if (last != index)
    add_node (card, captured, _ ("Let go after"), last);
  else
    adj_property_card_add_text (card, _ ("No node reads it"), FALSE);
}

void
adj_backward_card_fill_origin (AdjPropertyCard *card, AdjDocument *document, AdjNodeId id)
{
  AdjCaptured *captured;
  const AdjCapturedNode *node = find_captured (document, id, &captured);
  const AdjCapturedInput *input;
  g_autofree char *leaf = NULL;

  if (node == NULL || node->kind != ADJ_CAPTURED_INPUT ||
      node->item >= adj_captured_get_n_inputs (captured))
    return;
  input = adj_captured_get_input (captured, node->item);
  switch (input->from)
    {
    case ADJ_FROM_GRADIENT:
      adj_property_card_add_text (card, _ ("Gradient that the backward was given"), FALSE);
      break;
    case ADJ_FROM_SAVED:
      add_call (card, captured, _ ("Saved by"), input->call);
      add_line (card, captured, input->call);
      break;
    case ADJ_FROM_LEAF:
      leaf = adj_captured_name_leaf (captured, node->item);
      adj_property_card_add (card, _ ("Leaf"), leaf);
      add_call (card, captured, _ ("First met by"), input->call);
      add_accumulation (card, captured, node->item);
      break;
    case ADJ_FROM_GRAD:
      leaf = adj_captured_name_leaf (captured, input->of);
      adj_property_card_add (card, _ (".grad of"), leaf);
      adj_property_card_add_text (card, _ ("Was there before this backward"), FALSE);
      add_accumulation (card, captured, input->of);
      break;
    }
  if (input->from != ADJ_FROM_GRAD)
    add_last_use (card, captured, id.index);
  if (!input->recorded)
    adj_property_card_add_text (card, _ ("Concluded from the graph: it was not recorded"), FALSE);
}

static gboolean
had_gradient (const AdjCaptured *captured, guint32 leaf)
{
  for (guint i = 0; i < adj_captured_get_n_inputs (captured); i++)
    if (adj_captured_get_input (captured, i)->from == ADJ_FROM_GRAD &&
        adj_captured_get_input (captured, i)->of == leaf)
      return TRUE;
  return FALSE;
}

/* Describes the first accumulation: the leaf takes over the gradient without a copy if nothing else
 * refers to it and the layouts agree. */
static char *
describe_first (const AdjCaptured *captured, AdjNodeId leaf, AdjNodeId gradient)
{
  AdjGraph *graph = adj_captured_get_graph (captured);
  const AdjNode *node = adj_graph_get_node (graph, gradient.index);
  g_autofree char *wanted = adj_properties_strides (graph, adj_graph_get_node (graph, leaf.index));
  g_autofree char *strides = adj_properties_strides (graph, node);

  if (adj_captured_get_node (captured, gradient.index)->kind == ADJ_CAPTURED_INPUT)
    return g_strdup (_ ("cloned: it was given from outside"));
  if (node->n_users > 1)
    return g_strdup_printf (_ ("cloned: %s reads it as well"),
                            adj_graph_get_node (graph, node->users[0].index)->name);
  if (wanted != NULL && strides != NULL && !g_str_equal (wanted, strides))
    return g_strdup_printf (_ ("cloned: its strides are %s, those of the leaf %s"), strides,
                            wanted);
  return g_strdup (_ ("taken over: nobody else has it"));
}

void
adj_backward_card_fill_accumulation (AdjPropertyCard *card, AdjDocument *document, AdjNodeId id)
{
  AdjCaptured *captured;
  const AdjCapturedNode *node = find_captured (document, id, &captured);
  AdjGraph *graph;
  AdjNodeId leaf, gradient;
  g_autofree char *name = NULL, *bytes = NULL, *outcome = NULL;

  if (node == NULL || node->kind != ADJ_CAPTURED_ACCUMULATE || node->leaf == ADJ_CAPTURED_NONE ||
      node->added == ADJ_CAPTURED_NONE)
    return;
  graph = adj_captured_get_graph (captured);
  leaf = adj_graph_get_node (graph, id.index)->args.items[0].node;
  gradient = (AdjNodeId){ node->added };
  name = adj_captured_name_leaf (captured, node->leaf);
  bytes = adj_properties_bytes (adj_graph_get_node_bytes (graph, gradient.index));
  outcome = had_gradient (captured, node->leaf) ? g_strdup (_ ("added to the one that was there"))
                                                : describe_first (captured, leaf, gradient);
  adj_property_card_add_link (card, _ ("Leaf"), name, leaf, NULL);
  add_node (card, captured, _ ("Gradient"), gradient.index);
  adj_property_card_add (card, _ ("Bytes"), bytes);
  adj_property_card_add (card, _ ("Before"),
                         had_gradient (captured, node->leaf) ? _ ("the leaf had a gradient")
                                                             : _ ("the leaf had none"));
  adj_property_card_add (card, _ ("It is"), outcome);
  for (guint i = id.index + 1; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_captured_get_node (captured, i)->after == id.index)
      add_node (card, captured, _ ("Then runs"), i);
}

void
adj_backward_card_fill_call (AdjPropertyCard *card, AdjDocument *document, AdjNodeId id)
{
  AdjCaptured *captured;
  const AdjCapturedNode *node = find_captured (document, id, &captured);
  const AdjCapturedCall *call;
  g_autofree char *count = NULL;

  if (node == NULL || node->call == ADJ_CAPTURED_NONE || node->kind == ADJ_CAPTURED_INPUT ||
      node->kind == ADJ_CAPTURED_SIZE)
    return;
  call = adj_captured_get_call (captured, node->call);
  add_call (card, captured, _ ("Captured from"), node->call);
  add_line (card, captured, node->call);
  count = adj_properties_count (call->n_nodes);
  adj_property_card_add (card, _ ("Became"), count);
}
