/* SPDX-License-Identifier: MIT */
/* Views: only shapes; the results share the storage of self. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "ops/kernel-private.h"
#include "ops/table-private.h"
#include "tensor/adj-tensor-internal.h"

static const AdjShape *
self_shape (const AdjOpCall *call)
{
  return &adj_op_call_meta (call, 0)->shape;
}

static gboolean
add (AdjOpCall *call, const AdjShape *shape)
{
  adj_op_call_add_view (call, 0, shape);
  return TRUE;
}

static void
remove_dim (AdjShape *shape, guint dim)
{
  for (guint i = dim; i + 1 < shape->rank; i++)
    {
      shape->size[i] = shape->size[i + 1];
      shape->stride[i] = shape->stride[i + 1];
    }
  shape->rank--;
}

static void
insert_dim (AdjShape *shape, guint dim, AdjSize size, AdjSize stride)
{
  for (guint i = shape->rank; i > dim; i--)
    {
      shape->size[i] = shape->size[i - 1];
      shape->stride[i] = shape->stride[i - 1];
    }
  shape->size[dim] = size;
  shape->stride[dim] = stride;
  shape->rank++;
}

/* -- same elements, other sizes -- */

static gboolean
same_meta (AdjOpCall *call)
{
  return add (call, self_shape (call));
}

static gboolean
view_meta (AdjOpCall *call)
{
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = adj_op_call_sizes (call, 1, sizes);
  GError *error = NULL;
  AdjShape shape;

  if (!adj_shape_view (self_shape (call), op_symbols (call), sizes, rank, &shape, &error))
    return adj_op_call_fail_with (call, error);
  return add (call, &shape);
}

/* Divides a number by @n; fails the call if it is not a multiple. */
static gboolean
divide (const AdjOpCall *call, AdjSize *number, gint64 n)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjSize part = adj_size_floordiv (symbols, *number, ADJ_SIZE (n));

  if (!adj_size_test (symbols, ADJ_SIZE_EQ, adj_size_mul (symbols, part, ADJ_SIZE (n)), *number))
    return adj_op_call_fail (call, "sizes, strides and offset do not fit the wider dtype");
  *number = part;
  return TRUE;
}

/* Makes the last dimension @n times shorter, with sizes and strides in larger elements. */
static gboolean
widen_elements (const AdjOpCall *call, AdjShape *shape, gint64 n)
{
  for (guint i = 0; i + 1 < shape->rank; i++)
    if (!divide (call, &shape->stride[i], n))
      return FALSE;
  return divide (call, &shape->size[shape->rank - 1], n) && divide (call, &shape->offset, n);
}

static void
narrow_elements (const AdjOpCall *call, AdjShape *shape, gint64 n)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjSize *size = &shape->size[shape->rank - 1];

  for (guint i = 0; i + 1 < shape->rank; i++)
    shape->stride[i] = adj_size_mul (symbols, shape->stride[i], ADJ_SIZE (n));
  *size = adj_size_mul (symbols, *size, ADJ_SIZE (n));
  shape->offset = adj_size_mul (symbols, shape->offset, ADJ_SIZE (n));
}

static gboolean
view_dtype_meta (AdjOpCall *call)
{
  AdjShape shape = *self_shape (call);
  AdjDType dtype = adj_op_call_dtype (call, 1, adj_op_call_meta (call, 0)->dtype);
  guint from = adj_dtype_info (adj_op_call_meta (call, 0)->dtype)->n_bytes;
  guint to = adj_dtype_info (dtype)->n_bytes;

  if (from == 0 || to == 0)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "elements are smaller than a byte");
  if (from != to &&
      (shape.rank == 0 || !adj_size_is (op_symbols (call), shape.stride[shape.rank - 1], 1)))
    return adj_op_call_fail (call, "the last dimension must be dense to change the element size");
  if (to > from && !widen_elements (call, &shape, to / from))
    return FALSE;
  if (to < from)
    narrow_elements (call, &shape, from / to);
  adj_op_call_add_view (call, 0, &shape)->meta.dtype = dtype;
  return TRUE;
}

