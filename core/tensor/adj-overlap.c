/* SPDX-License-Identifier: MIT */
/* Whether two shapes over one storage may share elements. */

#include "tensor/adj-shape-internal.h"
#include "tensor/adj-shape.h"

/* Whether @a <= @b. Where hints decide, only the answer "yes" becomes a guard: the answer "no" may
 * be wrong for other sizes, since it only makes an overlap possible. */
static gboolean
is_at_most (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  gint64 x, y;

  return adj_size_get_hint (symbols, a, &x) && adj_size_get_hint (symbols, b, &y) && x <= y &&
         adj_size_test (symbols, ADJ_SIZE_LE, a, b);
}

static gboolean
ends_before (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols)
{
  AdjSize end = adj_size_add (symbols, a->offset, adj_shape_span (a, symbols));

  return is_at_most (symbols, end, b->offset);
}

/* Whether these are rows of equal stride with disjoint columns. */
static gboolean
columns_are_apart (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols)
{
  AdjSize row = a->stride[0], left, right, left_end, right_end;

  if (a->rank != 2 || b->rank != 2 || !adj_size_same (a->stride[1], ADJ_SIZE (1)) ||
      !adj_size_same (b->stride[1], ADJ_SIZE (1)) || !adj_size_same (row, b->stride[0]) ||
      !is_at_most (symbols, ADJ_SIZE (1), row))
    return FALSE;
  left = adj_size_apply (symbols, ADJ_SIZE_MOD, a->offset, row);
  right = adj_size_apply (symbols, ADJ_SIZE_MOD, b->offset, row);
  left_end = adj_size_add (symbols, left, a->size[1]);
  right_end = adj_size_add (symbols, right, b->size[1]);
  return (is_at_most (symbols, left_end, right) && is_at_most (symbols, right_end, row)) ||
         (is_at_most (symbols, right_end, left) && is_at_most (symbols, left_end, row));
}

gboolean
adj_shapes_may_overlap (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols)
{
  if (adj_shape_is_empty (a, symbols) || adj_shape_is_empty (b, symbols))
    return FALSE;
  return !ends_before (a, b, symbols) && !ends_before (b, a, symbols) &&
         !columns_are_apart (a, b, symbols);
}
