/* SPDX-License-Identifier: MIT */
/* Saved values that forward writes to later: forward saves a copy from before the write, since a
 * reference would give backward the new value, if backward looks at it.  PyTorch saves the
 * reference. */

#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "partition/plan-private.h"

static void
note_written (const Joint *joint, guint i, guint8 *written)
{
  const AdjNode *node = adj_graph_get_node (joint->graph, i);
  const AdjSchema *schema = node->op != NULL ? adj_op_get_schema (node->op) : NULL;

  for (guint k = 0; schema != NULL && k < MIN (schema->n_arguments, node->args.n); k++)
    if (schema->arguments[k].type.written && node->args.items[k].kind == ADJ_VALUE_NODE)
      written[joint->owner[joint->rep[node->args.items[k].node.index]]] = TRUE;
}

static gboolean is_read_in_backward (const Plan *plan, guint node, guint n_calls);

/* Whether backward, which computes the call @user, looks at @node. */
static gboolean
is_read_by (const Plan *plan, guint user, guint node, guint n_calls)
{
  const Joint *joint = plan->joint;
  const Adjacency *users = &joint->users;
  guint results = op_results_of (adj_graph_get_node (joint->graph, user), node, joint->rep);

  if (results == G_MAXUINT || n_calls == OP_MAX_CALLS)
    return TRUE;
  for (guint32 k = users->begin[user]; k < users->begin[user + 1]; k++)
    if ((op_result_bit (adj_graph_get_node (joint->graph, users->items[k])) & results) != 0 &&
        is_read_in_backward (plan, users->items[k], n_calls + 1))
      return TRUE;
  return FALSE;
}

static gboolean
is_read_in_backward (const Plan *plan, guint node, guint n_calls)
{
  const Adjacency *users = &plan->joint->users;

  for (guint32 k = users->begin[node]; k < users->begin[node + 1]; k++)
    if (users->items[k] == plan->joint->output ||
        (plan->in_backward[users->items[k]] && is_read_by (plan, users->items[k], node, n_calls)))
      return TRUE;
  return FALSE;
}

void
plan_find_written (Plan *plan)
{
  const Joint *joint = plan->joint;
  g_autofree guint8 *written = g_new0 (guint8, joint->n);

  for (guint i = 0; i < joint->n; i++)
    if (plan->in_forward[i] && (joint->traits[i] & OP_EFFECT) != 0)
      note_written (joint, i, written);
  for (guint i = 0; i < plan->tensors->len && !plan->options->compat; i++)
    {
      guint node = plan_item (plan->tensors, i);

      plan->is_written[node] = joint->has_memory[node] && written[joint->owner[node]] &&
                               is_read_in_backward (plan, node, 0);
    }
}

guint64
plan_held_bytes (const Plan *plan, guint node)
{
  return plan->is_written[node] ? plan->joint->bytes[node] : joint_held_bytes (plan->joint, node);
}
