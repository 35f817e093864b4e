/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* Maxima over windows of volumes [D, H, W]: values pass through f64, which holds them all. */

typedef struct
{
  gint64 kernel[3], stride[3], padding[3], dilation[3];
} Windows;

static gboolean
read_windows (const AdjOpCall *call, guint self, Windows *out)
{
  if (!op_axes (call, self + 1, 3, 1, NULL, out->kernel) ||
      !op_axes (call, self + 2, 3, 1, out->kernel, out->stride) ||
      !op_axes (call, self + 3, 3, 0, NULL, out->padding) ||
      !op_axes (call, self + 4, 3, 1, NULL, out->dilation))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    if (out->padding[i] > (out->dilation[i] * (out->kernel[i] - 1) + 1) / 2)
      return adj_op_call_fail (call, "padding is more than half of the window");
  return TRUE;
}

/* The sizes of the pooled argument @self. */
static gboolean
pooled_sizes (const AdjOpCall *call, guint self, Windows *windows, AdjSize *out)
{
  const AdjShape *shape = &adj_op_call_meta (call, self)->shape;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (shape->rank != 4 && shape->rank != 5)
    return adj_op_call_fail (call, "the input has rank %u, not 4 or 5", shape->rank);
  if (!read_windows (call, self, windows))
    return FALSE;
  for (guint i = 0; i < shape->rank - 3; i++)
    out[i] = shape->size[i];
  for (guint i = 0; i < 3; i++)
    {
      const OpWindow window = {
        .kernel = windows->kernel[i],
        .stride = windows->stride[i],
        .padding = windows->padding[i],
        .dilation = windows->dilation[i],
        .ceil = adj_op_call_bool (call, self + 5),
      };
      guint dim = shape->rank - 3 + i;

      out[dim] = op_windows (call, &window, shape->size[dim]);
    }
  return !adj_context_has_error (call->cx);
}

static gboolean
max_pool3d_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSize sizes[5];
  Windows windows;

  if (!pooled_sizes (call, 0, &windows, sizes))
    return FALSE;
  op_add_format (call, self->dtype, self->shape.rank, sizes, op_is_channels_last (call, 0));
  op_add_format (call, ADJ_DTYPE_I64, self->shape.rank, sizes, op_is_channels_last (call, 0));
  return TRUE;
}

static gboolean
max_pool3d_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 1);
  const AdjTensorMeta *indices = adj_op_call_meta (call, 7);
  AdjSize sizes[5];
  Windows windows;
  AdjShape wanted;

  if (!pooled_sizes (call, 1, &windows, sizes))
    return FALSE;
  adj_shape_init (&wanted, op_symbols (call), self->shape.rank, sizes);
  if (!adj_shape_same_sizes (&wanted, &adj_op_call_meta (call, 0)->shape, op_symbols (call)) ||
      !adj_shape_same_sizes (&wanted, &indices->shape, op_symbols (call)))
    return adj_op_call_fail (call, "the gradient and the indices have not the sizes of the result");
  if (indices->dtype != ADJ_DTYPE_I64)
    return adj_op_call_fail (call, "indices must be int64");
  op_add_format (call, self->dtype, self->shape.rank, self->shape.size,
                 op_is_channels_last (call, 1));
  return TRUE;
}

/* Elements begin, begin + step, … < end of one dimension. */
typedef struct
{
  gint64 begin, end, step;
} Span;

static Span
span_of (const Windows *windows, guint axis, gint64 at, gint64 size)
{
  gint64 start = at * windows->stride[axis] - windows->padding[axis];
  Span span = { start, 0, windows->dilation[axis] };

  if (start < 0)
    span.begin += (-start + span.step - 1) / span.step * span.step;
  span.end = MIN (start + (windows->kernel[axis] - 1) * span.step + 1, size);
  return span;
}

/* The place of the largest element of one window; NaN wins. */
static gint64
find_largest (const double *x, const gint64 *size, const Span *span)
{
  gint64 best = -1;

  for (gint64 d = span[0].begin; d < span[0].end; d += span[0].step)
    for (gint64 h = span[1].begin; h < span[1].end; h += span[1].step)
      for (gint64 w = span[2].begin; w < span[2].end; w += span[2].step)
        {
          gint64 here = (d * size[1] + h) * size[2] + w;

          if (best < 0 || x[here] > x[best] || isnan (x[here]))
            best = here;
        }
  return best;
}

