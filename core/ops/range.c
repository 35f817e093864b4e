/* SPDX-License-Identifier: MIT */
/* Numbers at equal distances, and their powers. */

#include <math.h>

#include "ops/create-private.h"
#include "ops/table-private.h"

/* -- by distance -- */

/* Positions of the arguments of arange: (end), (start, end) or (start, end, step). */
typedef struct
{
  gint start, end, step;
} Range;

static Range
find_range (const AdjOpCall *call)
{
  return (Range){ op_find_option (call, "start"), op_find_option (call, "end"),
                  op_find_option (call, "step") };
}

/* The dtype in which a range is computed; integers for int64. */
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

/* ceil ((end - start) / step) in integers; -1: undefined. */
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

/* -- by number -- */

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

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/range.inc"
};

const OpFamily adj_family_range = { ops, G_N_ELEMENTS (ops) };
