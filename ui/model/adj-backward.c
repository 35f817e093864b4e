/* SPDX-License-Identifier: MIT */
/* Steps of a captured backward: their order before and after reordering, the moved steps, and
 * the reasons for the capture. */

#include "model/adj-backward.h"

#include <glib/gi18n.h>
#include <string.h>

#include "analysis/adj-lifetimes.h"
#include "analysis/adj-node-bytes.h"
#include "ir/adj-graph.h"
#include "report/adj-properties.h"

static const AdjNode *
get_node (const AdjCaptured *captured, guint index)
{
  return adj_graph_get_node (adj_captured_get_graph (captured), index);
}

static guint
count_nodes (const AdjCaptured *captured)
{
  return adj_graph_get_n_nodes (adj_captured_get_graph (captured));
}

/* -- orders -- */

static gboolean
is_own_step (AdjCapturedKind kind)
{
  return kind == ADJ_CAPTURED_HOOK || kind == ADJ_CAPTURED_BACKWARD ||
         kind == ADJ_CAPTURED_ACCUMULATE || kind == ADJ_CAPTURED_CALLBACKS;
}

/* The identity of a step in any order of the nodes: the name of a hook or an accumulation, the
 * number of an autograd node. (transfer full) (nullable): %NULL: node @index belongs to no step */
static char *
key_of_step (const AdjCaptured *captured, guint index)
{
  const AdjCapturedNode *node = adj_captured_get_node (captured, index);
  const AdjNode *call = get_node (captured, index);

  if (is_own_step (node->kind))
    return g_strdup (call->name);
  /* Nodes that only check shapes are removed when nodes are reordered. */
  if (node->kind != ADJ_CAPTURED_OTHER || node->call == ADJ_CAPTURED_NONE ||
      call->opcode == ADJ_OPCODE_OUTPUT)
    return NULL;
  return g_strdup_printf ("#%u", node->call);
}

static char *
title_of_step (const AdjCaptured *captured, guint index)
{
  const AdjCapturedNode *node = adj_captured_get_node (captured, index);
  char *title = is_own_step (node->kind) ? adj_captured_name_node (captured, index) : NULL;

  if (title != NULL)
    return title;
  return node->call != ADJ_CAPTURED_NONE ? adj_captured_name_call (captured, node->call)
                                         : g_strdup (get_node (captured, index)->name);
}

static AdjRole
role_of_step (AdjCapturedKind kind)
{
  return kind == ADJ_CAPTURED_HOOK         ? ADJ_ROLE_HOOK
         : kind == ADJ_CAPTURED_BACKWARD   ? ADJ_ROLE_CUSTOM_BACKWARD
         : kind == ADJ_CAPTURED_ACCUMULATE ? ADJ_ROLE_ACCUMULATE
         : kind == ADJ_CAPTURED_CALLBACKS  ? ADJ_ROLE_CALLBACKS
                                           : ADJ_ROLE_NONE;
}

/* A step: its key, the position of its call in the order in which autograd visited the nodes,
 * and its first node. */
typedef struct
{
  char *key;
  guint32 call;
  guint32 node;
} Step;

static void
step_clear (gpointer data)
{
  g_free (((Step *) data)->key);
}

static gint
by_call (gconstpointer a, gconstpointer b)
{
  const Step *x = a, *y = b;

  if (x->call != y->call)
    return x->call < y->call ? -1 : 1;
  return x->node < y->node ? -1 : x->node > y->node;
}

/* (transfer full): of Step */
static GArray *
list_steps (const AdjCaptured *captured)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GArray *steps = g_array_new (FALSE, FALSE, sizeof (Step));

  g_array_set_clear_func (steps, step_clear);
  for (guint i = 0; i < count_nodes (captured); i++)
    {
      Step step = { key_of_step (captured, i), adj_captured_get_node (captured, i)->call, i };

      if (step.key == NULL || g_hash_table_contains (seen, step.key))
        {
          g_free (step.key);
          continue;
        }
      g_hash_table_add (seen, step.key);
      g_array_append_val (steps, step);
    }
  return steps;
}

