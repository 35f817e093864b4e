/* SPDX-License-Identifier: MIT */
/* Windows: for each index of a fused region, which element of which buffer a value has there. */

#include <string.h>

#include "plan/windows-private.h"

gboolean
plan_window_equal (const PlanWindow *a, const PlanWindow *b)
{
  return a->buffer == b->buffer && a->offset == b->offset && a->dtype == b->dtype &&
         a->rank == b->rank && memcmp (a->stride, b->stride, a->rank * sizeof a->stride[0]) == 0;
}

gboolean
plan_window_is_one (const PlanWindow *window)
{
  for (guint i = 0; i < window->rank; i++)
    if (window->stride[i] != 0)
      return FALSE;
  return TRUE;
}

gboolean
plan_window_find (const AdjPlan *plan,
                  guint32 value,
                  const AdjShape *shape,
                  const AdjShape *domain,
                  PlanWindow *out)
{
  const AdjTensorMeta *meta = &plan_value (plan, value)->meta;
  AdjShape spread, seen;

  if (!adj_shape_expand (&meta->shape, NULL, shape, &spread))
    return FALSE;
  seen = spread;
  if (!adj_shape_same_sizes (&spread, domain, NULL) &&
      !adj_shape_view (&spread, NULL, domain->size, domain->rank, &seen, NULL))
    return FALSE;
  memset (out, 0, sizeof *out);
  out->buffer = plan_value (plan, value)->buffer;
  out->dtype = meta->dtype;
  out->offset = seen.offset.word;
  out->rank = domain->rank;
  for (guint i = 0; i < domain->rank; i++)
    out->stride[i] = domain->size[i].word > 1 ? seen.stride[i].word : 0;
  return TRUE;
}

const AdjShape *
plan_call_get_domain (const AdjPlan *plan, const PlanCall *call)
{
  return &plan_value (plan, call->results[0].value)->meta.shape;
}