/* -1 keeps a size; new dimensions are first. */
static gboolean
expand_meta (AdjOpCall *call)
{
  const AdjShape *self = self_shape (call);
  AdjShape to = { .rank = 0 };
  AdjShape shape;

  to.rank = adj_op_call_sizes (call, 1, to.size);
  if (to.rank < self->rank)
    return adj_op_call_fail (call, "%u sizes are fewer than the %u dimensions of the tensor",
                             to.rank, self->rank);
  for (guint i = 0; i < to.rank; i++)
    {
      gint from = (gint) i - (gint) (to.rank - self->rank);

      if (!adj_size_is_int (to.size[i]) || to.size[i].word >= 0)
        continue;
      if (to.size[i].word != -1 || from < 0)
        return adj_op_call_fail (call, "a size is negative");
      to.size[i] = self->size[from];
    }
  if (!adj_shape_expand (self, op_symbols (call), &to, &shape))
    {
      g_autofree char *a = op_sizes_text (call, self);
      g_autofree char *b = op_sizes_text (call, &to);

      return adj_op_call_fail (call, "shape %s does not expand to %s", a, b);
    }
  return add (call, &shape);
}

/* Sizes and strides are the second and third argument. */
static gboolean
add_strided (AdjOpCall *call, AdjSize offset)
{
  AdjShape shape = { .rank = 0, .offset = offset };
  guint n_strides;

  shape.rank = adj_op_call_sizes (call, 1, shape.size);
  n_strides = adj_op_call_sizes (call, 2, shape.stride);
  if (n_strides != shape.rank)
    return adj_op_call_fail (call, "%u sizes but %u strides", shape.rank, n_strides);
  for (guint i = 0; i < shape.rank; i++)
    if ((adj_size_is_int (shape.size[i]) && shape.size[i].word < 0) ||
        (adj_size_is_int (shape.stride[i]) && shape.stride[i].word < 0))
      return adj_op_call_fail (call, "a size or stride is negative");
  if (adj_size_is_int (shape.offset) && shape.offset.word < 0)
    return adj_op_call_fail (call, "the storage offset is negative");
  return add (call, &shape);
}

static gboolean
as_strided_meta (AdjOpCall *call)
{
  return add_strided (call, adj_op_call_size (call, 3, self_shape (call)->offset));
}

static gboolean
reshape_alias_meta (AdjOpCall *call)
{
  return add_strided (call, self_shape (call)->offset);
}

/* -- order of dimensions -- */

static gboolean
permute_meta (AdjOpCall *call)
{
  const AdjShape *self = self_shape (call);
  AdjSize dims[ADJ_MAX_RANK];
  guint n = adj_op_call_sizes (call, 1, dims);
  AdjShape shape = *self;

  if (n != self->rank)
    return adj_op_call_fail (call, "%u dimensions given for a tensor of rank %u", n, self->rank);
  adj_op_call_dims (call, 1, self->rank);
  if (adj_context_has_error (call->cx))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      gint dim = adj_shape_wrap_dim (self, dims[i].word);

      shape.size[i] = self->size[dim];
      shape.stride[i] = self->stride[dim];
    }
  return add (call, &shape);
}

static gboolean
swap (AdjOpCall *call, guint a, guint b)
{
  AdjShape shape = *self_shape (call);

  if (shape.rank > 0)
    {
      shape.size[a] = self_shape (call)->size[b];
      shape.size[b] = self_shape (call)->size[a];
      shape.stride[a] = self_shape (call)->stride[b];
      shape.stride[b] = self_shape (call)->stride[a];
    }
  return add (call, &shape);
}

static gboolean
transpose_meta (AdjOpCall *call)
{
  guint rank = self_shape (call)->rank;
  guint a = op_dim (call, 1, rank);
  guint b = op_dim (call, 2, rank);

  return swap (call, a, b);
}

