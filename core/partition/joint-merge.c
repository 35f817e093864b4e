/* SPDX-License-Identifier: MIT */
/* Merges equal calls of a joint graph before it is partitioned.
 *
 * Which calls are one (partition/SPEC.md §2.2).  What may not be merged: calls that draw random
 * numbers or have an effect; memory that is not initialised; and what shares memory with an output,
 * because the caller may write there.  PyTorch's list of random operators is incomplete, so that
 * x·randn_like(x) + randn_like(x) uses one sample twice; ours asks the operator. */

#include <string.h>

#include "partition/joint-private.h"
#include "passes/adj-repeats.h"

typedef struct
{
  const Joint *joint;
  const guint8 *returned; /* by owner: whether the caller gets hold of its memory */
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

static gboolean
may_merge (const AdjGraph *graph, guint i, gpointer data)
{
  const Merge *merge = data;
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

void
joint_merge_equal (Joint *joint, gboolean compat)
{
  g_autofree guint8 *returned = find_returned (joint);
  Merge merge = { joint, returned, compat };
  g_autofree guint32 *first = compat
                                  ? adj_graph_find_torch_repeats (joint->graph, may_merge, &merge)
                                  : adj_graph_find_repeats (joint->graph, may_merge, &merge);

  memcpy (joint->rep, first, sizeof (guint32) * joint->n);
  for (guint i = 0; i < joint->n; i++)
    if (first[i] != i)
      joint->gone[i] = TRUE;
}
