/* SPDX-License-Identifier: MIT */

/* Finds nodes of backward that recompute forward nodes. */

#include <string.h>

#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "layout/node-roles-private.h"
#include "passes/adj-repeats.h"

/* Whether a call gives the same result each time; random ones are distinguished by their step. */
static gboolean
may_repeat (const AdjGraph *graph, guint index, gpointer data)
{
  const AdjNode *node = adj_graph_get_node (graph, index);

  return node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
         (node->op == NULL || (node->op->flags & ADJ_OP_RANDOM) == 0);
}

guint32 *
node_roles_find_repeats (const AdjGraph *graph)
{
  return adj_graph_find_same_calls (graph, may_repeat, NULL);
}

/* Whether two arguments are the same but for the nodes among them. */
static gboolean
is_like (const AdjValue *a, const AdjValue *b)
{
  if (a->kind != b->kind || a->kind == ADJ_VALUE_NODE)
    return a->kind == b->kind;
  if (!adj_value_is_container (a))
    return adj_value_equal (a, b);
  if (a->n != b->n)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    if (!is_like (&a->items[i], &b->items[i]))
      return FALSE;
  return TRUE;
}

/* Skips a clone: backward gets a clone of a value that forward writes to. */
static guint32
skip_clone (const AdjNodeRoles *self, guint32 index)
{
  const AdjNode *node = adj_graph_get_node (self->graph, index);

  return node_roles_packet_is (node->target, "clone") && node->n_inputs == 1
             ? self->entries[node->inputs[0].index].host
             : index;
}

/* Whether @again reads what @first reads, or copies of it. */
static gboolean
reads_the_same (const AdjNodeRoles *self, const AdjNode *first, const AdjNode *again)
{
  if (first->n_inputs != again->n_inputs || !is_like (&first->args, &again->args) ||
      !is_like (&first->kwargs, &again->kwargs))
    return FALSE;
  for (guint k = 0; k < first->n_inputs; k++)
    {
      guint32 a = self->entries[first->inputs[k].index].host;
      guint32 b = self->entries[again->inputs[k].index].host;

      if (a != b && self->entries[b].original != a && skip_clone (self, b) != a)
        return FALSE;
    }
  return TRUE;
}

/* Forward nodes by sequence number: the last node with each number, and per node the one before it
 * with the same. */
typedef struct
{
  GHashTable *last;
  guint32 *before; /* G_MAXUINT32: none */
} Steps;

static guint32
find_last (const Steps *steps, const AdjNode *node)
{
  gpointer found;

  return node->meta.seq_nr >= 0 &&
                 g_hash_table_lookup_extended (steps->last, &node->meta.seq_nr, NULL, &found)
             ? GPOINTER_TO_UINT (found)
             : G_MAXUINT32;
}

static void
add_to_step (Steps *steps, const AdjNode *node, guint32 index)
{
  if (node->meta.seq_nr < 0)
    return;
  steps->before[index] = find_last (steps, node);
  g_hash_table_insert (steps->last, (gpointer) &node->meta.seq_nr, GUINT_TO_POINTER (index));
}

/* The forward node that @index recomputes, or G_MAXUINT32: the same call with the same sequence
 * number; else a call with that number on the same values; without numbers, the same call. */
static guint32
find_original (const AdjNodeRoles *self, guint32 index, const Steps *steps, const guint32 *repeats)
{
  const AdjNode *node = adj_graph_get_node (self->graph, index);
  guint32 last = find_last (steps, node);

  for (guint32 i = last; i != G_MAXUINT32; i = steps->before[i])
    if (repeats[index] != index && repeats[i] == repeats[index])
      return i;
  for (guint32 i = last; i != G_MAXUINT32; i = steps->before[i])
    {
      const AdjNode *original = adj_graph_get_node (self->graph, i);

      if (strcmp (original->target, node->target) == 0 && reads_the_same (self, original, node))
        return i;
    }
  return repeats[index] != index && self->entries[repeats[index]].side == ADJ_SIDE_FORWARD
             ? repeats[index]
             : G_MAXUINT32;
}

/* Sets the originals of recomputed nodes. */
void
node_roles_find_copies (AdjNodeRoles *self, const guint32 *repeats)
{
  Steps steps = { g_hash_table_new (g_int64_hash, g_int64_equal), g_new (guint32, self->n) };

  for (guint32 i = 0; i < self->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);
      AdjNodeRole *entry = &self->entries[i];

      entry->original = G_MAXUINT32;
      if (!self->is_joint || node->opcode != ADJ_OPCODE_CALL_FUNCTION)
        continue;
      if (entry->side == ADJ_SIDE_FORWARD)
        add_to_step (&steps, node, i);
      else if (!adj_graph_depends_on_tangent (self->graph, i) && !node->meta.partitioner_tag)
        entry->original = find_original (self, i, &steps, repeats);
    }
  g_hash_table_unref (steps.last);
  g_free (steps.before);
}