static void
pool_volume (const Windows *windows,
             const double *x,
             const gint64 *size,
             const gint64 *out,
             double *y,
             gint64 *indices)
{
  for (gint64 i = 0; i < out[0] * out[1] * out[2]; i++)
    {
      const Span span[] = { span_of (windows, 0, i / out[2] / out[1], size[0]),
                            span_of (windows, 1, i / out[2] % out[1], size[1]),
                            span_of (windows, 2, i % out[2], size[2]) };
      gint64 best = find_largest (x, size, span);

      indices[i] = best;
      y[i] = best >= 0 ? x[best] : -INFINITY;
    }
}

static gboolean
max_pool3d_kernel (AdjOpCall *call)
{
  g_autofree double *x = NULL;
  g_autofree double *y = NULL;
  g_autofree gint64 *places = NULL;
  AdjKView in, out, index, wide, pooled, found;
  const gint64 *size, *n;
  gint64 n_in, n_out;
  Windows windows;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &out) || !op_output (call, 1, &index) ||
      !read_windows (call, 0, &windows))
    return FALSE;
  x = op_temporary (&in, ADJ_K_F64, &wide);
  y = op_temporary (&out, ADJ_K_F64, &pooled);
  places = op_temporary (&index, ADJ_K_I64, &found);
  adj_k_copy (&wide, &in);
  size = in.size + in.rank - 3;
  n = out.size + out.rank - 3;
  n_in = size[0] * size[1] * size[2];
  n_out = n[0] * n[1] * n[2];
  for (gint64 i = 0, count = adj_k_view_count (&out); i < count; i += n_out)
    pool_volume (&windows, x + i / n_out * n_in, size, n, y + i, places + i);
  adj_k_copy (&out, &pooled);
  adj_k_copy (&index, &found);
  return TRUE;
}

static gboolean
max_pool3d_backward_kernel (AdjOpCall *call)
{
  g_autofree double *gx = NULL;
  g_autofree double *grads = NULL;
  g_autofree gint64 *places = NULL;
  AdjKView g, index, out, wide, narrow, found;
  gint64 n_in, n_out;

  if (!op_input (call, 0, &g) || !op_input (call, 7, &index) || !op_output (call, 0, &out))
    return FALSE;
  gx = op_temporary (&out, ADJ_K_F64, &wide);
  grads = op_temporary (&g, ADJ_K_F64, &narrow);
  places = op_temporary (&index, ADJ_K_I64, &found);
  adj_k_copy (&narrow, &g);
  adj_k_copy (&found, &index);
  adj_k_fill_i64 (&wide, 0);
  n_in = out.size[out.rank - 3] * out.size[out.rank - 2] * out.size[out.rank - 1];
  n_out = g.size[g.rank - 3] * g.size[g.rank - 2] * g.size[g.rank - 1];
  for (gint64 i = 0; i < adj_k_view_count (&g); i++)
    {
      if (places[i] < 0 || places[i] >= n_in)
        return op_bad_index (call, places[i]);
      gx[i / n_out * n_in + places[i]] += grads[i];
    }
  adj_k_copy (&out, &wide);
  return TRUE;
}

/* -- costs -- */

static double
max_pool3d_elements (const AdjOpCall *call)
{
  guint self = call->schema->n_returns == 2 ? 0 : 1;
  gint64 kernel[3];

  return op_axes (call, self + 1, 3, 1, NULL, kernel)
             ? (double) kernel[0] * (double) kernel[1] * (double) kernel[2]
             : 1;
}

static double
max_pool3d_flops (const AdjOpCall *call)
{
  return call->schema->n_returns == 2
             ? max_pool3d_elements (call) * op_count (call, &call->results[0].meta.shape)
             : op_count (call, &adj_op_call_meta (call, 0)->shape);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/pool3d.inc"
};

const OpFamily adj_family_pool3d = { ops, G_N_ELEMENTS (ops) };
