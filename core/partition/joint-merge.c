/* SPDX-License-Identifier: MIT */
/* Merges equal calls of a joint graph before it is partitioned.
 *
 * Which calls are equal: partition/SPEC.md §2.2.  Not merged are calls that draw random numbers or
 * have an effect, uninitialised memory, and values that share memory with an output, because the
 * caller may write there.  PyTorch's list of random operators is incomplete, so that
 * x·randn_like(x) + randn_like(x) uses one sample twice; ours asks the operator. */

#include <math.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "partition/joint-private.h"
#include "passes/adj-repeats.h"

typedef struct
{
  const Joint *joint;
  const guint8 *returned; /* by owner: whether its memory is returned to the caller */
  const guint8 *needed;   /* (nullable): backward needs it; only nodes that agree are merged */
  gboolean compat;
} Merge;

/* (transfer full) */
static guint8 *
find_returned (const Joint *joint)
{
  guint8 *returned = g_new0 (guint8, joint->n);

  for (guint i = 0; i < joint->n_outputs; i++)
    {
      guint node = joint_output (joint, i);

      if (node != NOBODY && joint->has_memory[node])
        returned[joint->owner[node]] = TRUE;
    }
  return returned;
}

/* (transfer full): by node, whether an output of backward depends on it. */
static guint8 *
find_needed (const Joint *joint)
{
  guint8 *needed = g_new0 (guint8, joint->n);

  for (guint i = joint->n_forward_outputs; i < joint->n_outputs; i++)
    {
      guint node = joint_output (joint, i);

      if (node != NOBODY)
        needed[node] = TRUE;
    }
  for (guint i = joint->n; i-- > 0;)
    {
      const AdjNode *node = adj_graph_get_node (joint->graph, i);

      for (guint k = 0; needed[i] && k < node->n_inputs; k++)
        needed[node->inputs[k].index] = TRUE;
    }
  return needed;
}

static gboolean
may_merge (const Merge *merge, const AdjGraph *graph, guint i)
{
  const Joint *joint = merge->joint;
  guint traits = joint->traits[i];

  if (joint->gone[i] || joint->kind[i] != NODE_CALL || joint_stays_backward (joint, i) ||
      adj_graph_get_node (graph, i)->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return FALSE;
  if ((traits & (OP_EFFECT | OP_EMPTY | OP_DRAWS)) != 0)
    return FALSE;
  if (!merge->compat && ((traits & OP_SEEDED) != 0 || joint->draws[i]))
    return FALSE;
  return !joint->has_memory[i] || !merge->returned[joint->owner[i]];
}

static gboolean
is_nan (const AdjValue *value)
{
  gboolean found = value->kind == ADJ_VALUE_FLOAT && isnan (value->number);

  for (guint i = 0; adj_value_is_container (value) && i < value->n && !found; i++)
    found = is_nan (&value->items[i]);
  return found;
}

static gint
merge_group (const AdjGraph *graph, guint i, gpointer data)
{
  const Merge *merge = data;

  if (!may_merge (merge, graph, i))
    return 0;
  /* PyTorch 2.6 never treats NaN arguments as equal. */
  if (merge->compat && merge->needed == NULL && is_nan (&adj_graph_get_node (graph, i)->args))
    return 0;
  return merge->needed != NULL && merge->needed[i] ? 2 : 1;
}

void
joint_merge_equal (Joint *joint, const AdjPartitionOptions *options)
{
  g_autofree guint8 *returned = find_returned (joint);
  g_autofree guint8 *needed = options->merge_by_need ? find_needed (joint) : NULL;
  Merge merge = { joint, returned, needed, options->compat };
  g_autofree guint32 *first = options->compat
                                  ? adj_graph_find_torch_repeats (joint->graph, merge_group, &merge)
                                  : adj_graph_find_repeats (joint->graph, merge_group, &merge);

  memcpy (joint->rep, first, sizeof (guint32) * joint->n);
  for (guint i = 0; i < joint->n; i++)
    if (first[i] != i)
      joint->gone[i] = TRUE;
}
