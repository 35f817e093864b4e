/* SPDX-License-Identifier: MIT */
/* index_fill, index_copy, take, put: slices along one dimension, and elements by row-major
 * position. */

#include <string.h>

#include "ops/index-private.h"
#include "ops/table-private.h"

/* A result with sizes and strides of self. */
static gboolean
add_like_self (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjShape shape = self->shape;

  adj_shape_set_format (&shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &self->shape);
  shape.offset = ADJ_SIZE (0);
  adj_op_call_add (call, self->dtype, &shape);
  return !adj_context_has_error (call->cx);
}

/* All indices in row-major order, checked against @limit, negative ones made positive; the caller
 * frees them. */
static gint64 *
read_indices (const AdjOpCall *call, guint arg, gint64 limit, gint64 *n)
{
  g_autofree gint64 *indices = NULL;
  AdjKView index, dense;

  if (!op_input (call, arg, &index) || !op_check_temporary (call, adj_k_view_count (&index)))
    return NULL;
  indices = op_temporary (op_queue (call), &index, ADJ_K_I64, &dense);
  adj_q_copy (op_queue (call), &dense, &index);
  *n = adj_k_view_count (&index);
  for (gint64 i = 0; i < *n; i++)
    {
      if (indices[i] < -limit || indices[i] >= limit)
        {
          op_bad_index (call, indices[i]);
          return NULL;
        }
      if (indices[i] < 0)
        indices[i] += limit;
    }
  return g_steal_pointer (&indices);
}

/* -- slices -- */

static gboolean
check_vector (const AdjOpCall *call)
{
  const AdjTensorMeta *index = adj_op_call_meta (call, 2);

  op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  if (!op_check_index (call, index))
    return FALSE;
  return index->shape.rank <= 1 || adj_op_call_fail (call, "the index must be a vector");
}

static gboolean
index_fill_meta (AdjOpCall *call)
{
  if (!check_vector (call))
    return FALSE;
  if (call->args[3].kind == ADJ_VALUE_TENSOR && adj_op_call_meta (call, 3)->shape.rank != 0)
    return adj_op_call_fail (call, "the value must have no dimensions");
  return add_like_self (call);
}

static gboolean
index_copy_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0), *index = adj_op_call_meta (call, 2);
  const AdjTensorMeta *source = adj_op_call_meta (call, 3);
  guint dim = op_dim (call, 1, self->shape.rank);
  AdjSize n;
  gboolean fits;

  if (!check_vector (call))
    return FALSE;
  n = index->shape.rank == 1 ? index->shape.size[0] : ADJ_SIZE (1);
  fits = source->dtype == self->dtype && source->shape.rank == self->shape.rank;
  for (guint i = 0; fits && i < self->shape.rank; i++)
    fits = adj_size_test (op_symbols (call), ADJ_SIZE_EQ, source->shape.size[i],
                          i == dim ? n : self->shape.size[i]);
  if (!fits)
    return adj_op_call_fail (call, "the source does not fit self and the index");
  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return TRUE;
}

/* Slice @at of @dim, keeping the dimension. */
static AdjKView
slice_of (const AdjKView *view, guint dim, gint64 at)
{
  AdjKView slice = *view;

  slice.size[dim] = 1;
  slice.data = (char *) view->data +
               (gssize) (at * view->stride[dim]) * (gssize) adj_k_type_get_size (view->type);
  return slice;
}

/* Writes slice i of @from, or with @same all of it, to the i-th index. */
static gboolean
write_slices (const AdjOpCall *call, AdjKView *out, AdjKView *from, gboolean same)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  g_autofree gint64 *indices = NULL;
  gint64 n;

  op_need_dim (out);
  indices = read_indices (call, 2, out->size[dim], &n);
  if (indices == NULL)
    return FALSE;
  if (!same)
    op_need_dim (from);
  for (gint64 i = 0; i < n && adj_k_view_count (out) > 0; i++)
    {
      AdjKView to = slice_of (out, dim, indices[i]);
      AdjKView slice = same ? *from : slice_of (from, dim, i);

      for (gint d = 0; same && d < to.rank; d++)
        slice.size[d] = to.size[d];
      adj_q_copy (op_queue (call), &to, &slice);
    }
  return TRUE;
}

