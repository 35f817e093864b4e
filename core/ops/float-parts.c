/* SPDX-License-Identifier: MIT */
/* nextafter and frexp, by the bits of numbers. */

#include <math.h>
#include <string.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

static gboolean
check_floating (const AdjOpCall *call, guint arg)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, arg);

  if (adj_context_has_error (call->cx))
    return FALSE;
  return adj_dtype_is_floating (meta->dtype) ||
         adj_op_call_fail (call, "needs floating point, not %s",
                           adj_dtype_info (meta->dtype)->torch_name);
}

/* -- nextafter -- */

static gboolean
nextafter_meta (AdjOpCall *call)
{
  const AdjShape *shapes[2];
  GError *error = NULL;
  AdjShape shape;

  if (!check_floating (call, 0) || !check_floating (call, 1))
    return FALSE;
  if (adj_op_call_meta (call, 0)->dtype != adj_op_call_meta (call, 1)->dtype)
    return adj_op_call_fail (call, "self and other have different dtypes");
  for (guint i = 0; i < 2; i++)
    shapes[i] = &adj_op_call_meta (call, i)->shape;
  if (!adj_shape_pointwise (&shape, op_symbols (call), shapes, 2, &error))
    return adj_op_call_fail_with (call, error);
  adj_op_call_add (call, adj_op_call_meta (call, 0)->dtype, &shape);
  return TRUE;
}

/* For a format whose numbers are the leading bits of a float. */
static double
next_of_bits (double x, double to, guint n_dropped)
{
  float a = (float) x, b = (float) to;
  guint32 bits;

  if (isnan (a) || isnan (b))
    return NAN;
  if (a == b)
    return b;
  memcpy (&bits, &a, sizeof bits);
  bits >>= n_dropped;
  if (a == 0)
    bits = b > 0 ? 1 : (1u << (31 - n_dropped)) | 1;
  else
    bits = (b > a) == (a > 0) ? bits + 1 : bits - 1;
  bits <<= n_dropped;
  memcpy (&a, &bits, sizeof a);
  return a;
}

/* Float16 has another exponent range; its numbers are multiples of 2^−24. */
static double
next_half (double x, double to)
{
  int exponent;
  double step;

  if (isnan (x) || isnan (to) || x == to)
    return isnan (x) || isnan (to) ? NAN : to;
  if (isinf (x))
    return copysign (65504, x);
  frexp (x, &exponent);
  exponent = x == 0 ? -24 : exponent;
  if (fabs (x) == ldexp (0.5, exponent) && (to > x) != (x > 0))
    exponent--; /* spacing is halved below a power of 2 */
  step = ldexp (1, MAX (exponent - 11, -24));
  x += to > x ? step : -step;
  return fabs (x) > 65504 ? copysign (INFINITY, x) : x;
}

static double
next_after (AdjKType type, double x, double to)
{
  if (type == ADJ_K_F64)
    return nextafter (x, to);
  if (type == ADJ_K_F32)
    return nextafterf ((float) x, (float) to);
  return type == ADJ_K_F16 ? next_half (x, to) : next_of_bits (x, to, 16);
}

static gboolean
nextafter_kernel (AdjOpCall *call)
{
  AdjKView x, to, out;
  g_autofree double *a = op_read_spread (call, 0, &x);
  g_autofree double *b = op_read_spread (call, 1, &to);

  if (a == NULL || b == NULL || !op_output (call, 0, &out))
    return FALSE;
  for (gint64 i = 0; i < adj_k_view_count (&x); i++)
    a[i] = next_after (out.type, a[i], b[i]);
  adj_q_copy (op_queue (call), &out, &x);
  return TRUE;
}

/* -- frexp -- */

static gboolean
frexp_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjShape shape = self->shape;

  if (!check_floating (call, 0))
    return FALSE;
  adj_shape_set_format (&shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &self->shape);
  shape.offset = ADJ_SIZE (0);
  adj_op_call_add (call, self->dtype, &shape);
  adj_op_call_add (call, ADJ_DTYPE_I32, &shape);
  return TRUE;
}

static gboolean
frexp_kernel (AdjOpCall *call)
{
  AdjKView x, mantissas, exponents, powers;
  g_autofree double *numbers = op_read_spread (call, 0, &x);
  g_autofree gint64 *counts = NULL;

  if (numbers == NULL || !op_output (call, 0, &mantissas) || !op_output (call, 1, &exponents))
    return FALSE;
  counts = op_temporary (op_queue (call), &x, ADJ_K_I64, &powers);
  for (gint64 i = 0; i < adj_k_view_count (&x); i++)
    {
      int exponent = 0;

      numbers[i] = frexp (numbers[i], &exponent);
      counts[i] = isfinite (numbers[i]) ? exponent : 0;
    }
  adj_q_copy (op_queue (call), &mantissas, &x);
  adj_q_copy (op_queue (call), &exponents, &powers);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/float-parts.inc"
};

const OpFamily adj_family_float_parts = { ops, G_N_ELEMENTS (ops) };
