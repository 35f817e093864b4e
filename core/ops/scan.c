/* SPDX-License-Identifier: MIT */
/* cummax, cummin, logcumsumexp: running values along a dimension. */

#include <complex.h>
#include <math.h>
#include <string.h>

#include "ops/parts-private.h"
#include "ops/table-private.h"

static guint
dim_of (const AdjOpCall *call)
{
  return op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
}

static gboolean
extremes_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  dim_of (call);
  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  op_add_contiguous (call, ADJ_DTYPE_I64, self->shape.rank, self->shape.size);
  return !adj_context_has_error (call->cx);
}

static gboolean
logcumsumexp_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  dim_of (call);
  if (!adj_dtype_is_differentiable (self->dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (self->dtype)->torch_name);
  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return !adj_context_has_error (call->cx);
}

/* Rows along one dimension: @n elements @step apart, of @n_rows rows. */
typedef struct
{
  gint64 n, step, n_rows;
} Rows;

/* Of dense elements in row-major order. */
static Rows
rows_of (const AdjKView *dense, guint dim)
{
  Rows rows = { .n = dense->size[dim], .step = dense->stride[dim] };

  rows.n_rows = rows.n > 0 ? adj_k_view_count (dense) / rows.n : 0;
  return rows;
}

static gint64
row_start (const Rows *rows, gint64 row)
{
  return row / rows->step * rows->step * rows->n + row % rows->step;
}

/* self, or its current part, as numbers of one class, dense; the caller frees them. */
static gpointer
read_self (const AdjOpCall *call, AdjKView *dense)
{
  AdjKView in;
  gpointer memory;

  if (!op_input (call, 0, &in) || !op_check_temporary (call, adj_k_view_count (&in)))
    return NULL;
  op_need_dim (&in);
  memory = op_temporary (op_queue (call), &in,
                         adj_k_type_is_float (in.type) ? ADJ_K_F64 : ADJ_K_I64, dense);
  adj_q_copy (op_queue (call), dense, &in);
  return memory;
}

/* Whether @x replaces @best: also if it is equal or NaN. */
static gboolean
is_next_double (double x, double best, gboolean largest)
{
  if (isnan (x) || isnan (best))
    return isnan (x);
  return largest ? x >= best : x <= best;
}

static void
scan_extremes (
    gpointer elements, gboolean is_float, gint64 *indices, const Rows *rows, gboolean largest)
{
  for (gint64 row = 0; row < rows->n_rows; row++)
    {
      gint64 start = row_start (rows, row), best = 0;

      for (gint64 i = 0; i < rows->n; i++)
        {
          gint64 at = start + i * rows->step, to = start + best * rows->step;
          const double *x = elements;
          const gint64 *k = elements;
          gboolean next = is_float  ? is_next_double (x[at], x[to], largest)
                          : largest ? k[at] >= k[to]
                                    : k[at] <= k[to];

          if (next)
            best = i;
          indices[at] = best;
        }
    }
}

static gboolean
extremes (AdjOpCall *call, gboolean largest)
{
  AdjKView dense, values, indices;
  g_autofree gpointer memory = read_self (call, &dense);
  g_autofree gint64 *elements = NULL;
  const gint64 *picked;
  gint64 n = memory != NULL ? adj_k_view_count (&dense) : 0;
  Rows rows;

  if (memory == NULL || !op_output (call, 0, &values) || !op_output (call, 1, &indices))
    return FALSE;
  rows = rows_of (&dense, dim_of (call));
  scan_extremes (memory, dense.type == ADJ_K_F64, indices.data, &rows, largest);
  elements = g_new (gint64, MAX (n, 1)); /* as wide as a double */
  picked = indices.data;
  for (gint64 row = 0; row < rows.n_rows; row++)
    for (gint64 i = 0; i < rows.n; i++)
      {
        gint64 start = row_start (&rows, row), at = start + i * rows.step;

        elements[at] = ((gint64 *) memory)[start + picked[at] * rows.step];
      }
  dense.data = elements;
  adj_q_copy (op_queue (call), &values, &dense);
  return TRUE;
}