/* (transfer full): key → position */
static GHashTable *
number_steps (const GArray *steps)
{
  GHashTable *places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < steps->len; i++)
    g_hash_table_insert (places, g_strdup (g_array_index (steps, Step, i).key),
                         GUINT_TO_POINTER (i));
  return places;
}

static gint
by_before (gconstpointer a, gconstpointer b, gpointer data)
{
  const GArray *steps = data;
  guint x = g_array_index (steps, AdjBackwardStep, *(const guint *) a).before;
  guint y = g_array_index (steps, AdjBackwardStep, *(const guint *) b).before;

  return x < y ? -1 : x > y;
}

guint *
adj_backward_list_before (const AdjBackward *backward)
{
  guint *order = g_new (guint, backward->steps->len + 1);

  for (guint i = 0; i < backward->steps->len; i++)
    order[i] = i;
  g_qsort_with_data (order, (gint) backward->steps->len, sizeof (guint), by_before,
                     backward->steps);
  return order;
}

/* Marks all steps except the longest sequence that both orders have in common. */
static void
find_moved (AdjBackward *self)
{
  guint n = self->steps->len, best = G_MAXUINT;
  g_autofree guint *tails = g_new (guint, n + 1), *previous = g_new (guint, n + 1);
  guint length = 0;

  for (guint i = 0; i < n; i++)
    {
      AdjBackwardStep *step = &g_array_index (self->steps, AdjBackwardStep, i);
      guint low = 0, high = length;

      while (low < high)
        {
          guint middle = (low + high) / 2;

          if (g_array_index (self->steps, AdjBackwardStep, tails[middle]).before < step->before)
            low = middle + 1;
          else
            high = middle;
        }
      previous[i] = low > 0 ? tails[low - 1] : G_MAXUINT;
      tails[low] = i;
      length = MAX (length, low + 1);
      step->moved = TRUE;
    }
  if (length > 0)
    best = tails[length - 1];
  for (; best != G_MAXUINT; best = previous[best])
    g_array_index (self->steps, AdjBackwardStep, best).moved = FALSE;
  self->n_moved = n - length;
}

static void
find_steps (AdjBackward *self, AdjCaptured *unordered)
{
  g_autoptr (GArray) now = list_steps (self->captured);
  g_autoptr (GArray) other = list_steps (unordered != NULL ? unordered : self->captured);
  g_autoptr (GHashTable) places = NULL;

  if (unordered == NULL)
    g_array_sort (other, by_call);
  places = number_steps (other);
  for (guint i = 0; i < now->len; i++)
    {
      const Step *step = &g_array_index (now, Step, i);
      AdjCapturedKind kind = adj_captured_get_node (self->captured, step->node)->kind;
      AdjBackwardStep out = { .node = { step->node }, .role = role_of_step (kind) };
      gpointer before;

      if (!g_hash_table_lookup_extended (places, step->key, NULL, &before))
        continue;
      out.title = title_of_step (self->captured, step->node);
      out.before = GPOINTER_TO_UINT (before);
      g_array_append_val (self->steps, out);
    }
  find_moved (self);
}

/* (transfer full) (nullable): the same backward before, or after, its nodes were reordered. */
static AdjCaptured *
find_unordered (AdjBackward *self, AdjBundle *bundle)
{
  const char *wanted = "compiled_autograd_pre_reordering";
  const AdjBundleGraph *entry =
      bundle != NULL ? adj_bundle_find_entry (bundle, adj_captured_get_graph (self->captured))
                     : NULL;
  const AdjRegion *region = entry != NULL ? adj_bundle_find_region (bundle, entry) : NULL;

  if (region == NULL)
    return NULL;
  self->is_before = g_str_equal (entry->role, wanted);
  if (self->is_before)
    wanted = "compiled_autograd";
  for (guint i = 0; i < region->n_graphs; i++)
    if (g_str_equal (region->graphs[i]->role, wanted))
      return adj_captured_new (region->graphs[i]->graph, bundle);
  return NULL;
}

/* -- sizes -- */