static gboolean
t_meta (AdjOpCall *call)
{
  guint rank = self_shape (call)->rank;

  if (rank > 2)
    return adj_op_call_fail (call, "needs at most 2 dimensions, not %u", rank);
  return rank == 2 ? swap (call, 0, 1) : same_meta (call);
}

/* -- parts -- */

/* Python's clamping of one end of a slice. */
static AdjSize
clamp_index (AdjSymbols *symbols, AdjSize index, AdjSize size)
{
  if (adj_size_test (symbols, ADJ_SIZE_LT, index, ADJ_SIZE (0)))
    index = adj_size_add (symbols, index, size);
  if (adj_size_test (symbols, ADJ_SIZE_LT, index, ADJ_SIZE (0)))
    return ADJ_SIZE (0);
  return adj_size_test (symbols, ADJ_SIZE_GT, index, size) ? size : index;
}

static gboolean
slice_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjShape shape = *self_shape (call);
  guint dim = op_dim (call, 1, shape.rank);
  AdjSize step = adj_op_call_size (call, 4, ADJ_SIZE (1));
  AdjSize start, end, length;

  if (shape.rank == 0)
    return adj_op_call_fail (call, "the tensor has no dimensions");
  if (adj_size_test (symbols, ADJ_SIZE_LE, step, ADJ_SIZE (0)))
    return adj_op_call_fail (call, "the step must be positive");
  start = clamp_index (symbols, adj_op_call_size (call, 2, ADJ_SIZE (0)), shape.size[dim]);
  end = clamp_index (symbols, adj_op_call_size (call, 3, shape.size[dim]), shape.size[dim]);
  if (adj_size_test (symbols, ADJ_SIZE_LT, end, start))
    end = start;
  length = adj_size_sub (symbols, end, start);
  if (!adj_size_is (symbols, step, 1))
    {
      length = adj_size_add (symbols, length, adj_size_sub (symbols, step, ADJ_SIZE (1)));
      length = adj_size_floordiv (symbols, length, step);
    }
  shape.offset =
      adj_size_add (symbols, shape.offset, adj_size_mul (symbols, start, shape.stride[dim]));
  shape.size[dim] = length;
  shape.stride[dim] = adj_size_mul (symbols, shape.stride[dim], step);
  return add (call, &shape);
}

static gboolean
select_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjShape shape = *self_shape (call);
  guint dim = op_dim (call, 1, shape.rank);
  AdjSize index = adj_op_call_size (call, 2, ADJ_SIZE (0));
  AdjSize size = shape.size[dim];

  if (shape.rank == 0)
    return adj_op_call_fail (call, "the tensor has no dimensions");
  if (adj_size_test (symbols, ADJ_SIZE_LT, index, ADJ_SIZE (0)))
    index = adj_size_add (symbols, index, size);
  if (adj_size_test (symbols, ADJ_SIZE_LT, index, ADJ_SIZE (0)) ||
      adj_size_test (symbols, ADJ_SIZE_GE, index, size))
    return adj_op_call_fail (call, "the index is out of range for dimension %u", dim);
  shape.offset =
      adj_size_add (symbols, shape.offset, adj_size_mul (symbols, index, shape.stride[dim]));
  remove_dim (&shape, dim);
  return add (call, &shape);
}

