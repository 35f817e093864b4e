/* SPDX-License-Identifier: MIT */
/* New tensors.  Their options (dtype, layout, device, memory_format) are found by name. */

#include <math.h>
#include <string.h>

#include "call/adj-schema-internal.h"
#include "ops/create-private.h"
#include "ops/table-private.h"
#include "tensor/adj-symbols-internal.h"

gint
op_find_option (const AdjOpCall *call, const char *name)
{
  return adj_schema_find_argument (call->schema, name);
}

AdjDType
op_option_dtype (const AdjOpCall *call, AdjDType if_none)
{
  gint arg = op_find_option (call, "dtype");

  return arg >= 0 ? adj_op_call_dtype (call, (guint) arg, if_none) : if_none;
}

static gboolean
check_layout (const AdjOpCall *call)
{
  gint arg = op_find_option (call, "layout");

  if (arg >= 0 && call->args[arg].kind == ADJ_VALUE_LAYOUT &&
      call->args[arg].layout != ADJ_LAYOUT_STRIDED)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "the layout is not strided");
  return TRUE;
}

gboolean
op_add_new (AdjOpCall *call, AdjDType dtype, const AdjShape *shape)
{
  gint arg = op_find_option (call, "device");
  AdjOpResult *result;

  if (!check_layout (call))
    return FALSE;
  result = adj_op_call_add (call, dtype, shape);
  if (arg >= 0 && call->args[arg].kind == ADJ_VALUE_DEVICE)
    result->meta.device = call->args[arg].device;
  return TRUE;
}

/* Sizes from argument @arg, none of them negative. */
gboolean
op_new_shape (const AdjOpCall *call, guint arg, AdjShape *out)
{
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = adj_op_call_sizes (call, arg, sizes);

  for (guint i = 0; i < rank; i++)
    if (adj_size_is_int (sizes[i]) && sizes[i].word < 0)
      return adj_op_call_fail (call, "size %" G_GINT64_FORMAT " is negative", sizes[i].word);
  adj_shape_init (out, op_symbols (call), rank, sizes);
  return !adj_context_has_error (call->cx);
}

static AdjDType
number_dtype (const AdjOpCall *call, const AdjValue *value)
{
  if (value->kind == ADJ_VALUE_BOOL)
    return ADJ_DTYPE_BOOL;
  if (value->kind == ADJ_VALUE_FLOAT ||
      (value->kind == ADJ_VALUE_SIZE &&
       adj_symbols_is_float (adj_context_get_symbols (call->cx), value->size)))
    return adj_context_get_default_dtype (call->cx);
  return ADJ_DTYPE_I64;
}

/* -- shapes -- */

gboolean
op_factory_meta (AdjOpCall *call)
{
  gint format = op_find_option (call, "memory_format");
  AdjShape shape;

  if (!op_new_shape (call, 0, &shape))
    return FALSE;
  if (format >= 0 && call->args[format].kind == ADJ_VALUE_MEMORY_FORMAT &&
      !adj_shape_set_format (&shape, op_symbols (call), call->args[format].format, &shape))
    return adj_op_call_fail (call, "the memory format needs another rank");
  return op_add_new (call, op_option_dtype (call, adj_context_get_default_dtype (call->cx)),
                     &shape);
}

static gboolean
full_meta (AdjOpCall *call)
{
  AdjShape shape;

  return op_new_shape (call, 0, &shape) &&
         op_add_new (call, op_option_dtype (call, number_dtype (call, &call->args[1])), &shape);
}

static gboolean
scalar_tensor_meta (AdjOpCall *call)
{
  const AdjShape shape = { .rank = 0 };

  return op_add_new (call, op_option_dtype (call, adj_context_get_default_dtype (call->cx)),
                     &shape);
}

static AdjMemoryFormat
like_format (const AdjOpCall *call)
{
  gint arg = op_find_option (call, "memory_format");

  return arg >= 0 && call->args[arg].kind == ADJ_VALUE_MEMORY_FORMAT ? call->args[arg].format
                                                                     : ADJ_MEMORY_FORMAT_PRESERVE;
}

gboolean
op_like_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjShape shape = self->shape;

  if (!adj_shape_set_format (&shape, op_symbols (call), like_format (call), &self->shape))
    return adj_op_call_fail (call, "the memory format needs another rank");
  shape.offset = ADJ_SIZE (0);
  return op_add_new (call, op_option_dtype (call, self->dtype), &shape);
}

