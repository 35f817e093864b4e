/* SPDX-License-Identifier: MIT */
#pragma once

#include "plan/plan-private.h"

G_BEGIN_DECLS

/* The elements of a buffer at the indices of a domain (a list of sizes). */
typedef struct
{
  guint32 buffer;
  AdjDType dtype;
  guint rank;
  gint64 offset;               /* in elements */
  gint64 stride[ADJ_MAX_RANK]; /* in elements; 0 along dims of size 1 */
} PlanWindow;

gboolean plan_window_equal (const PlanWindow *a, const PlanWindow *b);
/* Whether it is a single element. */
gboolean plan_window_is_one (const PlanWindow *window);
/* The window of @value, broadcast to @shape, over @domain, which has as many elements; %FALSE: its
 * strides do not allow it. */
gboolean plan_window_find (const AdjPlan *plan,
                           guint32 value,
                           const AdjShape *shape,
                           const AdjShape *domain,
                           PlanWindow *out);
/* The sizes that a pointwise call runs over. */
const AdjShape *plan_call_get_domain (const AdjPlan *plan, const PlanCall *call);

G_END_DECLS
