/* SPDX-License-Identifier: MIT */
/* isin, histc, bincount: membership and counts. */

#include <math.h>
#include <string.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"
#include "tensor/adj-symbols-internal.h"

#define MAX_BINS (1 << 24)

/* Argument @arg, a tensor or a number, as numbers in row-major order; the caller frees them. */
static double *
read_numbers (const AdjOpCall *call, guint arg, gint64 *n)
{
  AdjKView view;
  double number;

  if (call->args[arg].kind != ADJ_VALUE_TENSOR)
    {
      number = adj_op_call_double (call, arg, 0);
      *n = 1;
      return g_memdup2 (&number, sizeof number);
    }
  if (!op_input (call, arg, &view))
    return NULL;
  *n = adj_k_view_count (&view);
  return op_read_numbers (call, arg);
}

/* -- isin -- */

static gboolean
isin_meta (AdjOpCall *call)
{
  const AdjShape scalar = { 0 };
  const AdjShape *shape =
      call->args[0].kind == ADJ_VALUE_TENSOR ? &adj_op_call_meta (call, 0)->shape : &scalar;

  op_add_contiguous (call, ADJ_DTYPE_BOOL, shape->rank, shape->size);
  return !adj_context_has_error (call->cx);
}

static gboolean
isin_kernel (AdjOpCall *call)
{
  gint64 n = 0, n_tests = 0;
  g_autofree double *elements = read_numbers (call, 0, &n);
  g_autofree double *tests = read_numbers (call, 1, &n_tests);
  gboolean invert = adj_op_call_bool (call, 3);
  AdjKView out;

  if (elements == NULL || tests == NULL || !op_output (call, 0, &out))
    return FALSE;
  qsort (tests, (gsize) n_tests, sizeof *tests, op_compare_numbers);
  for (gint64 i = 0; i < n; i++)
    {
      gboolean found = !isnan (elements[i]) && bsearch (&elements[i], tests, (gsize) n_tests,
                                                        sizeof *tests, op_compare_numbers) != NULL;

      ((guint8 *) out.data)[i] = (guint8) (found != invert);
    }
  return TRUE;
}

/* -- histc -- */

static gboolean
histc_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  gint64 bins = adj_op_call_int (call, 1, 100);
  AdjSize size = ADJ_SIZE (bins);

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (bins <= 0 || bins > MAX_BINS)
    return adj_op_call_fail (call, "there may be 1 to %d bins, not %" G_GINT64_FORMAT, MAX_BINS,
                             bins);
  if (!adj_dtype_is_floating (self->dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (self->dtype)->torch_name);
  op_add_contiguous (call, self->dtype, 1, &size);
  return TRUE;
}

/* The range that is counted: from the smallest to the largest element by default. */
static gboolean
find_range (const AdjOpCall *call, const double *x, gint64 n, double *low, double *high)
{
  *low = adj_op_call_double (call, 2, 0);
  *high = adj_op_call_double (call, 3, 0);
  if (*low == *high && n > 0)
    {
      *low = *high = x[0];
      for (gint64 i = 1; i < n; i++)
        {
          *low = isnan (x[i]) || x[i] < *low ? x[i] : *low;
          *high = isnan (x[i]) || x[i] > *high ? x[i] : *high;
        }
    }
  if (!isfinite (*low) || !isfinite (*high) || *low > *high)
    return adj_op_call_fail (call, "the range from %g to %g cannot be parted", *low, *high);
  if (*low == *high)
    {
      *low -= 1;
      *high += 1;
    }
  return TRUE;
}

/* The bin of @x, computed in 32 bits unless @wide. */
static gint64
find_bin (double x, double low, double high, gint64 bins, gboolean wide)
{
  double at =
      wide ? (x - low) * (double) bins / (high - low)
           : (double) (((float) x - (float) low) * (float) bins / ((float) high - (float) low));

  return MIN ((gint64) at, bins - 1);
}

static gboolean
histc_kernel (AdjOpCall *call)
{
  gint64 bins = adj_op_call_int (call, 1, 100), n = 0;
  g_autofree double *x = read_numbers (call, 0, &n);
  g_autofree double *counts = NULL;
  AdjKView out, dense;
  double low, high;

  if (x == NULL || !find_range (call, x, n, &low, &high) || !op_output (call, 0, &out))
    return FALSE;
  counts = op_temporary (op_queue (call), &out, ADJ_K_F64, &dense);
  for (gint64 i = 0; i < n; i++)
    if (x[i] >= low && x[i] <= high)
      counts[find_bin (x[i], low, high, bins, out.type == ADJ_K_F64)]++;
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

/* -- bincount -- */

static gboolean
find_bins (const AdjOpCall *call, const double *x, gint64 n, gint64 *bins)
{
  *bins = MAX (adj_op_call_int (call, 2, 0), 0);
  for (gint64 i = 0; i < n; i++)
    {
      if (x[i] < 0 || x[i] >= MAX_BINS)
        return adj_op_call_fail (call, "counts numbers from 0 to %d, not %g", MAX_BINS - 1, x[i]);
      *bins = MAX (*bins, (gint64) x[i] + 1);
    }
  return TRUE;
}

static gboolean
bincount_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  const AdjTensorMeta *weights =
      call->args[1].kind == ADJ_VALUE_TENSOR ? adj_op_call_meta (call, 1) : NULL;
  AdjDType dtype = weights == NULL                   ? ADJ_DTYPE_I64
                   : weights->dtype == ADJ_DTYPE_F32 ? ADJ_DTYPE_F32
                                                     : ADJ_DTYPE_F64;
  gint64 n = 0, bins = 0;
  AdjSize size;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (self->shape.rank != 1 || adj_dtype_is_floating (self->dtype) ||
      (weights != NULL && !adj_shape_same_sizes (&self->shape, &weights->shape, op_symbols (call))))
    return adj_op_call_fail (call, "counts a vector of integers, with weights of its size");
  if (op_is_fake (call, 0))
    {
      if (!op_unbacked_size (call, MAX (adj_op_call_int (call, 2, 0), 0), G_MAXINT64, &size))
        return FALSE;
    }
  else
    {
      g_autofree double *x = read_numbers (call, 0, &n);

      if (x == NULL || !find_bins (call, x, n, &bins))
        return FALSE;
      size = ADJ_SIZE (bins);
    }
  op_add_contiguous (call, dtype, 1, &size);
  return TRUE;
}

static gboolean
bincount_kernel (AdjOpCall *call)
{
  gint64 n = 0, n_weights = 0;
  g_autofree double *x = read_numbers (call, 0, &n);
  g_autofree double *weights = NULL;
  g_autofree double *sums = NULL;
  AdjKView out, dense;

  if (x == NULL || !op_output (call, 0, &out))
    return FALSE;
  if (call->args[1].kind == ADJ_VALUE_TENSOR)
    {
      weights = read_numbers (call, 1, &n_weights);
      if (weights == NULL)
        return FALSE;
    }
  sums = op_temporary (op_queue (call), &out, ADJ_K_F64, &dense);
  for (gint64 i = 0; i < n; i++)
    sums[(gint64) x[i]] += weights != NULL ? weights[i] : 1;
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/count.inc"
};

const OpFamily adj_family_count = { ops, G_N_ELEMENTS (ops) };
