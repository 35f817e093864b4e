/* SPDX-License-Identifier: MIT */
/* The cards about one node: a row of the table each, with the function that fills it. */

#include "inspect/node-cards.h"

#include <glib/gi18n.h>

#include "analysis/adj-lifetimes.h"
#include "analysis/adj-modules.h"
#include "call/adj-op.h"
#include "inspect/adj-property-card.h"
#include "inspect/backward-cards.h"
#include "inspect/object-cards.h"
#include "inspect/run-cards.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "model/adj-maker.h"
#include "model/adj-provenance.h"
#include "model/adj-tensor-stats.h"
#include "report/adj-properties.h"
#include "rules/adj-derivative.h"

#define MAX_MADE 8 /* links to backward nodes */
#define MAX_LINKS 12
#define FIRST_OF_LINK 3 /* elements shown of the value behind a link */

typedef void (*FillCard) (AdjPropertyCard *card, const AdjNodeSubject *subject);

/* The source line of a node: "models.py:58".  (transfer full) */
static char *
print_line (const AdjNode *node)
{
  const AdjNodeMeta *meta = &node->meta;
  g_autofree char *base =
      meta->n_frames > 0 ? g_path_get_basename (meta->frames[meta->n_frames - 1].file) : NULL;

  return base != NULL ? g_strdup_printf ("%s:%u", base, meta->frames[meta->n_frames - 1].line)
                      : g_strdup ("");
}

/* For an input of backward, its maker in forward. */
static void
fill_maker (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  const AdjBundleGraph *forward;
  const AdjNode *made;
  AdjMaker maker;
  g_autofree char *line = NULL;

  if (!adj_maker_find (s->document, s->id, &maker))
    return;
  forward = adj_graph_set_get (adj_document_get_graphs (s->document), maker.graph);
  made = adj_graph_get_node (forward->graph, maker.node.index);
  line = print_line (made);
  adj_property_card_add_action (card, _ ("Made by"), made->name, "win.show-node",
                                g_variant_new ("(uu)", maker.graph, maker.node.index), line);
  adj_property_card_add (card, _ ("Graph"), forward->id);
  adj_property_card_add (card, _ ("Module"), adj_node_get_module_path (made));
}

/* The data of the memory page, views and parts of the storage included. */
static void
add_memory (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  const AdjLifetime *lifetimes = adj_graph_get_lifetimes (s->graph);
  const AdjLifetime *own = &lifetimes[lifetimes[s->id.index].owner];
  g_autofree char *text =
      g_strdup_printf (_ ("steps %u → %u, with views"), own->first + 1, own->last + 1);

  if (own->bytes > 0)
    adj_property_card_add (card, _ ("Memory held"), text);
}

static void
fill_value (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  g_autofree char *shape = adj_properties_shape (s->graph, s->node);
  g_autofree char *strides = adj_properties_strides (s->graph, s->node);
  g_autofree char *type = adj_properties_type (s->graph, s->id);
  g_autofree char *both = shape != NULL && strides != NULL
                              ? g_strdup_printf (_ ("%s  strides %s"), shape, strides)
                              : NULL;
  guint last = adj_graph_get_last_use (s->graph, s->id.index).index;
  g_autofree char *life = NULL;

  adj_property_card_add (card, _ ("Shape"), both != NULL ? both : shape);
  adj_property_card_add (card, _ ("Type"), type);
  if (shape == NULL)
    {
      g_autofree char *annotation = adj_properties_annotation (s->graph, s->node);

      adj_property_card_add (card, _ ("Value"), annotation);
    }
  if (last == s->id.index)
    life = g_strdup_printf (_ ("step %u, never read"), s->id.index + 1);
  else
    life = g_strdup_printf (_ ("steps %u → %u"), s->id.index + 1, last + 1);
  adj_property_card_add (card, _ ("Made, last read"), life);
  add_memory (card, s);
}

static void
fill_tags (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  const AdjNodeMeta *meta = &s->node->meta;
  g_autofree char *number = NULL, *region = NULL;

  if (meta->recompute != ADJ_RECOMPUTE_NONE)
    adj_property_card_add (card, _ ("Policy"), adj_recompute_name (meta->recompute));
  if (meta->ac_graph_id >= 0)
    {
      region = g_strdup_printf (_ ("checkpoint %" G_GINT64_FORMAT), meta->ac_graph_id);
      adj_property_card_add (card, _ ("Region"), region);
    }
  adj_property_card_add (card, _ ("Module"), adj_node_get_module_path (s->node));
  adj_property_card_add (card, _ ("Tag"), meta->partitioner_tag);
  if (meta->seq_nr >= 0)
    {
      number = g_strdup_printf ("%" G_GINT64_FORMAT, meta->seq_nr);
      adj_property_card_add (card, _ ("Sequence"), number);
    }
  adj_property_card_add (card, _ ("Parameter"), meta->parameter);
  adj_property_card_add (card, _ ("Hook"), meta->hook);
  adj_property_card_add (card, _ ("Source"), meta->source);
  adj_property_card_add (card, _ ("ATen"), meta->original_aten);
}

