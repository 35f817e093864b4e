/* SPDX-License-Identifier: MIT */
/* Normal numbers with tensors of means and deviations, and choices by weights, as PyTorch's CPU
 * kernels draw them. */

#include <math.h>

#include "call/adj-context-internal.h"
#include "ops/random-private.h"
#include "ops/table-private.h"

/* -- normal -- */

/* The sizes of mean and std, broadcast; the dtype of the first of them that is a tensor. */
static gboolean
normal_tensors_meta (AdjOpCall *call)
{
  const AdjShape *operands[2];
  AdjDType dtype = ADJ_DTYPE_NONE;
  AdjShape shape;
  guint n = 0;

  for (guint i = 0; i < 2; i++)
    if (call->args[i].kind == ADJ_VALUE_TENSOR)
      {
        dtype = n == 0 ? adj_op_call_meta (call, i)->dtype : dtype;
        operands[n++] = &adj_op_call_meta (call, i)->shape;
      }
  if (n == 0)
    return adj_op_call_fail (call, "needs a tensor");
  if (!adj_shape_pointwise (&shape, op_symbols (call), operands, n, NULL))
    return adj_op_call_fail (call, "mean and std do not broadcast");
  if (call->args[1].kind != ADJ_VALUE_TENSOR && adj_op_call_double (call, 1, 1) < 0)
    return adj_op_call_fail (call, "std is negative");
  op_add_contiguous (call, dtype, shape.rank, shape.size);
  return op_check_drawn (call);
}

/* A number as deviation scales the drawn numbers, as in PyTorch; a tensor is multiplied afterwards.
 */
static gboolean
normal_tensors_kernel (AdjOpCall *call)
{
  gboolean each = call->args[1].kind == ADJ_VALUE_TENSOR;
  double one = each ? 1 : adj_op_call_double (call, 1, 1);
  AdjKView means, deviations;
  g_autofree double *mean = op_read_spread (call, 0, &means);
  g_autofree double *std = each ? op_read_spread (call, 1, &deviations) : NULL;
  g_autofree double *drawn = NULL;
  AdjKView flat, wide;

  if (mean == NULL || (each && std == NULL) || !op_flat_output (call, 0, &flat) ||
      !op_draw_normal (call, one))
    return FALSE;
  for (gint64 i = 0; each && i < flat.size[0]; i++)
    if (std[i] < 0)
      return adj_op_call_fail (call, "std is negative");
  drawn = op_temporary (op_queue (call), &flat, ADJ_K_F64, &wide);
  adj_q_copy (op_queue (call), &wide, &flat);
  for (gint64 i = 0; i < flat.size[0]; i++)
    drawn[i] = drawn[i] * (each ? std[i] : 1) + mean[i];
  adj_q_copy (op_queue (call), &flat, &wide);
  return TRUE;
}

/* -- choices -- */

/* Categories are along the last dimension of self. */
static gboolean
multinomial_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSymbols *symbols = op_symbols (call);
  gint64 n = adj_op_call_int (call, 1, 0);
  AdjSize sizes[2] = { self->shape.size[0], ADJ_SIZE (n) };
  guint rank = self->shape.rank;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (rank < 1 || rank > 2 || !adj_dtype_is_floating (self->dtype))
    return adj_op_call_fail (call, "needs one or two dimensions of floating point");
  if (n <= 0)
    return adj_op_call_fail (call, "num_samples must be more than 0");
  if (!adj_op_call_bool (call, 2) &&
      adj_size_test (symbols, ADJ_SIZE_LT, self->shape.size[rank - 1], ADJ_SIZE (n)))
    return adj_op_call_fail (call, "has fewer categories than samples without replacement");
  op_add_contiguous (call, ADJ_DTYPE_I64, rank, sizes + 2 - rank);
  return TRUE;
}

static gboolean
check_weights (const AdjOpCall *call, const double *weights, gint64 n)
{
  double sum = 0;

  for (gint64 i = 0; i < n; i++)
    {
      if (!(weights[i] >= 0) || isinf (weights[i]))
        return adj_op_call_fail (call, "weight %" G_GINT64_FORMAT " of a row is %g", i, weights[i]);
      sum += weights[i];
    }
  return sum > 0 || adj_op_call_fail (call, "the weights of a row are all 0");
}