static gboolean
cummax_kernel (AdjOpCall *call)
{
  return extremes (call, TRUE);
}

static gboolean
cummin_kernel (AdjOpCall *call)
{
  return extremes (call, FALSE);
}

/* ln (e^a + e^b) */
static double
log_add_exp (double a, double b)
{
  double low = fmin (a, b), high = fmax (a, b);

  if (isnan (a) || isnan (b))
    return NAN;
  return low == high && isinf (low) ? a : log1p (exp (low - high)) + high;
}

/* CMPLX(), which glibc does not give to Clang. */
static double _Complex complex_of (double re, double im)
{
  const double parts[] = { re, im };
  double _Complex z;

  memcpy (&z, parts, sizeof z);
  return z;
}

/* ln (1 + z) */
static double _Complex log1p_of (double _Complex z)
{
  double re = creal (z), im = cimag (z);

  return complex_of (log1p (re * (2 + re) + im * im) / 2, atan2 (im, 1 + re));
}

/* The same for complex numbers; the larger real part is factored out. */
static double _Complex log_add_exp_of (double _Complex a, double _Complex b)
{
  gboolean first = isnan (creal (a)) || (!isnan (creal (b)) && creal (a) < creal (b));
  double _Complex low = first ? a : b, high = first ? b : a;

  if (isnan (creal (a)) || isnan (cimag (a)) || isnan (creal (b)) || isnan (cimag (b)))
    return complex_of (NAN, NAN);
  if (isinf (creal (low)) && creal (low) == creal (high))
    return creal (low) < 0 ? low : clog (cexp (low) + cexp (high));
  return log1p_of (cexp (low - high)) + high;
}

static void
scan_complex (double *re, double *im, const Rows *rows)
{
  for (gint64 row = 0; row < rows->n_rows; row++)
    {
      gint64 start = row_start (rows, row);
      double _Complex sum = complex_of (-INFINITY, 0);

      for (gint64 i = 0; i < rows->n; i++)
        {
          gint64 at = start + i * rows->step;

          sum = log_add_exp_of (complex_of (re[at], im[at]), sum);
          re[at] = creal (sum);
          im[at] = cimag (sum);
        }
    }
}

static gboolean
logcumsumexp_of_complex (AdjOpCall *call)
{
  AdjOpCall real = *call, imaginary = *call;
  g_autofree double *re = NULL;
  g_autofree double *im = NULL;
  OpParts x, out;
  Rows rows;

  real.part = ADJ_PART_REAL;
  imaginary.part = ADJ_PART_IMAGINARY;
  if ((re = read_self (&real, &x.re)) == NULL || (im = read_self (&imaginary, &x.im)) == NULL ||
      !op_output_parts (call, 0, &out))
    return FALSE;
  rows = rows_of (&x.re, dim_of (call));
  scan_complex (re, im, &rows);
  op_copy_parts (call, &out, &x);
  return TRUE;
}

static gboolean
logcumsumexp_kernel (AdjOpCall *call)
{
  AdjKView dense, out;
  g_autofree double *x = NULL;
  Rows rows;

  if (op_is_complex (call->results[0].meta.dtype))
    return logcumsumexp_of_complex (call);
  x = read_self (call, &dense);
  if (x == NULL || !op_output (call, 0, &out))
    return FALSE;
  rows = rows_of (&dense, dim_of (call));
  for (gint64 row = 0; row < rows.n_rows; row++)
    {
      gint64 start = row_start (&rows, row);
      double sum = -INFINITY;

      for (gint64 i = 0; i < rows.n; i++)
        {
          sum = log_add_exp (x[start + i * rows.step], sum);
          x[start + i * rows.step] = sum;
        }
    }
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/scan.inc"
};

const OpFamily adj_family_scan = { ops, G_N_ELEMENTS (ops) };
