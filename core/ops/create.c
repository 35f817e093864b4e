/* SPDX-License-Identifier: MIT */
/* New tensors.  Their options (dtype, layout, device, memory_format) are found by name. */

#include <math.h>
#include <string.h>

#include "ops/create-private.h"
#include "ops/table-private.h"
#include "tensor/adj-symbols-internal.h"

static gint
find_option (const AdjOpCall *call, const char *name)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (strcmp (call->schema->arguments[i].name, name) == 0)
      return (gint) i;
  return -1;
}

AdjDType
op_option_dtype (const AdjOpCall *call, AdjDType if_none)
{
  gint arg = find_option (call, "dtype");

  return arg >= 0 ? adj_op_call_dtype (call, (guint) arg, if_none) : if_none;
}

static gboolean
check_layout (const AdjOpCall *call)
{
  gint arg = find_option (call, "layout");

  if (arg >= 0 && call->args[arg].kind == ADJ_VALUE_LAYOUT &&
      call->args[arg].layout != ADJ_LAYOUT_STRIDED)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "the layout is not strided");
  return TRUE;
}

gboolean
op_add_new (AdjOpCall *call, AdjDType dtype, const AdjShape *shape)
{
  gint arg = find_option (call, "device");
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
  gint format = find_option (call, "memory_format");
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

gboolean
op_like_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  gint arg = find_option (call, "memory_format");
  AdjMemoryFormat format = ADJ_MEMORY_FORMAT_PRESERVE;
  AdjShape shape = self->shape;

  if (arg >= 0 && call->args[arg].kind == ADJ_VALUE_MEMORY_FORMAT)
    format = call->args[arg].format;
  if (!adj_shape_set_format (&shape, op_symbols (call), format, &self->shape))
    return adj_op_call_fail (call, "the memory format needs another rank");
  shape.offset = ADJ_SIZE (0);
  return op_add_new (call, op_option_dtype (call, self->dtype), &shape);
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

/* -- ranges -- */

/* arange is (end), (start, end) or (start, end, step): where these stand. */
typedef struct
{
  gint start, end, step;
} Range;

static Range
find_range (const AdjOpCall *call)
{
  return (Range){ find_option (call, "start"), find_option (call, "end"),
                  find_option (call, "step") };
}

/* What a range is computed in; integers when asked for int64. */
static AdjDType
range_dtype (const AdjOpCall *call, const Range *range)
{
  const gint args[] = { range->start, range->end, range->step };

  if (op_option_dtype (call, ADJ_DTYPE_NONE) == ADJ_DTYPE_I64)
    return ADJ_DTYPE_I64;
  for (guint i = 0; i < G_N_ELEMENTS (args); i++)
    if (args[i] >= 0 && call->args[args[i]].kind == ADJ_VALUE_FLOAT)
      return adj_context_get_default_dtype (call->cx);
  return ADJ_DTYPE_I64;
}

static double
range_double (const AdjOpCall *call, gint arg, double if_absent)
{
  return arg >= 0 ? adj_op_call_double (call, (guint) arg, if_absent) : if_absent;
}

static AdjSize
range_size (const AdjOpCall *call, gint arg, gint64 if_absent)
{
  if (arg >= 0 && call->args[arg].kind == ADJ_VALUE_FLOAT)
    return ADJ_SIZE ((gint64) CLAMP (call->args[arg].number, -0x1p62, 0x1p62));
  return arg >= 0 ? adj_op_call_size (call, (guint) arg, ADJ_SIZE (if_absent))
                  : ADJ_SIZE (if_absent);
}

static gboolean
is_nan (const AdjOpCall *call, gint arg)
{
  return arg >= 0 && call->args[arg].kind == ADJ_VALUE_FLOAT && isnan (call->args[arg].number);
}

/* ceil ((end - start) / step) in integers; -1: there is no such number. */
static AdjSize
count_integers (const AdjOpCall *call, const Range *range)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjSize start = range_size (call, range->start, 0);
  AdjSize end = range_size (call, range->end, 0);
  AdjSize step = range_size (call, range->step, 1);
  AdjSize zero = ADJ_SIZE (0);
  AdjSize length;

  if (is_nan (call, range->start) || is_nan (call, range->end) || is_nan (call, range->step))
    return ADJ_SIZE (-1);
  length = adj_size_sub (symbols, end, start);
  if (adj_size_is (symbols, step, 1))
    return length;
  if (adj_size_is (symbols, step, 0))
    return ADJ_SIZE (-1);
  length = adj_size_apply (symbols, ADJ_SIZE_NEG, length, zero);
  length = adj_size_floordiv (symbols, length, step);
  return adj_size_apply (symbols, ADJ_SIZE_NEG, length, zero);
}

static AdjSize
count_doubles (const AdjOpCall *call, const Range *range)
{
  double step = range_double (call, range->step, 1);
  double length = range_double (call, range->end, 0) - range_double (call, range->start, 0);
  double n = ceil (length / step);

  return ADJ_SIZE (n >= 0 && n < 0x1p52 ? (gint64) n : -1);
}