static gboolean
diagonal_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjShape shape = *self_shape (call);
  AdjSize offset = adj_op_call_size (call, 1, ADJ_SIZE (0));
  guint a = op_dim (call, 2, shape.rank);
  guint b = op_dim (call, 3, shape.rank);
  AdjSize rows, columns, stride, skip, size;

  if (a == b)
    return adj_op_call_fail (call, "needs two different dimensions");
  rows = shape.size[a];
  columns = shape.size[b];
  stride = adj_size_add (symbols, shape.stride[a], shape.stride[b]);
  if (adj_size_test (symbols, ADJ_SIZE_GE, offset, ADJ_SIZE (0)))
    {
      columns = adj_size_sub (symbols, columns, offset);
      skip = adj_size_mul (symbols, offset, shape.stride[b]);
    }
  else
    {
      rows = adj_size_add (symbols, rows, offset);
      skip = adj_size_mul (symbols, adj_size_apply (symbols, ADJ_SIZE_NEG, offset, offset),
                           shape.stride[a]);
    }
  size = adj_size_apply (symbols, ADJ_SIZE_MIN, rows, columns);
  size = adj_size_apply (symbols, ADJ_SIZE_MAX, size, ADJ_SIZE (0));
  if (!adj_size_is (symbols, size, 0))
    shape.offset = adj_size_add (symbols, shape.offset, skip);
  remove_dim (&shape, MAX (a, b));
  remove_dim (&shape, MIN (a, b));
  insert_dim (&shape, shape.rank, size, stride);
  return add (call, &shape);
}

static gboolean
unfold_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjShape shape = *self_shape (call);
  guint dim = op_dim (call, 1, shape.rank);
  gint64 size = adj_op_call_int (call, 2, 0);
  gint64 step = adj_op_call_int (call, 3, 0);
  AdjSize stride, length;

  if (shape.rank == ADJ_MAX_RANK)
    return adj_op_call_fail (call, "cannot unfold a tensor of rank %u", shape.rank);
  if (shape.rank == 0 && (size < 0 || size > 1 || step <= 0))
    return adj_op_call_fail (call, "the window does not fit one number");
  if (shape.rank == 0)
    {
      insert_dim (&shape, 0, ADJ_SIZE (size), ADJ_SIZE (1));
      return add (call, &shape);
    }
  if (size < 0 || step <= 0 ||
      adj_size_test (symbols, ADJ_SIZE_GT, ADJ_SIZE (size), shape.size[dim]))
    return adj_op_call_fail (call, "the window does not fit dimension %u", dim);
  stride = shape.stride[dim];
  length = adj_size_sub (symbols, shape.size[dim], ADJ_SIZE (size));
  length = adj_size_floordiv (symbols, length, ADJ_SIZE (step));
  shape.size[dim] = adj_size_add (symbols, length, ADJ_SIZE (1));
  shape.stride[dim] = adj_size_mul (symbols, stride, ADJ_SIZE (step));
  insert_dim (&shape, shape.rank, ADJ_SIZE (size), stride);
  return add (call, &shape);
}

/* -- dimensions of size 1 -- */

static gboolean
squeeze (AdjOpCall *call, guint32 dims)
{
  AdjShape shape = *self_shape (call);

  for (guint i = shape.rank; i-- > 0;)
    if ((dims & (1u << i)) != 0 && adj_size_is (op_symbols (call), shape.size[i], 1))
      remove_dim (&shape, i);
  return add (call, &shape);
}

static gboolean
squeeze_meta (AdjOpCall *call)
{
  return squeeze (call, G_MAXUINT32);
}

static gboolean
squeeze_dim_meta (AdjOpCall *call)
{
  return squeeze (call, 1u << op_dim (call, 1, self_shape (call)->rank));
}

static gboolean
squeeze_dims_meta (AdjOpCall *call)
{
  AdjSize dims[ADJ_MAX_RANK];
  guint n = adj_op_call_sizes (call, 1, dims);

  return squeeze (call, n > 0 ? adj_op_call_dims (call, 1, self_shape (call)->rank) : 0);
}

static gboolean
unsqueeze_meta (AdjOpCall *call)
{
  AdjShape shape = *self_shape (call);
  guint dim = op_dim (call, 1, shape.rank + 1);
  AdjSize stride = ADJ_SIZE (1);

  if (shape.rank == ADJ_MAX_RANK)
    return adj_op_call_fail (call, "the tensor has %d dimensions already", ADJ_MAX_RANK);
  if (dim < shape.rank)
    stride = adj_size_mul (op_symbols (call), shape.size[dim], shape.stride[dim]);
  insert_dim (&shape, dim, ADJ_SIZE (1), stride);
  return add (call, &shape);
}

/* -- lists of parts -- */

