/* SPDX-License-Identifier: MIT */
/* What the nodes of a captured backward are: the lists of inputs by kind, calls of hooks,
 * recompile reasons. */

#include "layout/adj-captured.h"

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"
#include "layout/captured-private.h"

#define MAX_CALLS (1u << 20)

static guint32
get_number (const AdjValue *dict, const char *key)
{
  const AdjValue *value = adj_value_find_member (dict, key);

  return value != NULL && value->kind == ADJ_VALUE_INT && value->integer >= 0 &&
                 value->integer < ADJ_CAPTURED_NONE
             ? (guint32) value->integer
             : ADJ_CAPTURED_NONE;
}

static const char *
get_text (const AdjValue *dict, const char *key)
{
  const AdjValue *value = adj_value_find_member (dict, key);

  return value != NULL && value->kind == ADJ_VALUE_STRING ? value->text : NULL;
}

static const AdjNode *
get_node (const AdjCaptured *self, guint index)
{
  return adj_graph_get_node (self->graph, index);
}

/* -- what each node is -- */

static const char *const lists[] = { "inputs", "sizes", "scalars", "hooks", "packed_data" };

/* Whether the four lists are the graph's only inputs. */
static gboolean
is_captured (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_inputs (graph), n_needed = 0;

  for (guint i = 0; i < n; i++)
    {
      const char *name = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->name;
      guint known = 0;

      while (known < G_N_ELEMENTS (lists) && !g_str_equal (name, lists[known]))
        known++;
      if (known == G_N_ELEMENTS (lists))
        return FALSE;
      n_needed += g_str_equal (name, "inputs") || g_str_equal (name, "hooks");
    }
  return n_needed == 2;
}

/* The list that @node takes an item out of. */
static const char *
find_list (const AdjCaptured *self, const AdjNode *node, guint32 *item)
{
  const AdjValue *args = node->args.items;
  const AdjNode *list;

  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION || !g_str_has_suffix (node->target, "getitem") ||
      node->args.n != 2 || args[0].kind != ADJ_VALUE_NODE || args[1].kind != ADJ_VALUE_INT ||
      args[1].integer < 0 || args[1].integer >= ADJ_CAPTURED_NONE)
    return NULL;
  list = get_node (self, args[0].node.index);
  *item = (guint32) args[1].integer;
  return list->opcode == ADJ_OPCODE_PLACEHOLDER ? list->name : NULL;
}

static AdjCapturedKind
kind_of_item (const char *list)
{
  return g_str_equal (list, "inputs")  ? ADJ_CAPTURED_INPUT
         : g_str_equal (list, "hooks") ? ADJ_CAPTURED_HOOK_ITEM
                                       : ADJ_CAPTURED_SIZE;
}

