/* SPDX-License-Identifier: MIT */
/* Whether two shapes over one storage may share elements. */

#include "tensor/adj-shape-internal.h"
#include "tensor/adj-shape.h"

/* The part of its storage that a shape covers, by its hints. */
typedef struct
{
  gint64 first, end;          /* elements, from first up to end */
  gint64 columns, row_stride; /* of two dimensions with unit stride in rows */
  gboolean has_rows;
} Cover;

static gboolean
get_cover (const AdjShape *shape, AdjSymbols *symbols, Cover *cover)
{
  gint64 offset, span, sizes[2], strides[2];

  *cover = (Cover){ 0 };
  if (!adj_size_get_hint (symbols, shape->offset, &offset) ||
      !adj_size_get_hint (symbols, adj_shape_span (shape, symbols), &span))
    return FALSE;
  cover->first = offset;
  cover->end = offset + span;
  if (shape->rank != 2)
    return TRUE;
  for (guint i = 0; i < 2; i++)
    if (!adj_size_get_hint (symbols, shape->size[i], &sizes[i]) ||
        !adj_size_get_hint (symbols, shape->stride[i], &strides[i]))
      return TRUE;
  cover->has_rows = strides[1] == 1 && strides[0] > 0 && sizes[1] <= strides[0];
  cover->columns = sizes[1];
  cover->row_stride = strides[0];
  return TRUE;
}

/* Whether the columns of two sets of rows with equal row stride are disjoint. */
static gboolean
columns_are_apart (const Cover *a, const Cover *b)
{
  gint64 left = a->first % a->row_stride, right = b->first % b->row_stride;

  if (left + a->columns > a->row_stride || right + b->columns > b->row_stride)
    return FALSE;
  return left + a->columns <= right || right + b->columns <= left;
}

static gboolean
is_empty (const AdjShape *shape, AdjSymbols *symbols)
{
  for (guint i = 0; i < shape->rank; i++)
    if (adj_size_is (symbols, shape->size[i], 0))
      return TRUE;
  return FALSE;
}

gboolean
adj_shapes_may_overlap (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols)
{
  Cover left, right;

  if (is_empty (a, symbols) || is_empty (b, symbols))
    return FALSE;
  if (!get_cover (a, symbols, &left) || !get_cover (b, symbols, &right))
    return TRUE;
  if (left.end <= right.first || right.end <= left.first)
    return FALSE;
  return !(left.has_rows && right.has_rows && left.row_stride == right.row_stride &&
           columns_are_apart (&left, &right));
}
