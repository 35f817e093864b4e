/* SPDX-License-Identifier: MIT */
/* Makes random operators that are recomputed draw the same numbers again.
 *
 * Random operators that run in forward and again in backward (partition/SPEC.md §4.4): forward
 * saves the state of the generator before each, backward runs it from that state and puts the
 * generator back.  PyTorch does so only for tagged ones, so that its budget mode computes wrong
 * gradients. */

#include "partition/plan-private.h"

static gboolean
needs_state (const Plan *plan, guint i)
{
  const Joint *joint = plan->joint;

  if (!plan->in_forward[i] || !plan->in_backward[i])
    return FALSE;
  if (plan->options->compat)
    return (joint->traits[i] & OP_SEEDED) != 0 && joint_must_recompute (joint, i);
  return joint->draws[i];
}

void
plan_find_random (Plan *plan)
{
  for (guint32 i = 0; i < plan->joint->n; i++)
    if (needs_state (plan, i))
      g_array_append_val (plan->states, i);
}