/* (nullable): the recorded call of the previous captured graph of the same rank. */
static const AdjRecordedCall *
find_earlier (const AdjBackward *self, AdjBundle *bundle)
{
  AdjGraph *own = adj_captured_get_graph (self->captured);
  const AdjBundleGraph *entry = bundle != NULL ? adj_bundle_find_entry (bundle, own) : NULL;
  const AdjRecordedCall *earlier = NULL;

  if (entry == NULL)
    return NULL;
  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *other = adj_bundle_get_graph (bundle, i);

      if (other == entry)
        return earlier;
      if (g_str_equal (other->role, "compiled_autograd") && other->rank == entry->rank)
        earlier = adj_bundle_find_call (bundle, other, 0);
    }
  return NULL;
}

/* (nullable): the recorded value of item @item of `inputs`. */
static AdjTensorData *
find_recorded (const AdjRecordedCall *call, guint item)
{
  const AdjValue *inputs = call != NULL && call->n_inputs > 0 ? &call->inputs[0] : NULL;

  if (inputs == NULL || !adj_value_is_container (inputs) || item >= inputs->n ||
      inputs->items[item].kind != ADJ_VALUE_DATA)
    return NULL;
  return inputs->items[item].data;
}

/* If all dimensions of the inputs of @call with the value @now that changed had the same former
 * value, that is the first value of the size. */
static gboolean
find_first_value (const AdjBackward *self,
                  const AdjRecordedCall *earlier,
                  guint32 call,
                  gint64 now,
                  gint64 *first)
{
  const AdjRecordedCall *recorded = adj_captured_get_recorded (self->captured);
  gboolean found = FALSE;

  for (guint i = 0; i < adj_captured_get_n_inputs (self->captured); i++)
    {
      AdjTensorData *is = find_recorded (recorded, i), *was = find_recorded (earlier, i);
      const AdjShape *a, *b;

      if (adj_captured_get_input (self->captured, i)->call != call || is == NULL || was == NULL)
        continue;
      a = &adj_tensor_data_get_meta (is)->shape;
      b = &adj_tensor_data_get_meta (was)->shape;
      for (guint d = 0; d < MIN (a->rank, b->rank); d++)
        {
          if (a->size[d].word != now || b->size[d].word == now)
            continue;
          if (found && *first != b->size[d].word)
            return FALSE;
          *first = b->size[d].word;
          found = TRUE;
        }
    }
  return found;
}

static gboolean
find_value (const AdjBackward *self, const AdjNode *node, gint64 *value)
{
  AdjSize size;

  if (adj_value_get_size (&node->val, &size))
    return adj_size_get_hint (adj_graph_get_symbols (adj_captured_get_graph (self->captured)), size,
                              value);
  return FALSE;
}

static char *
name_symbol (const AdjBackward *self, const AdjNode *node)
{
  GString *text = g_string_new (NULL);
  AdjSize size;

  if (adj_value_get_size (&node->val, &size))
    adj_size_print (adj_graph_get_symbols (adj_captured_get_graph (self->captured)), size, text);
  else
    g_string_append (text, node->name);
  return g_string_free (text, FALSE);
}

static void
add_size (AdjBackward *self,
          const AdjRecordedCall *earlier,
          guint32 call,
          const gint64 *now,
          AdjBackwardSize size)
{
  gint64 first = 0;

  if (call != ADJ_CAPTURED_NONE)
    size.owner = adj_captured_name_call (self->captured, call);
  if (now != NULL)
    size.now = g_strdup_printf ("%" G_GINT64_FORMAT, *now);
  if (now != NULL && find_first_value (self, earlier, call, *now, &first))
    size.first = g_strdup_printf ("%" G_GINT64_FORMAT, first);
  g_array_append_val (self->sizes, size);
}

static gboolean
has_symbol (const AdjBackward *self, const char *symbol)
{
  for (guint i = 0; i < self->sizes->len; i++)
    if (g_str_equal (g_array_index (self->sizes, AdjBackwardSize, i).symbol, symbol))
      return TRUE;
  return FALSE;
}