static gboolean
index_fill_kernel (AdjOpCall *call)
{
  AdjShape scalar = { 0 };
  AdjKView out, value;
  double number;

  if (!op_copy_self (call, &out) || !op_input_as (call, 3, &scalar, &value, &number))
    return FALSE;
  value.rank = MAX (out.rank, 1);
  for (gint d = 0; d < value.rank; d++)
    value.stride[d] = 0;
  return write_slices (call, &out, &value, TRUE);
}

static gboolean
index_copy_kernel (AdjOpCall *call)
{
  AdjKView out, source;

  if (!op_copy_self (call, &out) || !op_input (call, 3, &source))
    return FALSE;
  return write_slices (call, &out, &source, FALSE);
}

/* -- elements in row-major order -- */

static gboolean
take_meta (AdjOpCall *call)
{
  const AdjTensorMeta *index = adj_op_call_meta (call, 1);

  if (!op_check_index (call, index))
    return FALSE;
  op_add_contiguous (call, adj_op_call_meta (call, 0)->dtype, index->shape.rank, index->shape.size);
  return TRUE;
}

static gboolean
put_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *index = adj_op_call_meta (call, 1), *source = adj_op_call_meta (call, 2);

  if (!op_check_index (call, index))
    return FALSE;
  if (source->dtype != adj_op_call_meta (call, 0)->dtype)
    return adj_op_call_fail (call, "self and source have different dtypes");
  if (!adj_size_test (symbols, ADJ_SIZE_EQ, adj_shape_numel (&index->shape, symbols),
                      adj_shape_numel (&source->shape, symbols)))
    return adj_op_call_fail (call, "index and source have different numbers of elements");
  return add_like_self (call);
}

/* Argument @arg as elements of type @type in row-major order; the caller frees them. */
static gpointer
read_elements (const AdjOpCall *call, guint arg, AdjKType type, AdjKView *dense)
{
  AdjKView view;
  gpointer memory;

  if (!op_input (call, arg, &view) || !op_check_temporary (call, adj_k_view_count (&view)))
    return NULL;
  memory = op_temporary (op_queue (call), &view, type, dense);
  adj_q_copy (op_queue (call), dense, &view);
  return memory;
}

static gboolean
take_kernel (AdjOpCall *call)
{
  AdjKView dense, out, taken;
  g_autofree char *elements = NULL;
  g_autofree char *results = NULL;
  g_autofree gint64 *indices = NULL;
  gsize size;
  gint64 n;

  if (!op_output (call, 0, &out) || (elements = read_elements (call, 0, out.type, &dense)) == NULL)
    return FALSE;
  size = adj_k_type_get_size (out.type);
  indices = read_indices (call, 1, adj_k_view_count (&dense), &n);
  if (indices == NULL)
    return FALSE;
  results = op_temporary (op_queue (call), &out, out.type, &taken);
  for (gint64 i = 0; i < n; i++)
    memcpy (results + (gsize) i * size, elements + (gsize) indices[i] * size, size);
  adj_q_copy (op_queue (call), &out, &taken);
  return TRUE;
}

static gboolean
put_kernel (AdjOpCall *call)
{
  AdjDType dtype = adj_dtype_get_real (adj_op_call_meta (call, 0)->dtype);
  AdjKType type = adj_dtype_is_floating (dtype) ? ADJ_K_F64 : ADJ_K_I64;
  gboolean accumulate = adj_op_call_bool (call, 3);
  AdjKView to, from, out;
  g_autofree gpointer elements = read_elements (call, 0, type, &to);
  g_autofree gpointer source = read_elements (call, 2, type, &from);
  g_autofree gint64 *indices = NULL;
  gint64 n;

  if (elements == NULL || source == NULL || !op_output (call, 0, &out))
    return FALSE;
  indices = read_indices (call, 1, adj_k_view_count (&to), &n);
  if (indices == NULL)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    if (type == ADJ_K_F64)
      {
        double *x = (double *) elements + indices[i];

        *x = ((double *) source)[i] + (accumulate ? *x : 0);
      }
    else
      {
        guint64 *x = (guint64 *) elements + indices[i];

        *x = ((guint64 *) source)[i] + (accumulate ? *x : 0);
      }
  adj_q_copy (op_queue (call), &out, &to);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/slices.inc"
};

const OpFamily adj_family_slices = { ops, G_N_ELEMENTS (ops) };
