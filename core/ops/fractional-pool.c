/* SPDX-License-Identifier: MIT */
/* Maximum pooling over windows at random positions (B. Graham, "Fractional max-pooling", 2014), as
 * PyTorch's CPU kernels choose them. */

#include <math.h>

#include "ops/pool-private.h"
#include "ops/table-private.h"

/* The @n pooled axes: window sizes and number of windows. */
typedef struct
{
  guint n;
  gint64 kernel[OP_MAX_AXES], output[OP_MAX_AXES];
} Fraction;

static gboolean
read_fraction (const AdjOpCall *call, guint kernel, Fraction *out)
{
  out->n = op_n_axes (call);
  return op_axes (call, kernel, out->n, 1, NULL, out->kernel) &&
         op_axes (call, kernel + 1, out->n, 1, NULL, out->output);
}

/* The sizes to which argument @self is pooled; for volumes PyTorch requires one more element. */
static gboolean
pooled_sizes (const AdjOpCall *call, guint self, const Fraction *fraction, AdjSize *sizes)
{
  const AdjShape *shape = &adj_op_call_meta (call, self)->shape;
  AdjSymbols *symbols = op_symbols (call);
  guint first = shape->rank - fraction->n;

  for (guint i = 0; i < first; i++)
    sizes[i] = shape->size[i];
  for (guint i = 0; i < fraction->n; i++)
    {
      gint64 least = fraction->output[i] + fraction->kernel[i] - (fraction->n == 3 ? 0 : 1);

      sizes[first + i] = ADJ_SIZE (fraction->output[i]);
      if (adj_size_test (symbols, ADJ_SIZE_LT, shape->size[first + i], ADJ_SIZE (least)))
        return adj_op_call_fail (call, "dimension %u is too short for these windows", first + i);
    }
  return TRUE;
}

/* Checks samples: (batch, channels, axes). */
static gboolean
check_samples (const AdjOpCall *call, guint n)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  const AdjTensorMeta *samples = adj_op_call_meta (call, 3);
  AdjSymbols *symbols = op_symbols (call);
  gboolean batched = self->shape.rank == n + 2;

  if (samples->dtype != self->dtype)
    return adj_op_call_fail (call, "random_samples are of another dtype than the input");
  if (samples->shape.rank != 3 || !adj_size_is (symbols, samples->shape.size[2], n) ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, samples->shape.size[1],
                      self->shape.size[batched ? 1 : 0]) ||
      adj_size_test (symbols, ADJ_SIZE_LT, samples->shape.size[0],
                     batched ? self->shape.size[0] : ADJ_SIZE (1)))
    return adj_op_call_fail (call, "random_samples must have %u numbers for each channel", n);
  return TRUE;
}

static gboolean
fractional_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = pool_self (call, 0);
  AdjSize sizes[OP_MAX_AXES + 2];
  Fraction fraction;

  if (self == NULL || !read_fraction (call, 1, &fraction) ||
      !pooled_sizes (call, 0, &fraction, sizes))
    return FALSE;
  if (!adj_dtype_is_floating (self->dtype))
    return adj_op_call_fail (call, "needs floating point");
  if (!check_samples (call, fraction.n))
    return FALSE;
  op_add_contiguous (call, self->dtype, self->shape.rank, sizes);
  op_add_contiguous (call, ADJ_DTYPE_I64, self->shape.rank, sizes);
  return TRUE;
}

static gboolean
fractional_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = pool_self (call, 1);
  AdjSize sizes[OP_MAX_AXES + 2];
  Fraction fraction;

  if (self == NULL || !read_fraction (call, 2, &fraction) ||
      !pooled_sizes (call, 1, &fraction, sizes) ||
      !pool_check_sizes (call, 0, &self->shape, sizes) ||
      !pool_check_sizes (call, 4, &self->shape, sizes))
    return FALSE;
  if (adj_op_call_meta (call, 4)->dtype != ADJ_DTYPE_I64)
    return adj_op_call_fail (call, "indices must be int64");
  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return TRUE;
}

/* -- where windows begin -- */

/* The start of window @i of @n along an axis of @size elements, with intermediate results rounded
 * to @type.  Clamped, so that samples outside of [0, 1) give valid windows. */
static gint64
window_start (AdjKType type, double sample, gint64 i, gint64 n, gint64 size, gint64 kernel)
{
  gint64 last = size - kernel;
  double alpha, start;

  if (i == n - 1)
    return last;
  alpha = op_rounded (type, op_rounded (type, (double) last) / op_rounded (type, (double) (n - 1)));
  start =
      trunc (op_rounded (type, op_rounded (type, op_rounded (type, (double) i) + sample) * alpha)) -
      trunc (op_rounded (type, sample * alpha));
  return start >= 0 ? (gint64) MIN (start, (double) last) : 0;
}

