/* SPDX-License-Identifier: MIT */
/* The order of backward (partition/SPEC.md §4.6): it begins with the first node that reads a
 * tangent; every other node is computed right before its first user, as by the autograd engine.
 * Recomputed chains wait for the first gradient that needs them. */

#include <string.h>

#include "partition/plan-private.h"

typedef struct
{
  Plan *plan;
  guint8 *done;    /* per node */
  GArray *pending; /* guint32 */
} Reorder;

static int
compare_items (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

/* Appends @node after its inputs, in the order of the joint graph. */
static void
insert (Reorder *self, guint node)
{
  const Joint *joint = self->plan->joint;
  guint32 item = node;

  g_array_set_size (self->pending, 0);
  self->done[node] = TRUE;
  g_array_append_val (self->pending, item);
  for (guint i = 0; i < self->pending->len; i++)
    {
      guint cur = plan_item (self->pending, i);

      for (guint32 k = joint->inputs.begin[cur]; k < joint->inputs.begin[cur + 1]; k++)
        {
          item = joint->inputs.items[k];
          if (!self->plan->in_backward[item] || self->done[item])
            continue;
          self->done[item] = TRUE;
          g_array_append_val (self->pending, item);
        }
    }
  g_array_sort (self->pending, compare_items);
  g_array_append_vals (self->plan->order, self->pending->data, self->pending->len);
}

/* Moves getitem nodes right behind their call, so that the other results can be freed early;
 * PyTorch does so since 2.7. */
static void
raise_items (Plan *plan)
{
  const Joint *joint = plan->joint;
  g_autoptr (GArray) old = g_steal_pointer (&plan->order);
  g_autofree guint8 *done = g_new0 (guint8, joint->n);

  plan->order = g_array_sized_new (FALSE, FALSE, sizeof (guint32), old->len);
  for (guint i = 0; i < old->len; i++)
    {
      guint32 node = plan_item (old, i);

      if (done[node])
        continue;
      g_array_append_val (plan->order, node);
      for (guint32 k = joint->users.begin[node];
           joint->value[node] == VALUE_MANY && k < joint->users.begin[node + 1]; k++)
        {
          guint32 item = joint->users.items[k];

          if (!plan->in_backward[item] || (joint->traits[item] & OP_GETITEM) == 0)
            continue;
          done[item] = TRUE;
          g_array_append_val (plan->order, item);
        }
    }
}

static gboolean
reads_tangent (const Joint *joint, guint i)
{
  for (guint32 k = joint->inputs.begin[i]; k < joint->inputs.begin[i + 1]; k++)
    if (joint->kind[joint->inputs.items[k]] == NODE_TANGENT)
      return TRUE;
  return FALSE;
}

void
plan_order_backward (Plan *plan)
{
  const Joint *joint = plan->joint;
  Reorder self = { plan, g_new0 (guint8, joint->n), g_array_new (FALSE, FALSE, sizeof (guint32)) };
  guint first = 0;

  while (first < joint->n && !(plan->in_backward[first] && reads_tangent (joint, first)))
    first++;
  if (first == joint->n || plan->keeps_order)
    first = 0;
  for (guint i = first; i < joint->n; i++)
    if (plan->in_backward[i] && !self.done[i])
      insert (&self, i);
  /* Nodes that only outputs read. */
  for (guint32 i = 0; i < first; i++)
    if (plan->in_backward[i] && !self.done[i])
      g_array_append_val (plan->order, i);
  if (!plan->options->compat && !plan->keeps_order)
    raise_items (plan);
  g_array_unref (self.pending);
  g_free (self.done);
}
