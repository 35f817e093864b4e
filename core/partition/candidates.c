/* SPDX-License-Identifier: MIT */
/* The candidates of optimal partitioning: nodes that may be saved or recomputed. */

#include "partition/partitioners-private.h"

static gboolean
may_save (const Joint *joint, guint i)
{
  return !joint->gone[i] && joint->kind[i] == NODE_CALL && joint->value[i] == VALUE_TENSOR &&
         !joint->in_backward[i] && !joint_must_recompute (joint, i) && joint->bytes[i] > 0;
}

/* Inputs and sizes cost nothing to save, and nodes with effects run once.  A MUST_SAVE tag counts
 * only if forward computes the node. */
static gboolean
is_fixed (const Joint *joint, guint i)
{
  if (joint->gone[i] || joint->in_backward[i])
    return joint_is_input (joint, i);
  if (joint_is_input (joint, i) || joint_is_symbol (joint, i))
    return TRUE;
  return joint->value[i] == VALUE_TENSOR &&
         ((joint->in_forward[i] && joint->recompute[i] == ADJ_RECOMPUTE_MUST_SAVE) ||
          (joint->traits[i] & OP_EFFECT) != 0);
}

/* By node: whether backward may read it, directly or by recomputing. */
static guint8 *
mark_useful (const Joint *joint)
{
  guint8 *useful = g_new0 (guint8, joint->n);

  for (guint i = joint->n; i-- > 0;)
    for (guint32 k = joint->users.begin[i]; k < joint->users.begin[i + 1] && !useful[i]; k++)
      useful[i] = joint->in_backward[joint->users.items[k]] || useful[joint->users.items[k]];
  for (guint i = joint->n_forward_outputs; i < joint->n_outputs; i++)
    if (joint_output (joint, i) != NOBODY)
      useful[joint_output (joint, i)] = TRUE;
  return useful;
}

GArray *
candidates_new (const Joint *joint, guint8 *fixed)
{
  g_autofree guint8 *useful = mark_useful (joint);
  g_autofree guint8 *known = g_new0 (guint8, joint->n);
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < joint->n; i++)
    {
      fixed[i] = is_fixed (joint, i);
      if (fixed[i])
        known[joint->owner[i]] = TRUE;
    }
  for (guint32 i = 0; i < joint->n; i++)
    {
      if (!useful[i] || !may_save (joint, i) || known[joint->owner[i]])
        continue;
      known[joint->owner[i]] = TRUE;
      g_array_append_val (candidates, i);
    }
  return candidates;
}