static AdjCapturedKind
kind_of_call (const AdjNode *node)
{
  static const struct
  {
    const char *suffix;
    AdjCapturedKind kind;
  } calls[] = {
    { "call_hook", ADJ_CAPTURED_HOOK },
    { "call_backward", ADJ_CAPTURED_BACKWARD },
    { "accumulate_grad_.default", ADJ_CAPTURED_ACCUMULATE },
    { "call_accumulate_grad", ADJ_CAPTURED_ACCUMULATE },
    { "_exec_final_callbacks_stub", ADJ_CAPTURED_CALLBACKS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    if (node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
        g_str_has_suffix (node->target, calls[i].suffix))
      return calls[i].kind;
  return ADJ_CAPTURED_OTHER;
}

/* The item of list @kind that argument @index of @node is. */
static guint32
item_of_argument (const AdjCaptured *self, const AdjNode *node, guint index, AdjCapturedKind kind)
{
  const AdjValue *arg = index < node->args.n ? &node->args.items[index] : NULL;

  if (arg == NULL || arg->kind != ADJ_VALUE_NODE || self->nodes[arg->node.index].kind != kind)
    return ADJ_CAPTURED_NONE;
  return self->nodes[arg->node.index].item;
}

/* Which argument of the accumulation @node is the gradient that is added: accumulate_grad_ (leaf,
 * gradient); since 2.15 call_accumulate_grad (leaf, its gradient before, gradient, whether hooks
 * follow). */
static guint
place_of_added (const AdjNode *node)
{
  return node->args.n == 4 ? 2 : 1;
}

static void
find_accumulation (const AdjCaptured *self, const AdjNode *node, AdjCapturedNode *out)
{
  const guint place = place_of_added (node);

  out->leaf = item_of_argument (self, node, 0, ADJ_CAPTURED_INPUT);
  if (node->args.n > place && node->args.items[place].kind == ADJ_VALUE_NODE)
    out->added = node->args.items[place].node.index;
}

/* "MulBackward0 (NodeCall 3)": what compiled autograd writes into stack traces. */
static guint32
parse_origin (const AdjNode *node, char **name)
{
  const AdjNodeMeta *meta = &node->meta;
  const char *code = meta->n_frames > 0 ? meta->frames[meta->n_frames - 1].code : "";
  const char *open = strstr (code, " (NodeCall ");
  char *end = NULL;
  guint64 number;

  if (open == NULL)
    return ADJ_CAPTURED_NONE;
  number = g_ascii_strtoull (open + strlen (" (NodeCall "), &end, 10);
  if (*end != ')' || number >= MAX_CALLS)
    return ADJ_CAPTURED_NONE;
  *name = g_strndup (code, (gsize) (open - code));
  return (guint32) number;
}

static void
find_kinds (AdjCaptured *self)
{
  guint n = adj_graph_get_n_nodes (self->graph);

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = get_node (self, i);
      AdjCapturedNode *out = &self->nodes[i];
      const char *list;

      *out = (AdjCapturedNode){ ADJ_CAPTURED_OTHER, ADJ_CAPTURED_NONE, ADJ_CAPTURED_NONE,
                                ADJ_CAPTURED_NONE,  ADJ_CAPTURED_NONE, ADJ_CAPTURED_NONE };
      list = find_list (self, node, &out->item);
      if (node->opcode == ADJ_OPCODE_PLACEHOLDER)
        {
          out->kind = ADJ_CAPTURED_LIST;
          out->item = node->n_users;
        }
      else
        out->kind = list != NULL ? kind_of_item (list) : kind_of_call (node);
      if (out->kind == ADJ_CAPTURED_HOOK || out->kind == ADJ_CAPTURED_BACKWARD)
        out->item = item_of_argument (self, node, 0, ADJ_CAPTURED_HOOK_ITEM);
      else if (out->kind == ADJ_CAPTURED_ACCUMULATE)
        find_accumulation (self, node, out);
    }
}

/* -- which node of autograd -- */

static AdjCapturedCall *
get_call (AdjCaptured *self, guint32 number)
{
  while (self->calls->len <= number)
    {
      AdjCapturedCall call = { .first = ADJ_NO_NODE };

      g_array_append_val (self->calls, call);
    }
  return &g_array_index (self->calls, AdjCapturedCall, number);
}

static void
name_calls (AdjCaptured *self)
{
  const AdjValue *names = adj_value_find_member (self->capture, "nodes");

  for (guint i = 0; names != NULL && i < MIN (names->n, MAX_CALLS); i++)
    get_call (self, i)->name = names->items[i].text;
}

/* Assigns items of lists to the call that reads them; the origin of the item itself names another
 * node. */
static void
find_calls (AdjCaptured *self)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (self->graph); i++)
    {
      AdjCapturedNode *node = &self->nodes[i];
      g_autofree char *name = NULL;
      guint32 number = parse_origin (get_node (self, i), &name);
      gboolean item = node->kind == ADJ_CAPTURED_INPUT || node->kind == ADJ_CAPTURED_SIZE ||
                      node->kind == ADJ_CAPTURED_HOOK_ITEM;
      AdjCapturedCall *call;

      /* The call of the queued callbacks still has the origin of the node before it. */
      if (number == ADJ_CAPTURED_NONE || node->kind == ADJ_CAPTURED_CALLBACKS)
        continue;
      node->call = number;
      call = get_call (self, number);
      if (item)
        continue;
      if (call->name == NULL)
        call->name = adj_arena_intern (self->texts, name);
      if (!adj_node_id_is_valid (call->first))
        call->first = (AdjNodeId){ i };
      call->n_nodes++;
      call->n_hooks += node->kind == ADJ_CAPTURED_HOOK;
    }
}

/* Puts each hook after an accumulation to the last accumulation before it into the same leaf. */
static void
find_after (AdjCaptured *self)
{
  g_autoptr (GHashTable) last = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (self->graph); i++)
    {
      AdjCapturedNode *node = &self->nodes[i];
      gpointer before;

      if (node->kind == ADJ_CAPTURED_ACCUMULATE && node->leaf != ADJ_CAPTURED_NONE)
        g_hash_table_insert (last, GUINT_TO_POINTER (node->leaf), GUINT_TO_POINTER (i));
      if (node->kind != ADJ_CAPTURED_HOOK || get_node (self, i)->args.n != 2)
        continue;
      node->leaf = item_of_argument (self, get_node (self, i), 1, ADJ_CAPTURED_INPUT);
      if (g_hash_table_lookup_extended (last, GUINT_TO_POINTER (node->leaf), NULL, &before))
        node->after = GPOINTER_TO_UINT (before);
      else
        node->leaf = ADJ_CAPTURED_NONE;
    }
}

/* -- inputs -- */