/* Adds symbols of @input that are not items of `sizes`. */
static void
find_sizes_of_input (AdjBackward *self,
                     const AdjRecordedCall *earlier,
                     const AdjCapturedInput *input)
{
  const AdjGraph *graph = adj_captured_get_graph (self->captured);
  const AdjSymbols *symbols = adj_graph_get_symbols (graph);
  const AdjNode *node = adj_graph_get_node (graph, input->node.index);

  if (node->val.kind != ADJ_VALUE_META)
    return;
  for (guint d = 0; d < node->val.meta->shape.rank; d++)
    {
      g_autoptr (GString) text = g_string_new (NULL);
      const AdjSymbol *symbol;

      adj_size_print (symbols, node->val.meta->shape.size[d], text);
      symbol = adj_symbols_find (symbols, text->str);
      if (symbol != NULL && !has_symbol (self, symbol->name))
        add_size (self, earlier, input->call,
                  symbol->hint != ADJ_SYMBOL_UNBACKED ? &symbol->hint : NULL,
                  (AdjBackwardSize){ .node = input->node, .symbol = g_strdup (symbol->name) });
    }
}

static void
find_sizes (AdjBackward *self, AdjBundle *bundle)
{
  const AdjRecordedCall *earlier = find_earlier (self, bundle);

  for (guint i = 0; i < count_nodes (self->captured); i++)
    {
      const AdjCapturedNode *node = adj_captured_get_node (self->captured, i);
      gint64 now;

      if (node->kind == ADJ_CAPTURED_SIZE)
        add_size (self, earlier, node->call,
                  find_value (self, get_node (self->captured, i), &now) ? &now : NULL,
                  (AdjBackwardSize){ { i }, name_symbol (self, get_node (self->captured, i)) });
    }
  for (guint i = 0; i < adj_captured_get_n_inputs (self->captured); i++)
    find_sizes_of_input (self, earlier, adj_captured_get_input (self->captured, i));
}

/* -- inputs -- */

static gint
by_last (gconstpointer a, gconstpointer b)
{
  const AdjBackwardLife *x = a, *y = b;

  if (x->last.index != y->last.index)
    return x->last.index < y->last.index ? -1 : 1;
  return x->node.index < y->node.index ? -1 : x->node.index > y->node.index;
}

static AdjNodeId
find_last_use (const AdjBackward *self, const AdjCapturedInput *input)
{
  if (input->from == ADJ_FROM_GRAD)
    for (guint i = self->first; i < self->n; i++)
      if (adj_captured_get_node (self->captured, i)->kind == ADJ_CAPTURED_ACCUMULATE &&
          adj_captured_get_node (self->captured, i)->leaf == input->of)
        return (AdjNodeId){ i };
  return adj_graph_get_last_use (adj_captured_get_graph (self->captured), input->node.index);
}

/* An input is alive before the first step and until its last reader. */
static void
hold (const AdjBackward *self, const AdjBackwardLife *life, GArray *ranges)
{
  AdjLiveRange range = { self->first, MIN (life->last.index, self->n - 1), (guint64) life->bytes };

  if (self->first < self->n && life->last.index >= self->first)
    g_array_append_val (ranges, range);
}

static void
find_lives (AdjBackward *self)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (AdjLiveRange));

  for (guint i = 0; i < adj_captured_get_n_inputs (self->captured); i++)
    {
      const AdjCapturedInput *input = adj_captured_get_input (self->captured, i);
      gint64 bytes =
          adj_graph_get_node_bytes (adj_captured_get_graph (self->captured), input->node.index);
      AdjBackwardLife life = { .node = input->node, .from = input->from, .bytes = MAX (bytes, 0) };

      life.last = find_last_use (self, input);
      /* Leaves and their gradients are held by the program as well. */
      life.stolen = input->from == ADJ_FROM_SAVED || input->from == ADJ_FROM_GRADIENT;
      g_array_append_val (self->lives, life);
      if (!life.stolen)
        continue;
      self->n_unknown += bytes < 0;
      hold (self, &life, ranges);
    }
  g_array_sort (self->lives, by_last);
  self->held = adj_live_ranges_add_up ((const AdjLiveRange *) (gpointer) ranges->data, ranges->len,
                                       count_nodes (self->captured), &self->peak);
  self->peak = MAX (self->peak, self->first);
}

