/* SPDX-License-Identifier: MIT */
/* Whether two shapes over one storage may share elements. */

#include "tensor/adj-shape-internal.h"
#include "tensor/adj-shape.h"

/* Whether @a <= @b by their hints; nothing is assumed yet. */
static gboolean
seems_at_most (AdjSymbols *symbols, AdjSize a, AdjSize b)
{
  gint64 x, y;

  return adj_size_get_hint (symbols, a, &x) && adj_size_get_hint (symbols, b, &y) && x <= y;
}

static gboolean
ends_before (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols)
{
  AdjSize end = adj_size_add (symbols, a->offset, adj_shape_span (a, symbols));

  return seems_at_most (symbols, end, b->offset) &&
         adj_size_test (symbols, ADJ_SIZE_LE, end, b->offset);
}

/* Whether columns up to @end come before column @next, and all up to @last are in rows of @row. */
static gboolean
are_in_order (AdjSymbols *symbols, AdjSize end, AdjSize next, AdjSize last, AdjSize row)
{
  return seems_at_most (symbols, end, next) && seems_at_most (symbols, last, row) &&
         adj_size_test (symbols, ADJ_SIZE_LE, ADJ_SIZE (1), row) &&
         adj_size_test (symbols, ADJ_SIZE_LE, end, next) &&
         adj_size_test (symbols, ADJ_SIZE_LE, last, row);
}

/* Whether these are rows of equal stride with disjoint columns. */
static gboolean
columns_are_apart (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols)
{
  AdjSize row = a->stride[0], left, right, left_end, right_end;

  if (a->rank != 2 || b->rank != 2 || !adj_size_same (a->stride[1], ADJ_SIZE (1)) ||
      !adj_size_same (b->stride[1], ADJ_SIZE (1)) || !adj_size_same (row, b->stride[0]) ||
      !seems_at_most (symbols, ADJ_SIZE (1), row))
    return FALSE;
  left = adj_size_apply (symbols, ADJ_SIZE_MOD, a->offset, row);
  right = adj_size_apply (symbols, ADJ_SIZE_MOD, b->offset, row);
  left_end = adj_size_add (symbols, left, a->size[1]);
  right_end = adj_size_add (symbols, right, b->size[1]);
  return are_in_order (symbols, left_end, right, right_end, row) ||
         are_in_order (symbols, right_end, left, left_end, row);
}

/* Where hints decide, only the answer "apart" becomes a guard: the other one makes an overlap
 * possible, which holds for all sizes. */
gboolean
adj_shapes_may_overlap (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols)
{
  if (adj_shape_is_empty (a, symbols) || adj_shape_is_empty (b, symbols))
    return FALSE;
  return !ends_before (a, b, symbols) && !ends_before (b, a, symbols) &&
         !columns_are_apart (a, b, symbols);
}