static void
read_input (const AdjCaptured *self, const AdjValue *entry, AdjCapturedInput *out)
{
  static const char *const names[] = { "gradient", "saved", "leaf", "grad" };
  const char *from = get_text (entry, "from");

  for (guint i = 0; from != NULL && i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (from, names[i]))
      {
        out->from = (AdjCapturedFrom) i;
        out->recorded = TRUE;
      }
  if (!out->recorded)
    return;
  out->call = get_number (entry, "node");
  out->of = get_number (entry, "of");
  out->name = get_text (entry, "name");
  if (out->call >= self->calls->len)
    out->call = ADJ_CAPTURED_NONE;
}

/* Accumulations, by the items that they take. */
typedef struct
{
  GHashTable *leaves;       /* items */
  GHashTable *leaf_of_call; /* call → item */
  GHashTable *leaf_of_grad; /* item → item */
} Accumulations;

static void
find_accumulations (const AdjCaptured *self, Accumulations *found)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (self->graph); i++)
    {
      const AdjNode *call = get_node (self, i);
      gpointer leaf = GUINT_TO_POINTER (self->nodes[i].leaf);
      guint32 grad;

      if (self->nodes[i].kind != ADJ_CAPTURED_ACCUMULATE ||
          self->nodes[i].leaf == ADJ_CAPTURED_NONE)
        continue;
      g_hash_table_add (found->leaves, leaf);
      g_hash_table_insert (found->leaf_of_call, GUINT_TO_POINTER (self->nodes[i].call), leaf);
      grad = place_of_added (call) == 2 ? item_of_argument (self, call, 1, ADJ_CAPTURED_INPUT)
                                        : ADJ_CAPTURED_NONE;
      if (grad != ADJ_CAPTURED_NONE)
        g_hash_table_insert (found->leaf_of_grad, GUINT_TO_POINTER (grad), leaf);
    }
}

/* The call that input @index belongs to: the one that it names; where it names none (since 2.7),
 * that of its first reader. */
static guint32
get_call_of_input (const AdjCaptured *self, guint index)
{
  const AdjNode *node = get_node (self, index);

  return self->nodes[index].call != ADJ_CAPTURED_NONE || node->n_users == 0
             ? self->nodes[index].call
             : self->nodes[node->users[0].index].call;
}

/* Infers the origin of an input from its readers.  The first input is the given gradient, since the
 * root is visited first.  The gradient that a leaf has before is read by no node in 2.6. */
static void
conclude_input (const AdjCaptured *self,
                AdjCapturedInput *out,
                const Accumulations *accumulations,
                guint32 item)
{
  gpointer key = GUINT_TO_POINTER (item), leaf = NULL;
  gboolean grad;

  out->call = get_call_of_input (self, out->node.index);
  out->of = ADJ_CAPTURED_NONE;
  grad = g_hash_table_lookup_extended (accumulations->leaf_of_grad, key, NULL, &leaf) ||
         (get_node (self, out->node.index)->n_users == 0 &&
          g_hash_table_lookup_extended (accumulations->leaf_of_call, GUINT_TO_POINTER (out->call),
                                        NULL, &leaf));
  if (g_hash_table_contains (accumulations->leaves, key))
    out->from = ADJ_FROM_LEAF;
  else if (grad)
    {
      out->from = ADJ_FROM_GRAD;
      out->of = GPOINTER_TO_UINT (leaf);
    }
  else
    out->from = out->call == 0 || item == 0 ? ADJ_FROM_GRADIENT : ADJ_FROM_SAVED;
}

static void
find_inputs (AdjCaptured *self)
{
  const AdjValue *entries =
      self->recorded != NULL ? adj_value_find_member (self->recorded->backward, "inputs") : NULL;
  g_autoptr (GHashTable) leaves = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) leaf_of_call = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) leaf_of_grad = g_hash_table_new (NULL, NULL);
  Accumulations accumulations = { leaves, leaf_of_call, leaf_of_grad };
  guint n = adj_graph_get_n_nodes (self->graph);

  find_accumulations (self, &accumulations);
  for (guint i = 0; i < n; i++)
    {
      AdjCapturedInput input = { .node = { i } };
      guint32 item = self->nodes[i].item;

      /* At most as many as there are nodes, whatever index an item names. */
      if (self->nodes[i].kind != ADJ_CAPTURED_INPUT || item >= n)
        continue;
      if (entries != NULL && item < entries->n)
        read_input (self, &entries->items[item], &input);
      if (!input.recorded)
        conclude_input (self, &input, &accumulations, item);
      if (item >= self->inputs->len)
        g_array_set_size (self->inputs, item + 1);
      g_array_index (self->inputs, AdjCapturedInput, item) = input;
    }
}

