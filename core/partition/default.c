/* SPDX-License-Identifier: MIT */
/* Saves every forward value that backward reads (partition/SPEC.md §3.1). */

#include "partition/partitioners-private.h"

static gboolean
is_getitem (const Joint *joint, guint i)
{
  return (joint->traits[i] & OP_GETITEM) != 0;
}

/* Saves the results of a tuple one by one. */
static void
save_items (Plan *plan, guint node)
{
  const Joint *joint = plan->joint;

  for (guint32 k = joint->users.begin[node]; k < joint->users.begin[node + 1]; k++)
    if (is_getitem (joint, joint->users.items[k]))
      plan_save (plan, joint->users.items[k]);
}

/* Saves a tensor; if backward only reads its sizes, saves those. */
static void
save_tensor (Plan *plan, guint node)
{
  const Joint *joint = plan->joint;
  guint n_readers = 0, n_sizes = 0;

  for (guint32 k = joint->users.begin[node]; k < joint->users.begin[node + 1]; k++)
    {
      guint user = joint->users.items[k];

      if (joint->in_forward[user])
        continue;
      n_readers++;
      n_sizes += joint_is_symbol (joint, user);
    }
  if (joint->value[node] != VALUE_TENSOR || n_sizes < n_readers)
    {
      plan_save (plan, node);
      return;
    }
  for (guint32 k = joint->users.begin[node]; k < joint->users.begin[node + 1]; k++)
    if (!joint->in_forward[joint->users.items[k]])
      plan_save (plan, joint->users.items[k]);
}

Plan *
default_plan (const Joint *joint, const AdjPartitionOptions *options, GError **error)
{
  g_autoptr (Plan) plan = plan_new (joint, options, "default");

  plan->keeps_order = TRUE;
  for (guint i = 0; i < joint->n; i++)
    {
      if (joint->gone[i] || !joint->in_forward[i])
        continue;
      if (joint_is_symbol (joint, i))
        plan_save (plan, i);
      else if (joint->kind[i] == NODE_CALL && joint->value[i] != VALUE_TENSOR)
        save_items (plan, i);
      else
        save_tensor (plan, i);
    }
  return g_steal_pointer (&plan);
}

Plan *
min_cut_plan (const Joint *joint, const AdjPartitionOptions *options, GError **error)
{
  g_autoptr (Plan) plan = NULL;

  /* Nothing to save.  For graphs with tags, PyTorch's default and min-cut partitioners call each
   * other. */
  if (!joint->has_backward)
    return default_plan (joint, options, error);
  plan = plan_new (joint, options, "min-cut");
  if (!budget_choose (plan, error))
    return NULL;
  return g_steal_pointer (&plan);
}
