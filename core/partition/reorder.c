/* SPDX-License-Identifier: MIT */
/* The order of backward (partitioner §4.11): it begins with the first node that reads a tangent,
 * and everything else is computed right before it is needed, as the autograd engine would.
 * Recomputed chains so wait for the first gradient that wants them. */

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

/* Appends @node behind what it needs, in joint order. */
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
  /* What only outputs read. */
  for (guint32 i = 0; i < first; i++)
    if (plan->in_backward[i] && !self.done[i])
      g_array_append_val (plan->order, i);
  g_array_unref (self.pending);
  g_free (self.done);
}