static void
find_record (AdjCaptured *self)
{
  const AdjBundleGraph *entry = adj_bundle_find_entry (self->bundle, self->graph);
  const AdjRegion *region = entry != NULL ? adj_bundle_find_region (self->bundle, entry) : NULL;

  if (region == NULL)
    return;
  self->capture = region->capture;
  self->recorded = adj_bundle_find_call (self->bundle, entry, 0);
  /* The recording may be of the graph before its nodes were reordered, which has the same inputs.
   */
  for (guint i = 0; self->recorded == NULL && i < region->n_graphs; i++)
    if (g_str_equal (region->graphs[i]->role, "compiled_autograd"))
      self->recorded = adj_bundle_find_call (self->bundle, region->graphs[i], 0);
  if (self->recorded != NULL && self->recorded->backward == NULL)
    self->recorded = NULL;
}

AdjCaptured *
adj_captured_new (AdjGraph *graph, AdjBundle *bundle)
{
  AdjCaptured *self;

  g_return_val_if_fail (graph != NULL, NULL);
  if (!is_captured (graph))
    return NULL;
  self = g_new0 (AdjCaptured, 1);
  g_atomic_ref_count_init (&self->refs);
  self->graph = adj_graph_ref (graph);
  self->bundle = bundle != NULL ? adj_bundle_ref (bundle) : NULL;
  self->texts = adj_arena_new ();
  self->nodes = g_new0 (AdjCapturedNode, adj_graph_get_n_nodes (graph));
  self->inputs = g_array_new (FALSE, TRUE, sizeof (AdjCapturedInput));
  self->calls = g_array_new (FALSE, TRUE, sizeof (AdjCapturedCall));
  if (bundle != NULL)
    find_record (self);
  find_kinds (self);
  name_calls (self);
  find_calls (self);
  captured_adopt_inlined (self);
  find_after (self);
  find_inputs (self);
  return self;
}

AdjCaptured *
adj_captured_ref (AdjCaptured *captured)
{
  g_atomic_ref_count_inc (&captured->refs);
  return captured;
}

void
adj_captured_unref (AdjCaptured *captured)
{
  if (!g_atomic_ref_count_dec (&captured->refs))
    return;
  g_array_unref (captured->calls);
  g_array_unref (captured->inputs);
  g_free (captured->nodes);
  adj_arena_free (captured->texts);
  if (captured->bundle != NULL)
    adj_bundle_unref (captured->bundle);
  adj_graph_unref (captured->graph);
  g_free (captured);
}

AdjGraph *
adj_captured_get_graph (const AdjCaptured *captured)
{
  return captured->graph;
}

const AdjCapturedNode *
adj_captured_get_node (const AdjCaptured *captured, guint index)
{
  g_return_val_if_fail (index < adj_graph_get_n_nodes (captured->graph), NULL);
  return &captured->nodes[index];
}

guint
adj_captured_get_n_inputs (const AdjCaptured *captured)
{
  return captured->inputs->len;
}

const AdjCapturedInput *
adj_captured_get_input (const AdjCaptured *captured, guint index)
{
  g_return_val_if_fail (index < captured->inputs->len, NULL);
  return &g_array_index (captured->inputs, AdjCapturedInput, index);
}

guint
adj_captured_get_n_calls (const AdjCaptured *captured)
{
  return captured->calls->len;
}

const AdjCapturedCall *
adj_captured_get_call (const AdjCaptured *captured, guint index)
{
  g_return_val_if_fail (index < captured->calls->len, NULL);
  return &g_array_index (captured->calls, AdjCapturedCall, index);
}

guint
adj_captured_get_n_reasons (const AdjCaptured *captured)
{
  const AdjValue *reasons = adj_value_find_member (captured->capture, "reasons");

  return reasons != NULL ? reasons->n : 0;
}

const char *
adj_captured_get_reason (const AdjCaptured *captured, guint index)
{
  const AdjValue *reasons = adj_value_find_member (captured->capture, "reasons");

  g_return_val_if_fail (reasons != NULL && index < reasons->n, NULL);
  return reasons->items[index].text;
}

const AdjRecordedCall *
adj_captured_get_recorded (const AdjCaptured *captured)
{
  return captured->recorded;
}

const char *
adj_captured_get_text (const AdjCaptured *captured, const char *list, guint item, const char *key)
{
  const AdjValue *entries = captured->recorded != NULL
                                ? adj_value_find_member (captured->recorded->backward, list)
                                : NULL;

  return entries != NULL && item < entries->n ? get_text (&entries->items[item], key) : NULL;
}

const AdjValue *
adj_captured_get_result (const AdjCaptured *captured, guint node)
{
  const AdjValue *results = captured->recorded != NULL
                                ? adj_value_find_member (captured->recorded->backward, "results")
                                : NULL;

  return adj_value_find_member (results, get_node (captured, node)->name);
}