/* The indices of the largest of @ratios, the largest first; chosen ratios become -1. */
static void
take_greatest (double *ratios, gint64 n, gint64 *out, gint64 n_out)
{
  for (gint64 k = 0; k < n_out; k++)
    {
      gint64 best = 0;

      for (gint64 i = 1; i < n; i++)
        if (ratios[i] > ratios[best])
          best = i;
      out[k] = best;
      ratios[best] = -1;
    }
}

/* The type of the weights; in a float64 run the narrower one that float64 replaces. */
static AdjKType
weight_type (const AdjOpCall *call, const AdjKView *self)
{
  AdjDType drawn = adj_context_get_drawn_dtype (call->cx);

  return self->type == ADJ_K_F64 && drawn != ADJ_DTYPE_NONE ? (AdjKType) drawn : self->type;
}

/* Without replacement: weights divided by exponential numbers, each rounded to the dtype of self;
 * the largest are chosen. */
static gboolean
choose_once (AdjOpCall *call, double *weights, const AdjKView *self, const AdjKView *out)
{
  gint64 n = self->size[self->rank - 1], n_out = out->size[out->rank - 1];
  gint64 n_rows = adj_k_view_count (out) / n_out;
  g_autofree double *times = NULL;
  g_autofree gpointer memory = NULL, rounded = NULL;
  AdjKView drawn, wide, ratio, dense;

  memory = op_temporary (op_queue (call), self, weight_type (call, self), &drawn);
  op_draw_exponential (call, &drawn);
  times = op_temporary (op_queue (call), self, ADJ_K_F64, &wide);
  adj_q_copy (op_queue (call), &wide, &drawn);
  for (gint64 i = 0; i < n * n_rows; i++)
    weights[i] /= times[i];
  rounded = op_temporary (op_queue (call), self, drawn.type, &ratio);
  dense = wide;
  dense.data = weights;
  adj_q_copy (op_queue (call), &ratio, &dense);
  adj_q_copy (op_queue (call), &dense, &ratio);
  for (gint64 row = 0; row < n_rows; row++)
    take_greatest (weights + row * n, n, (gint64 *) out->data + row * n_out, n_out);
  return TRUE;
}

/* 16-bit numbers are summed in f32, too. */
static double
as_type (double x, AdjKType type)
{
  return type == ADJ_K_F64 ? x : (float) x;
}

/* With replacement: by cumulative sums of the weights, in f32 or f64. */
static gboolean
choose_often (AdjOpCall *call, double *weights, const AdjKView *self, const AdjKView *out)
{
  gint64 n = self->size[self->rank - 1], n_out = out->size[out->rank - 1];
  AdjKType type = weight_type (call, self);
  gint64 *places = out->data;

  for (gint64 at = 0; at < adj_k_view_count (out); at += n_out, weights += n)
    {
      double sum = 0;

      for (gint64 i = 0; i < n; i++)
        weights[i] = sum = as_type (sum + weights[i], type);
      for (gint64 i = 0; i < n; i++)
        weights[i] = as_type (weights[i] / sum, type);
      weights[n - 1] = 1;
      for (gint64 k = 0; k < n_out; k++)
        {
          double mass = adj_generator_next_uniform (op_generator (call));
          gint64 low = 0, high = n;

          while (low < high)
            {
              gint64 middle = low + (high - low) / 2;

              if (weights[middle] < mass)
                low = middle + 1;
              else
                high = middle;
            }
          places[at + k] = low;
        }
    }
  return TRUE;
}

static gboolean
multinomial_kernel (AdjOpCall *call)
{
  g_autofree double *weights = op_read_numbers (call, 0);
  AdjKView self, out;
  gint64 n;

  if (weights == NULL || !op_input (call, 0, &self) || !op_output (call, 0, &out))
    return FALSE;
  n = self.size[self.rank - 1];
  for (gint64 at = 0; at < adj_k_view_count (&self); at += n)
    if (!check_weights (call, weights + at, n))
      return FALSE;
  if (adj_k_view_count (&out) == 0)
    return TRUE;
  if (n == 0)
    return adj_op_call_fail (call, "there is nothing to choose from");
  return adj_op_call_bool (call, 2) && out.size[out.rank - 1] > 1
             ? choose_often (call, weights, &self, &out)
             : choose_once (call, weights, &self, &out);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/sample.inc"
};

const OpFamily adj_family_sample = { ops, G_N_ELEMENTS (ops) };
