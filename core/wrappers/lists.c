/* SPDX-License-Identifier: MIT */
/* C arrays as lists of values, for arguments of list types. */

#include "call/adj-mode.h"
#include "wrappers/wrappers-private.h"

static AdjValue
make_list (AdjContext *cx, guint n)
{
  return (AdjValue){ .kind = ADJ_VALUE_LIST,
                     .n = n,
                     .items = adj_scope_alloc (cx, n * sizeof (AdjValue)) };
}

AdjValue
adj_wrapper_tensors (AdjContext *cx, AdjTensor *const *items, guint n)
{
  AdjValue list = make_list (cx, n);

  for (guint i = 0; i < n; i++)
    list.items[i] = from_tensor_or_none (items[i]);
  return list;
}

AdjValue
adj_wrapper_sizes (AdjContext *cx, const gint64 *items, guint n)
{
  AdjValue list = make_list (cx, n);

  for (guint i = 0; i < n; i++)
    list.items[i] = from_size (items[i]);
  return list;
}

AdjValue
adj_wrapper_doubles (AdjContext *cx, const double *items, guint n)
{
  AdjValue list = make_list (cx, n);

  for (guint i = 0; i < n; i++)
    list.items[i] = ADJ_FLOAT (items[i]);
  return list;
}

AdjValue
adj_wrapper_bools (AdjContext *cx, const gboolean *items, guint n)
{
  AdjValue list = make_list (cx, n);

  for (guint i = 0; i < n; i++)
    list.items[i] = ADJ_BOOL (items[i]);
  return list;
}

AdjValue
adj_wrapper_values (AdjContext *cx, const AdjValue *items, guint n)
{
  AdjValue list = make_list (cx, n);

  for (guint i = 0; i < n; i++)
    list.items[i] = items[i];
  return list;
}
