/* SPDX-License-Identifier: MIT */
/* Tags, classes and distances (partition/SPEC.md §2.3, partition/SPEC.md §2.4). */

#include <string.h>

#include "call/adj-object-call-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"
#include "partition/joint-private.h"

static gboolean
demand (Joint *joint, const AdjPartitionDemand *wanted, GError **error)
{
  AdjNodeId id = adj_graph_find_node (joint->graph, wanted->node);
  guint i;

  if (!adj_node_id_is_valid (id))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "%s is asked for a node '%s', which the graph does not have",
                   adj_recompute_name (wanted->recompute), wanted->node);
      return FALSE;
    }
  i = joint->rep[id.index];
  if (joint->tag_rule[i] == ADJ_RULE_DEMAND && joint->recompute[i] != wanted->recompute)
    {
      g_autofree char *region = joint_print_region (joint, i);

      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s and %s are both asked for '%s'%s",
                   adj_recompute_name ((AdjRecompute) joint->recompute[i]),
                   adj_recompute_name (wanted->recompute), wanted->node, region);
      joint_blame (joint, i, error);
      return FALSE;
    }
  if (joint->kind[i] != NODE_CALL && wanted->recompute >= ADJ_RECOMPUTE_MUST_RECOMPUTE)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "%s is asked for '%s', which no operator computes",
                   adj_recompute_name (wanted->recompute), wanted->node);
      joint_blame (joint, i, error);
      return FALSE;
    }
  joint->recompute[i] = wanted->recompute;
  joint->tag_rule[i] = ADJ_RULE_DEMAND;
  return TRUE;
}

gboolean
joint_apply_demands (Joint *joint, const AdjPartitionOptions *options, GError **error)
{
  for (guint i = 0; i < options->n_demands; i++)
    if (!demand (joint, &options->demands[i], error))
      return FALSE;
  return TRUE;
}

static void
save_at (Joint *joint, guint i, AdjPartitionRule rule, guint because)
{
  joint->recompute[i] = ADJ_RECOMPUTE_MUST_SAVE;
  joint->tag_rule[i] = rule;
  joint->tag_because[i] = because;
}

/* Marks the values that are picked of what @node gives, however deep they lie: @all, or those that
 * are tagged to be computed again. */
static void
save_items (Joint *joint, guint effect, const AdjNode *node, gboolean all)
{
  for (guint k = 0; k < node->n_users; k++)
    {
      guint i = node->users[k].index;
      const AdjNode *item = adj_graph_get_node (joint->graph, i);

      if (item->opcode != ADJ_OPCODE_CALL_FUNCTION ||
          !g_str_equal (item->target, "operator.getitem"))
        continue;
      save_items (joint, effect, item, all);
      if (!adj_value_is_container (&item->val) && (all || joint_must_recompute (joint, i)))
        save_at (joint, i, ADJ_RULE_EFFECT, effect);
    }
}

void
joint_save_effects (Joint *joint, gboolean all)
{
  for (guint i = 0; i < joint->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (joint->graph, i);

      if (!joint->gone[i] && node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
          g_str_equal (node->target, ADJ_TARGET_WITH_EFFECTS) && !joint_stays_backward (joint, i))
        save_items (joint, i, node, all);
    }
}

static gboolean
has_backward_hook (const AdjNode *node)
{
  const AdjValue *said = adj_value_find_member (node->meta.extra, "has_backward_hook");

  return said != NULL && said->kind == ADJ_VALUE_BOOL && said->boolean;
}

static void
clean_tag (Joint *joint, guint i)
{
  gboolean read_by_recomputed = FALSE;

  for (guint32 k = joint->users.begin[i]; k < joint->users.begin[i + 1]; k++)
    {
      guint user = joint->users.items[k];

      if (!joint_must_recompute (joint, user))
        continue;
      read_by_recomputed = TRUE;
      if (joint->region[user] > joint->region[i])
        {
          save_at (joint, i, ADJ_RULE_BOUNDARY, user);
          return;
        }
    }
  if (!read_by_recomputed && has_backward_hook (adj_graph_get_node (joint->graph, i)))
    save_at (joint, i, ADJ_RULE_HOOK, NOBODY);
}

void
joint_clean_tags (Joint *joint)
{
  for (guint i = 0; i < joint->n; i++)
    if (!joint->gone[i] && joint_must_recompute (joint, i))
      {
        joint->has_tags = TRUE; /* the tag may come from a request */
        if (joint->tag_rule[i] != ADJ_RULE_DEMAND)
          clean_tag (joint, i);
      }
}

static void
find_backward (Joint *joint)
{
  for (guint i = 0; i < joint->n; i++)
    {
      if (joint->gone[i] || i == joint->output)
        continue;
      if (joint->kind[i] == NODE_TANGENT || joint_stays_backward (joint, i))
        {
          joint->in_backward[i] = TRUE;
          joint->because[i] = i;
        }
      for (guint32 k = joint->inputs.begin[i]; k < joint->inputs.begin[i + 1]; k++)
        {
          guint input = joint->inputs.items[k];

          if (joint->in_backward[i] || !joint->in_backward[input])
            continue;
          joint->in_backward[i] = TRUE;
          joint->because[i] = joint->because[input];
        }
    }
  for (guint i = joint->n_forward_outputs; i < joint->n_outputs; i++)
    {
      guint node = joint_output (joint, i);

      if (node != NOBODY)
        joint->in_backward[node] = TRUE;
    }
  for (guint i = 0; i < joint->n; i++)
    joint->has_backward |= joint->in_backward[i] != 0;
}

/* Forward has the nodes that its outputs depend on, all inputs, and effects and random calls that
 * can run there. */
static void
find_forward (Joint *joint)
{
  for (guint i = 0; i < joint->n_forward_outputs; i++)
    {
      guint node = joint_output (joint, i);

      if (node != NOBODY)
        joint->in_forward[node] = TRUE;
    }
  for (guint i = joint->n; i-- > 0;)
    {
      gboolean happens = joint->kind[i] == NODE_CALL && joint->because[i] == NOBODY &&
                         ((joint->traits[i] & OP_EFFECT) != 0 || joint_moves_generator (joint, i));

      if (joint->gone[i] || joint->kind[i] == NODE_OUTPUT)
        continue;
      if (joint_is_input (joint, i) || happens)
        joint->in_forward[i] = TRUE;
      for (guint32 k = joint->inputs.begin[i];
           joint->in_forward[i] && k < joint->inputs.begin[i + 1]; k++)
        joint->in_forward[joint->inputs.items[k]] = TRUE;
    }
}

static void
measure_distances (Joint *joint)
{
  for (guint i = joint->n; i-- > 0;)
    {
      guint32 nearest = FAR_FROM_BACKWARD;

      if (joint->kind[i] != NODE_OUTPUT && !joint->in_forward[i])
        {
          joint->distance[i] = 0;
          continue;
        }
      if (joint->kind[i] != NODE_OUTPUT)
        for (guint32 k = joint->users.begin[i]; k < joint->users.begin[i + 1]; k++)
          nearest = MIN (nearest, joint->distance[joint->users.items[k]] + 1);
      joint->distance[i] = nearest;
    }
}

void
joint_classify (Joint *joint)
{
  gint32 n_forward = 0;

  find_backward (joint);
  find_forward (joint);
  for (guint i = 0; i < joint->n; i++)
    joint->order[i] = joint->in_forward[i] && !joint->gone[i] ? n_forward++ : -1;
  measure_distances (joint);
}