#define MAX_PARTS (1 << 16)

/* Adds the part of @dim that starts at @start. */
static void
add_part (AdjOpCall *call, guint dim, AdjSize start, AdjSize length)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjShape shape = *self_shape (call);

  shape.offset =
      adj_size_add (symbols, shape.offset, adj_size_mul (symbols, start, shape.stride[dim]));
  shape.size[dim] = length;
  adj_op_call_add_view (call, 0, &shape);
}

/* The number of parts is fixed, by the hints of symbolic sizes. */
static gboolean
split_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjShape *self = self_shape (call);
  guint dim = op_dim (call, 2, self->rank);
  AdjSize part = adj_op_call_size (call, 1, ADJ_SIZE (0)), rounded, n_parts;
  gint64 length = 0, size = 0, n = 1;

  if (self->rank == 0 || !adj_size_get_hint (symbols, self->size[dim], &size))
    return adj_op_call_fail (call, "the dimension to split has no known size");
  if (!adj_size_get_hint (symbols, part, &length))
    return adj_op_call_fail (call, "the parts to split into have no known size");
  if (length < 0 || (length == 0 && size > 0) || (length > 0 && size / length > MAX_PARTS))
    return adj_op_call_fail (
        call, "cannot split %" G_GINT64_FORMAT " into parts of %" G_GINT64_FORMAT, size, length);
  if (size == 0 || length >= size)
    {
      add_part (call, dim, ADJ_SIZE (0), self->size[dim]);
      return TRUE;
    }
  rounded = adj_size_add (symbols, self->size[dim], adj_size_sub (symbols, part, ADJ_SIZE (1)));
  n_parts = adj_size_floordiv (symbols, rounded, part);
  adj_size_get_hint (symbols, n_parts, &n);
  adj_size_test (symbols, ADJ_SIZE_EQ, n_parts, ADJ_SIZE (n));
  for (gint64 i = 0; i < n; i++)
    {
      AdjSize start = adj_size_mul (symbols, part, ADJ_SIZE (i));

      add_part (call, dim, start,
                i + 1 < n ? part : adj_size_sub (symbols, self->size[dim], start));
    }
  return TRUE;
}

static gboolean
split_with_sizes_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjShape *self = self_shape (call);
  guint dim = op_dim (call, 2, self->rank);
  const AdjValue *list = &call->args[1];
  AdjSize at = ADJ_SIZE (0);

  if (self->rank == 0 || !adj_value_is_container (list))
    return adj_op_call_fail (call, "needs a dimension and a list of sizes");
  for (guint i = 0; i < list->n; i++)
    {
      AdjSize length = ADJ_SIZE (0);

      adj_value_get_size (&list->items[i], &length);
      if (adj_size_test (symbols, ADJ_SIZE_LT, length, ADJ_SIZE (0)))
        return adj_op_call_fail (call, "a size is negative");
      add_part (call, dim, at, length);
      at = adj_size_add (symbols, at, length);
    }
  if (!adj_size_test (symbols, ADJ_SIZE_EQ, at, self->size[dim]))
    return adj_op_call_fail (call, "the sizes do not add up to dimension %u", dim);
  return TRUE;
}

static gboolean
unbind_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjShape *self = self_shape (call);
  guint dim = op_dim (call, 1, self->rank);
  gint64 n = 0;

  if (self->rank == 0 || !adj_size_get_hint (symbols, self->size[dim], &n) || n > MAX_PARTS)
    return adj_op_call_fail (call, "cannot take this dimension apart");
  for (gint64 i = 0; i < n; i++)
    {
      AdjShape shape = *self;
      AdjSize skip = adj_size_mul (symbols, ADJ_SIZE (i), shape.stride[dim]);

      shape.offset = adj_size_add (symbols, shape.offset, skip);
      remove_dim (&shape, dim);
      adj_op_call_add_view (call, 0, &shape);
    }
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/view.inc"
};

const OpFamily adj_family_view = { ops, G_N_ELEMENTS (ops) };