/* The min-cut partitioner's decision for the node. */
static void
fill_reasons (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  const AdjNodeDecision *decision;
  g_autofree char *sentence = NULL, *bytes = NULL, *weight = NULL;

  if (s->partition == NULL || s->node->opcode == ADJ_OPCODE_OUTPUT)
    return;
  decision = &s->partition->nodes[s->id.index];
  sentence = adj_partition_explain (s->partition, s->id);
  bytes = adj_properties_bytes ((gint64) MIN (decision->bytes, G_MAXINT64));
  adj_property_card_add (card, _ ("By min-cut"), adj_decision_kind_name (decision->kind));
  adj_property_card_add (card, _ ("Bytes"), bytes);
  if (decision->weight >= 0)
    {
      weight = g_strdup_printf ("%" G_GINT64_FORMAT, decision->weight);
      adj_property_card_add (card, _ ("Price in the cut"), weight);
    }
  adj_property_card_add_text (card, sentence, FALSE);
  if (adj_node_id_is_valid (decision->because) &&
      decision->because.index < adj_graph_get_n_nodes (s->graph))
    adj_property_card_add_link (card, _ ("Because of"),
                                adj_graph_get_node (s->graph, decision->because.index)->name,
                                decision->because, NULL);
}

static void
add_node_link (AdjPropertyCard *card, const AdjNodeSubject *s, const char *key, AdjNodeId id)
{
  const AdjNode *node = adj_graph_get_node (s->graph, id.index);
  AdjTensorData *value =
      s->evaluation != NULL ? adj_evaluation_get_value (s->evaluation, id) : NULL;
  g_autofree char *annotation = value != NULL ? adj_tensor_stats_first (value, FIRST_OF_LINK)
                                              : adj_properties_annotation (s->graph, node);

  adj_property_card_add_link (card, key, node->name, id, annotation);
}

static void
fill_counterparts (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  AdjNodeId counterpart = adj_scene_get_counterpart (s->scene, s->id);
  AdjNodeId original = adj_scene_get_original (s->scene, s->id);
  AdjNodeId copy = adj_scene_get_copy (s->scene, s->id);

  if (adj_node_id_is_valid (original))
    add_node_link (card, s, _ ("Computes again"), original);
  if (adj_node_id_is_valid (copy))
    add_node_link (card, s, _ ("Computed again"), copy);
  if (adj_node_id_is_valid (counterpart))
    add_node_link (card, s,
                   adj_graph_is_backward (s->graph, counterpart.index) ? _ ("Its gradient")
                                                                       : _ ("Gradient of"),
                   counterpart);
}

/* Its origins and descendants, from the source line to the last stage. */
static void
fill_provenance (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  g_autoptr (GArray) kin = adj_provenance_find (s->document, s->id);
  g_autofree char *line = print_line (s->node);
  const char *last = NULL;

  if (kin->len == 0)
    return;
  if (*line != '\0')
    adj_property_card_add_action (card, _ ("Line"), line, "win.show-page",
                                  g_variant_new_string ("source"), NULL);
  for (guint i = 0; i < kin->len; i++)
    {
      const AdjKin *one = &g_array_index (kin, AdjKin, i);
      const AdjGraph *graph =
          adj_graph_set_get (adj_document_get_graphs (s->document), one->graph)->graph;
      const AdjNode *node = adj_graph_get_node (graph, one->node.index);

      adj_property_card_add_action (
          card, one->step != last ? adj_properties_stage_title (one->step) : "", node->name,
          "win.show-node", g_variant_new ("(uu)", one->graph, one->node.index), NULL);
      last = one->step;
    }
}

static void
add_links (AdjPropertyCard *card,
           const AdjNodeSubject *s,
           const char *arrow,
           const AdjNodeId *ids,
           guint n)
{
  for (guint i = 0; i < MIN (n, MAX_LINKS); i++)
    add_node_link (card, s, arrow, ids[i]);
  if (n > MAX_LINKS)
    {
      g_autofree char *more = g_strdup_printf (_ ("and %u more"), n - MAX_LINKS);

      adj_property_card_add (card, arrow, more);
    }
}

static void
fill_neighbours (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  add_links (card, s, "←", s->node->inputs, s->node->n_inputs);
  add_links (card, s, "→", s->node->users, s->node->n_users);
}

static void
fill_object (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  adj_object_card_fill (card, s->graph, s->id,
                        s->evaluation != NULL ? adj_evaluation_get_result (s->evaluation) : NULL);
}