static gboolean
arange_meta (AdjOpCall *call)
{
  Range range = find_range (call);
  AdjDType natural = range_dtype (call, &range);
  AdjSize n =
      natural == ADJ_DTYPE_I64 ? count_integers (call, &range) : count_doubles (call, &range);
  AdjShape shape;

  if (adj_size_test (op_symbols (call), ADJ_SIZE_LT, n, ADJ_SIZE (0)))
    return adj_op_call_fail (call, "the step leads away from the end");
  adj_shape_init (&shape, op_symbols (call), 1, &n);
  return op_add_new (call, op_option_dtype (call, natural), &shape);
}

static gint64
range_integer (const AdjOpCall *call, gint arg, gint64 if_absent)
{
  gint64 value = if_absent;

  adj_size_get_hint (op_symbols (call), range_size (call, arg, if_absent), &value);
  return value;
}

static gboolean
arange_kernel (AdjOpCall *call)
{
  Range range = find_range (call);
  AdjKView out;

  if (!op_output (call, 0, &out))
    return FALSE;
  if (range_dtype (call, &range) == ADJ_DTYPE_I64)
    adj_q_iota_i64 (op_queue (call), &out, range_integer (call, range.start, 0),
                    range_integer (call, range.step, 1));
  else
    adj_q_iota_f64 (op_queue (call), &out, range_double (call, range.start, 0),
                    range_double (call, range.step, 1));
  return TRUE;
}

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

static gboolean
linspace_meta (AdjOpCall *call)
{
  AdjSize n = ADJ_SIZE (adj_op_call_int (call, 2, 0));
  AdjShape shape;

  if (n.word < 0)
    return adj_op_call_fail (call, "the number of steps is negative");
  adj_shape_init (&shape, op_symbols (call), 1, &n);
  return op_add_new (call, op_option_dtype (call, adj_context_get_default_dtype (call->cx)),
                     &shape);
}

/* Argument @arg, a number or a tensor of one. */
static gboolean
read_end (const AdjOpCall *call, guint arg, double *out)
{
  AdjKView view, to = { .data = out, .type = ADJ_K_F64 };

  *out = 0;
  if (call->args[arg].kind != ADJ_VALUE_TENSOR)
    {
      *out = adj_op_call_double (call, arg, 0);
      return !adj_context_has_error (call->cx);
    }
  if (!op_input (call, arg, &view))
    return FALSE;
  if (adj_op_call_meta (call, arg)->shape.rank != 0)
    return adj_op_call_fail (call, "start and end must have no dimensions");
  adj_q_copy (op_queue (call), &to, &view);
  return TRUE;
}

/* From both ends to the middle, so that both ends are exact. */
static gboolean
linspace_kernel (AdjOpCall *call)
{
  double start, end, step;
  AdjKView out, half;
  gint64 n;

  if (!op_output (call, 0, &out) || !read_end (call, 0, &start) || !read_end (call, 1, &end))
    return FALSE;
  n = out.size[0];
  if (!adj_dtype_is_floating (call->results[0].meta.dtype))
    {
      start = trunc (start);
      end = trunc (end);
    }
  step = n > 1 ? (end - start) / (double) (n - 1) : 0;
  half = out;
  half.size[0] = n / 2;
  if (n == 1)
    half.size[0] = 1;
  adj_q_iota_f64 (op_queue (call), &half, start, step);
  half.size[0] = n - half.size[0];
  half.data = (char *) out.data + (n - 1) * out.stride[0] * (gint64) adj_k_type_get_size (out.type);
  half.stride[0] = -out.stride[0];
  adj_q_iota_f64 (op_queue (call), &half, end, -step);
  return TRUE;
}

/* As PyTorch computes it: the exponent in the precision of the result. */
static gboolean
logspace_kernel (AdjOpCall *call)
{
  double start, end, base = adj_op_call_double (call, 3, 10), step;
  g_autofree double *numbers = NULL;
  AdjKView out, dense;
  gboolean narrow;
  gint64 n;

  if (!op_output (call, 0, &out) || !read_end (call, 0, &start) || !read_end (call, 1, &end))
    return FALSE;
  n = out.size[0];
  narrow = adj_k_type_is_float (out.type) && out.type != ADJ_K_F64;
  numbers = op_temporary (op_queue (call), &out, ADJ_K_F64, &dense);
  step = n > 1 ? (end - start) / (double) (n - 1) : 0;
  if (narrow)
    step = n > 1 ? ((float) end - (float) start) / (float) (n - 1) : 0;
  for (gint64 i = 0; i < n; i++)
    {
      gint64 back = n - i - 1;
      double at = i < n / 2 || n == 1 ? start + step * (double) i : end - step * (double) back;

      if (narrow)
        at = i < n / 2 || n == 1 ? (float) start + (float) step * (float) i
                                 : (float) end - (float) step * (float) back;
      numbers[i] = narrow ? powf ((float) base, (float) at) : pow (base, at);
    }
  adj_q_copy (op_queue (call), &out, &dense);
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

/* -- counting -- */

static gboolean
iota_meta (AdjOpCall *call)
{
  AdjShape shape;

  return op_new_shape (call, 0, &shape) &&
         op_add_new (call, op_option_dtype (call, ADJ_DTYPE_I64), &shape);
}

static gboolean
iota_kernel (AdjOpCall *call)
{
  AdjKView out;

  if (!op_output (call, 0, &out))
    return FALSE;
  adj_q_iota_i64 (op_queue (call), &out, adj_op_call_int (call, 1, 0),
                  adj_op_call_int (call, 2, 1));
  return TRUE;
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