void
op_like_traced (AdjOpCall *call)
{
  if (like_format (call) == ADJ_MEMORY_FORMAT_PRESERVE)
    op_pointwise_traced (call);
}

static gboolean
new_meta (AdjOpCall *call)
{
  AdjShape shape;

  return op_new_shape (call, 1, &shape) &&
         op_add_new (call, op_option_dtype (call, adj_op_call_meta (call, 0)->dtype), &shape);
}

gboolean
op_set_strides (const AdjOpCall *call, guint arg, AdjShape *shape)
{
  guint n = adj_op_call_sizes (call, arg, shape->stride);

  if (n != shape->rank)
    return adj_op_call_fail (call, "%u sizes but %u strides", shape->rank, n);
  for (guint i = 0; i < n; i++)
    if (adj_size_is_int (shape->stride[i]) && shape->stride[i].word < 0)
      return adj_op_call_fail (call, "a stride is negative");
  return TRUE;
}

static gboolean
empty_strided_meta (AdjOpCall *call)
{
  AdjShape shape;

  return op_new_shape (call, 0, &shape) && op_set_strides (call, 1, &shape) &&
         op_add_new (call, op_option_dtype (call, adj_context_get_default_dtype (call->cx)),
                     &shape);
}

static gboolean
new_empty_strided_meta (AdjOpCall *call)
{
  AdjShape shape;

  return op_new_shape (call, 1, &shape) && op_set_strides (call, 2, &shape) &&
         op_add_new (call, op_option_dtype (call, adj_op_call_meta (call, 0)->dtype), &shape);
}

/* Dense in the order of the list, the outermost dimension first. */
static gboolean
empty_permuted_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjSize order[ADJ_MAX_RANK];
  AdjSize stride = ADJ_SIZE (1);
  AdjShape shape;

  if (!op_new_shape (call, 0, &shape))
    return FALSE;
  if (adj_op_call_sizes (call, 1, order) != shape.rank)
    return adj_op_call_fail (call, "the layout does not name every dimension");
  adj_op_call_dims (call, 1, shape.rank);
  if (adj_context_has_error (call->cx))
    return FALSE;
  for (guint i = shape.rank; i-- > 0;)
    {
      gint dim = adj_shape_wrap_dim (&shape, order[i].word);

      shape.stride[dim] = stride;
      stride = adj_size_mul (symbols, stride,
                             adj_size_apply (symbols, ADJ_SIZE_MAX, shape.size[dim], ADJ_SIZE (1)));
    }
  return op_add_new (call, op_option_dtype (call, adj_context_get_default_dtype (call->cx)),
                     &shape);
}

/* -- diagonals -- */

static gboolean
eye_meta (AdjOpCall *call)
{
  AdjDType dtype = op_option_dtype (call, adj_context_get_default_dtype (call->cx));
  gboolean square = *call->schema->overload == '\0';
  AdjSize sizes[2];
  AdjShape shape;

  sizes[0] = adj_op_call_size (call, 0, ADJ_SIZE (0));
  sizes[1] = square ? sizes[0] : adj_op_call_size (call, 1, ADJ_SIZE (0));
  for (guint i = 0; i < 2; i++)
    if (adj_size_test (op_symbols (call), ADJ_SIZE_LT, sizes[i], ADJ_SIZE (0)))
      return adj_op_call_fail (call, "a size is negative");
  adj_shape_init (&shape, op_symbols (call), 2, sizes);
  return op_add_new (call, dtype, &shape);
}

static gboolean
eye_kernel (AdjOpCall *call)
{
  AdjKView out;

  if (!op_output (call, 0, &out))
    return FALSE;
  adj_q_fill_i64 (op_queue (call), &out, 0);
  out.rank = 1;
  out.size[0] = MIN (out.size[0], out.size[1]);
  out.stride[0] += out.stride[1];
  adj_q_fill_i64 (op_queue (call), &out, call->part != ADJ_PART_IMAGINARY);
  return TRUE;
}

/* -- places of a triangle -- */

/* Columns of row @row in the lower triangle of a matrix of @columns, or those behind them. */
static void
find_columns (gint64 row, gint64 columns, gint64 offset, gboolean lower, gint64 *first, gint64 *end)
{
  gint64 at = CLAMP (row + offset + (lower ? 1 : 0), 0, columns);

  *first = lower ? 0 : at;
  *end = lower ? at : columns;
}