static void
fill_operator (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  const AdjOp *op = s->node->op;

  if (op == NULL)
    return;
  adj_property_card_add_text (card, op->help, FALSE);
  adj_property_card_add (card, _ ("Formula"), op->expr);
  adj_property_card_add_text (card, op->schema, TRUE);
}

/* The forward node whose derivative the node belongs to: itself in forward; ADJ_NO_NODE: unknown.
 */
static AdjNodeId
find_derived (const AdjNodeSubject *s)
{
  return adj_graph_is_backward (s->graph, s->id.index) ? adj_scene_get_counterpart (s->scene, s->id)
                                                       : s->id;
}

/* For a forward node: the rule of its gradient, and the backward nodes with its sequence number.
 * For a backward node: the rule that made it. */
static void
fill_derivative (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  AdjNodeId derived = find_derived (s);
  const AdjOp *op =
      adj_node_id_is_valid (derived) ? adj_graph_get_node (s->graph, derived.index)->op : NULL;
  g_autoptr (GPtrArray) rules = op != NULL ? adj_derivative_list (op) : NULL;
  guint n_made = 0;

  if (rules == NULL)
    return;
  if (derived.index != s->id.index && rules->len > 0)
    add_node_link (card, s, _ ("Of"), derived);
  for (guint i = 0; i < rules->len; i++)
    {
      const AdjDerivative *rule = rules->pdata[i];
      g_autofree char *key = g_strdup_printf ("∂ %s", rule->argument);

      adj_property_card_add (card, key, rule->text);
    }
  for (guint i = s->id.index + 1;
       derived.index == s->id.index && rules->len > 0 && s->node->meta.seq_nr >= 0 &&
       i < adj_graph_get_n_nodes (s->graph) && n_made < MAX_MADE;
       i++)
    if (adj_graph_get_node (s->graph, i)->meta.seq_nr == s->node->meta.seq_nr &&
        adj_graph_is_backward (s->graph, i))
      add_node_link (card, s, n_made++ == 0 ? _ ("Made") : "", (AdjNodeId){ i });
}

static void
fill_call (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  GString *text = g_string_new (NULL);

  if (s->node->opcode != ADJ_OPCODE_PLACEHOLDER)
    adj_node_print (s->graph, s->id.index, text);
  adj_property_card_add_text (card, text->str, TRUE);
  g_string_free (text, TRUE);
}

static void
fill_frames (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  for (guint i = s->node->meta.n_frames; i-- > 0;)
    {
      const AdjFrame *frame = &s->node->meta.frames[i];
      g_autofree char *base = g_path_get_basename (frame->file);
      g_autofree char *place = g_strdup_printf ("%s:%u", base, frame->line);

      adj_property_card_add (card, place, *frame->code != '\0' ? frame->code : frame->function);
    }
}

static void
fill_hook (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  adj_backward_card_fill_hook (card, s->document, s->id);
}

static void
fill_origin (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  adj_backward_card_fill_origin (card, s->document, s->id);
}

static void
fill_accumulation (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  adj_backward_card_fill_accumulation (card, s->document, s->id);
}

static void
fill_autograd (AdjPropertyCard *card, const AdjNodeSubject *s)
{
  adj_backward_card_fill_call (card, s->document, s->id);
}

static const struct
{
  const char *title;
  FillCard fill;
} rows[] = {
  { N_ ("Hook"), fill_hook },
  { N_ ("Comes From"), fill_origin },
  { N_ ("Accumulation"), fill_accumulation },
  { N_ ("Node of Autograd"), fill_autograd },
  { N_ ("Saved by Forward"), fill_maker },
  { N_ ("Object"), fill_object },
  { N_ ("Value"), fill_value },
  { N_ ("Comparison"), adj_run_card_fill_comparison },
  { N_ ("Result of the Run"), adj_run_card_fill_result },
  { N_ ("Tags"), fill_tags },
  { N_ ("Save or Recompute?"), fill_reasons },
  { N_ ("In Forward and Backward"), fill_counterparts },
  { N_ ("Derivative"), fill_derivative },
  { N_ ("Across Stages"), fill_provenance },
  { N_ ("Inputs and Users"), fill_neighbours },
  { N_ ("Operator"), fill_operator },
  { N_ ("Call"), fill_call },
  { N_ ("Stack Trace"), fill_frames },
};

void
adj_node_cards_fill (GtkBox *cards, const AdjNodeSubject *subject)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      AdjPropertyCard *card = g_object_ref_sink (adj_property_card_new (_ (rows[i].title)));

      rows[i].fill (card, subject);
      if (!adj_property_card_is_empty (card))
        gtk_box_append (cards, GTK_WIDGET (card));
      g_object_unref (card);
    }
}