/* A plane of argument 0: three axes, without depth for an image. */
typedef struct
{
  const double *x;
  gint64 size[OP_MAX_AXES], kernel[OP_MAX_AXES], start[OP_MAX_AXES];
} Window;

/* The first of the largest elements; NaN counts as largest. */
static gint64
find_largest (const Window *window)
{
  const gint64 *size = window->size, *start = window->start;
  gint64 best = (start[0] * size[1] + start[1]) * size[2] + start[2];
  double most = -INFINITY;

  for (gint64 d = start[0]; d < start[0] + window->kernel[0]; d++)
    for (gint64 h = start[1]; h < start[1] + window->kernel[1]; h++)
      for (gint64 w = start[2]; w < start[2] + window->kernel[2]; w++)
        {
          gint64 at = (d * size[1] + h) * size[2] + w;

          if (window->x[at] > most || isnan (window->x[at]))
            {
              best = at;
              most = window->x[at];
            }
        }
  return best;
}

/* Samples are in the order of the axes for a volume, reversed for an image. */
static double
sample_of (const double *samples, guint n, guint axis)
{
  return n == 2 ? samples[1 - axis] : samples[axis];
}

/* Maxima of the windows of one plane, and their indices; @window is moved over the plane. */
static void
pool_plane (const Fraction *fraction,
            Window *window,
            const double *samples,
            AdjKType type,
            double *values,
            gint64 *indices)
{
  guint lead = OP_MAX_AXES - fraction->n;
  gint64 n[OP_MAX_AXES] = { 1, 1, 1 }, count;

  for (guint i = 0; i < fraction->n; i++)
    n[lead + i] = fraction->output[i];
  count = n[0] * n[1] * n[2];
  for (gint64 k = 0; k < count; k++)
    {
      const gint64 place[] = { k / (n[1] * n[2]), k / n[2] % n[1], k % n[2] };

      for (guint i = 0; i < fraction->n; i++)
        window->start[lead + i] =
            window_start (type, sample_of (samples, fraction->n, i), place[lead + i], n[lead + i],
                          window->size[lead + i], window->kernel[lead + i]);
      indices[k] = find_largest (window);
      values[k] = window->x[indices[k]];
    }
}

static gboolean
fractional_kernel (AdjOpCall *call)
{
  g_autofree double *x = op_read_numbers (call, 0), *samples = NULL, *values = NULL;
  Window window = { .size = { 1, 1, 1 }, .kernel = { 1, 1, 1 } };
  AdjKView self, out, indices, dense;
  gint64 n_planes, n_windows = 1, n_elements = 1;
  Fraction fraction;
  guint lead;

  if (x == NULL || !read_fraction (call, 1, &fraction) || !op_input (call, 0, &self) ||
      !op_output (call, 0, &out) || !op_output (call, 1, &indices))
    return FALSE;
  samples = op_read_numbers (call, 3);
  if (samples == NULL)
    return FALSE;
  lead = OP_MAX_AXES - fraction.n;
  for (guint i = 0; i < fraction.n; i++)
    {
      window.size[lead + i] = self.size[(guint) self.rank - fraction.n + i];
      window.kernel[lead + i] = fraction.kernel[i];
      n_elements *= window.size[lead + i];
      n_windows *= fraction.output[i];
    }
  n_planes = adj_k_view_count (&out) / n_windows;
  values = op_temporary (NULL, &out, ADJ_K_F64, &dense);
  for (gint64 plane = 0; plane < n_planes; plane++)
    {
      window.x = x + plane * n_elements;
      pool_plane (&fraction, &window, samples + plane * fraction.n, self.type,
                  values + plane * n_windows, (gint64 *) indices.data + plane * n_windows);
    }
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

static gboolean
fractional_backward_kernel (AdjOpCall *call)
{
  return pool_put_back (call, 0, 4, FALSE);
}

/* -- costs -- */

static double
fractional_elements (const AdjOpCall *call)
{
  guint at = adj_op_call_find (call, "kernel_size");
  double product = 1;
  Fraction fraction;

  if (!read_fraction (call, at, &fraction))
    return 1;
  for (guint i = 0; i < fraction.n; i++)
    product *= (double) fraction.kernel[i];
  return product;
}

static double
fractional_flops (const AdjOpCall *call)
{
  return op_count (call, &call->results[0].meta.shape) * fractional_elements (call);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/fractional-pool.inc"
};

const OpFamily adj_family_fractional_pool = { ops, G_N_ELEMENTS (ops) };