/* Finds the nodes from the first that is not a list item up to the output. */
static void
find_range (AdjBackward *self)
{
  self->n = adj_graph_get_output (adj_captured_get_graph (self->captured)).index;
  while (self->first < self->n)
    {
      AdjCapturedKind kind = adj_captured_get_node (self->captured, self->first)->kind;

      if (kind != ADJ_CAPTURED_LIST && kind != ADJ_CAPTURED_INPUT && kind != ADJ_CAPTURED_SIZE)
        return;
      self->first++;
    }
}

static void
step_free (gpointer data)
{
  g_free (((AdjBackwardStep *) data)->title);
}

static void
size_free (gpointer data)
{
  AdjBackwardSize *size = data;

  g_free (size->symbol);
  g_free (size->first);
  g_free (size->now);
  g_free (size->owner);
}

AdjBackward *
adj_backward_new (AdjCaptured *captured, AdjBundle *bundle)
{
  AdjBackward *self = g_new0 (AdjBackward, 1);
  g_autoptr (AdjCaptured) unordered = NULL;

  self->captured = adj_captured_ref (captured);
  self->steps = g_array_new (FALSE, FALSE, sizeof (AdjBackwardStep));
  self->sizes = g_array_new (FALSE, FALSE, sizeof (AdjBackwardSize));
  self->lives = g_array_new (FALSE, FALSE, sizeof (AdjBackwardLife));
  g_array_set_clear_func (self->steps, step_free);
  g_array_set_clear_func (self->sizes, size_free);
  find_range (self);
  unordered = find_unordered (self, bundle);
  self->has_unordered = unordered != NULL;
  find_steps (self, unordered);
  find_sizes (self, bundle);
  find_lives (self);
  return self;
}

void
adj_backward_free (AdjBackward *backward)
{
  g_array_unref (backward->steps);
  g_array_unref (backward->sizes);
  g_array_unref (backward->lives);
  g_free (backward->held);
  adj_captured_unref (backward->captured);
  g_free (backward);
}

/* -- reasons -- */

/* (transfer full) (nullable): "MulBackward0 (NodeCall 2)" within @text, from @after to the
 * closing bracket. */
static char *
cut_call (const char *text, const char *after)
{
  const char *start = strstr (text, after);
  const char *end = start != NULL ? strchr (start, ')') : NULL;
  const char *colon;
  g_autofree char *call = NULL;

  if (end == NULL)
    return NULL;
  start += strlen (after);
  call = g_strndup (start, (gsize) (end + 1 - start));
  colon = strrchr (call, ':');
  return g_strdup (colon != NULL ? colon + 1 : call);
}

char *
adj_backward_explain (const AdjBackward *backward, guint reason)
{
  const char *text = adj_captured_get_reason (backward->captured, reason);
  g_autofree char *fresh = cut_call (text, "new autograd node: ");

  if (fresh != NULL && strstr (text, "previous key sizes=[]") != NULL)
    return g_strdup_printf (_ ("No backward came to %s here before"), fresh);
  if (fresh != NULL && strstr (text, "key size 32, previous key sizes=[21]") != NULL)
    return g_strdup_printf (_ ("%s: its leaf has a gradient now, and had none before"), fresh);
  if (fresh != NULL && strstr (text, "key size 21, previous key sizes=[32]") != NULL)
    return g_strdup_printf (_ ("%s: its leaf has no gradient now, and had one before"), fresh);
  if (fresh != NULL)
    return g_strdup_printf (_ ("%s is not as any before it: its hooks, flags or tensors differ"),
                            fresh);
  return g_strdup (text);
}

gboolean
adj_backward_reason_is_size (const AdjBackward *backward, guint reason)
{
  return strstr (adj_captured_get_reason (backward->captured, reason), "marking size idx ") != NULL;
}
