/* SPDX-License-Identifier: MIT */
/* The decision on every node, and its reason. */

#include "call/adj-generator.h"
#include "partition/liveness-private.h"

static guint8 *
mark (const Joint *joint, const GArray *a, const GArray *b)
{
  guint8 *marked = g_new0 (guint8, joint->n);

  for (guint i = 0; i < a->len; i++)
    marked[plan_item (a, i)] = TRUE;
  for (guint i = 0; i < b->len; i++)
    marked[plan_item (b, i)] = TRUE;
  return marked;
}

static AdjDecisionKind
kind_of_decision (const Plan *plan, guint i, gboolean saved)
{
  const Joint *joint = plan->joint;

  if (saved)
    return ADJ_DECISION_SAVED;
  if (joint->kind[i] == NODE_TANGENT || joint->kind[i] == NODE_BACKWARD_RNG)
    return ADJ_DECISION_BACKWARD;
  if (joint_is_input (joint, i) || joint->kind[i] == NODE_OUTPUT)
    return ADJ_DECISION_FORWARD;
  if (plan->in_forward[i])
    return plan->in_backward[i] ? ADJ_DECISION_RECOMPUTED : ADJ_DECISION_FORWARD;
  return plan->in_backward[i] ? ADJ_DECISION_BACKWARD : ADJ_DECISION_GONE;
}

static AdjNodeClass
class_of (const Joint *joint, guint i)
{
  if (joint->gone[i])
    return ADJ_NODE_CLASS_GONE;
  if (joint_is_input (joint, i))
    return ADJ_NODE_CLASS_INPUT;
  if (joint->in_backward[i])
    return ADJ_NODE_CLASS_BACKWARD;
  return joint->in_forward[i] ? ADJ_NODE_CLASS_FORWARD : ADJ_NODE_CLASS_UNCLAIMED;
}

static AdjPartitionRule
rule_in_backward (const Joint *joint, guint i)
{
  if (joint->kind[i] == NODE_TANGENT)
    return ADJ_RULE_TANGENT;
  if (joint_stays_backward (joint, i))
    return ADJ_RULE_TAGGED_BACKWARD;
  if (joint->because[i] != NOBODY)
    return ADJ_RULE_AFTER_TANGENT;
  return joint->in_backward[i] ? ADJ_RULE_IS_GRADIENT : ADJ_RULE_SIDE;
}

/* The rule that explains @decision if no partitioner noted one. */
static AdjPartitionRule
rule_of (const Plan *plan, guint i, const AdjNodeDecision *decision)
{
  const Joint *joint = plan->joint;
  AdjPartitionRule tag = (AdjPartitionRule) joint->tag_rule[i];

  if (decision->kind == ADJ_DECISION_BACKWARD)
    return rule_in_backward (joint, i);
  if (decision->kind == ADJ_DECISION_GONE)
    return joint->rep[i] != i ? ADJ_RULE_MERGED : ADJ_RULE_DEAD;
  if (decision->kind == ADJ_DECISION_FORWARD)
    return joint_is_input (joint, i) ? ADJ_RULE_INPUT : ADJ_RULE_NOT_READ;
  if (decision->kind == ADJ_DECISION_RECOMPUTED)
    return joint_must_recompute (joint, i) ? tag : ADJ_RULE_CHEAPER;
  if (joint->recompute[i] == ADJ_RECOMPUTE_MUST_SAVE && tag != ADJ_RULE_NONE)
    return tag;
  return plan->cut != NULL ? ADJ_RULE_CUT : ADJ_RULE_READ;
}

static guint
because_of (const Plan *plan, guint i, const AdjNodeDecision *decision)
{
  const Joint *joint = plan->joint;

  if (decision->rule == ADJ_RULE_MERGED)
    return joint->rep[i];
  if (decision->rule == ADJ_RULE_AFTER_TANGENT)
    return joint->because[i];
  if (decision->rule == ADJ_RULE_BOUNDARY)
    return joint->tag_because[i];
  if (plan->because[i] != NOBODY)
    return plan->because[i];
  return plan->cut != NULL ? plan->cut->because[i] : NOBODY;
}

static void
decide (const Plan *plan, guint i, gboolean saved, AdjNodeDecision *decision)
{
  const Joint *joint = plan->joint;
  guint because;

  decision->kind = joint->gone[i] ? ADJ_DECISION_GONE : kind_of_decision (plan, i, saved);
  decision->node_class = class_of (joint, i);
  decision->recompute = (AdjRecompute) joint->recompute[i];
  decision->distance = joint->distance[i];
  decision->bytes = joint->bytes[i];
  decision->weight =
      plan->cut != NULL && plan->cut->weight[i] != CUT_NEVER ? plan->cut->weight[i] : -1;
  decision->ban = plan->cut != NULL ? (AdjPartitionRule) plan->cut->ban[i] : ADJ_RULE_NONE;
  decision->rule = plan->rule[i] != ADJ_RULE_NONE && !joint->gone[i]
                       ? (AdjPartitionRule) plan->rule[i]
                       : rule_of (plan, i, decision);
  because = because_of (plan, i, decision);
  decision->because = because != NOBODY ? (AdjNodeId){ because } : ADJ_NO_NODE;
}

/* -- saved values -- */

static void
add_saved (AdjPartition *partition, const AdjSavedValue *value)
{
  partition->saved[partition->n_saved++] = *value;
  partition->saved_bytes += value->held_bytes;
  partition->counted_bytes += value->bytes;
}

static void
list_saved (const Plan *plan, AdjPartition *partition)
{
  const Joint *joint = plan->joint;
  g_autofree guint8 *is_held = g_new0 (guint8, joint->n);

  partition->saved =
      g_new0 (AdjSavedValue, plan->tensors->len + plan->states->len + plan->sizes->len + 1);
  for (guint i = 0; i < plan->tensors->len; i++)
    {
      guint node = plan_item (plan->tensors, i);
      guint owner = joint->owner[node];
      AdjSavedValue value = { ADJ_SAVED_TENSOR, { node }, joint->bytes[node], 0, FALSE };

      value.held_bytes =
          is_held[owner] && !plan->is_written[node] ? 0 : plan_held_bytes (plan, node);
      value.of_input = joint_is_input (joint, owner);
      is_held[owner] = TRUE;
      add_saved (partition, &value);
    }
  for (guint i = 0; i < plan->states->len; i++)
    add_saved (partition, &(AdjSavedValue){ ADJ_SAVED_RNG_STATE,
                                            { plan_item (plan->states, i) },
                                            ADJ_GENERATOR_STATE_BYTES,
                                            ADJ_GENERATOR_STATE_BYTES,
                                            FALSE });
  for (guint i = 0; i < plan->sizes->len; i++)
    add_saved (partition,
               &(AdjSavedValue){ ADJ_SAVED_SIZE, { plan_item (plan->sizes, i) }, 1, 0, FALSE });
}

void
plan_record (const Plan *plan, AdjPartition *partition)
{
  const Joint *joint = plan->joint;
  g_autofree guint8 *saved = mark (joint, plan->tensors, plan->sizes);

  partition->nodes = g_new0 (AdjNodeDecision, joint->n);
  for (guint i = 0; i < joint->n; i++)
    decide (plan, i, saved[i], &partition->nodes[i]);
  partition->cut_value = plan->cut != NULL ? plan->cut->value : -1;
  list_saved (plan, partition);
  cost_of_plan (plan, TRUE, &partition->cost);
  partition->cost.is_optimal = plan->is_optimal;
  partition->cost.n_plans = MAX (plan->n_plans, 1);
  partition->cost.peak_bound = liveness_bound (joint);
}