static gboolean
triangle_indices_meta (AdjOpCall *call, gboolean lower)
{
  gint64 rows = adj_op_call_int (call, 0, 0), columns = adj_op_call_int (call, 1, 0);
  gint64 offset = adj_op_call_int (call, 2, 0), n = 0;
  AdjSize sizes[2] = { ADJ_SIZE (2) };
  AdjShape shape;

  if (rows < 0 || columns < 0 || rows > G_MAXINT32 || columns > G_MAXINT32)
    return adj_op_call_fail (call, "a matrix has not so many rows or columns");
  offset = CLAMP (offset, -(gint64) G_MAXINT32, G_MAXINT32);
  for (gint64 i = 0; i < rows; i++)
    {
      gint64 first, end;

      find_columns (i, columns, offset, lower, &first, &end);
      n += end - first;
    }
  sizes[1] = ADJ_SIZE (n);
  adj_shape_init (&shape, op_symbols (call), 2, sizes);
  return op_add_new (call, op_option_dtype (call, ADJ_DTYPE_I64), &shape);
}

static gboolean
triangle_indices_kernel (AdjOpCall *call, gboolean lower)
{
  gint64 rows = adj_op_call_int (call, 0, 0), columns = adj_op_call_int (call, 1, 0);
  gint64 offset = CLAMP (adj_op_call_int (call, 2, 0), -(gint64) G_MAXINT32, G_MAXINT32), at = 0;
  g_autofree gint64 *places = NULL;
  AdjKView out, dense;

  if (!op_output (call, 0, &out))
    return FALSE;
  places = op_temporary (op_queue (call), &out, ADJ_K_I64, &dense);
  for (gint64 i = 0; i < rows; i++)
    {
      gint64 first, end;

      find_columns (i, columns, offset, lower, &first, &end);
      for (gint64 k = first; k < end; k++, at++)
        {
          places[at] = i;
          places[out.size[1] + at] = k;
        }
    }
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

static gboolean
tril_indices_meta (AdjOpCall *call)
{
  return triangle_indices_meta (call, TRUE);
}

static gboolean
triu_indices_meta (AdjOpCall *call)
{
  return triangle_indices_meta (call, FALSE);
}

static gboolean
tril_indices_kernel (AdjOpCall *call)
{
  return triangle_indices_kernel (call, TRUE);
}

static gboolean
triu_indices_kernel (AdjOpCall *call)
{
  return triangle_indices_kernel (call, FALSE);
}

/* -- values -- */

static gboolean
fill_with (AdjOpCall *call, const char *name)
{
  const AdjValue *value = &call->args[adj_op_call_find (call, name)];
  AdjKView out;

  if (!op_output (call, 0, &out))
    return FALSE;
  if (value->kind == ADJ_VALUE_FLOAT || call->part != ADJ_PART_NONE)
    adj_q_fill_f64 (op_queue (call), &out, op_number (call, adj_op_call_find (call, name), 0));
  else
    adj_q_fill_i64 (op_queue (call), &out,
                    adj_op_call_int (call, adj_op_call_find (call, name), 0));
  return TRUE;
}

static gboolean
full_kernel (AdjOpCall *call)
{
  return fill_with (call, "fill_value");
}

static gboolean
scalar_kernel (AdjOpCall *call)
{
  return fill_with (call, "s");
}

static gboolean
fill_kernel (AdjOpCall *call)
{
  return fill_with (call, "value");
}

static gboolean
fill_tensor_meta (AdjOpCall *call)
{
  if (adj_op_call_meta (call, 1)->shape.rank > 0)
    return adj_op_call_fail (call, "the value must have no dimensions");
  return op_like_meta (call);
}

static gboolean
fill_tensor_kernel (AdjOpCall *call)
{
  AdjKView in, out;
  double number;

  if (!op_output (call, 0, &out) ||
      !op_input_as (call, 1, &call->results[0].meta.shape, &in, &number))
    return FALSE;
  adj_q_copy (op_queue (call), &out, &in);
  return TRUE;
}

static gboolean
zeros_kernel (AdjOpCall *call)
{
  op_clear (call, 0);
  return TRUE;
}

static gboolean
ones_kernel (AdjOpCall *call)
{
  AdjKView out;

  if (!op_output (call, 0, &out))
    return FALSE;
  adj_q_fill_i64 (op_queue (call), &out, call->part != ADJ_PART_IMAGINARY);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/create.inc"
};

const OpFamily adj_family_create = { ops, G_N_ELEMENTS (ops) };
