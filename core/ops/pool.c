/* SPDX-License-Identifier: MIT */
#include "adj-kernel-pool.h"

#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* Arguments of all windowed operators: kernel size, stride and padding follow self. */
typedef struct
{
  gint64 kernel[2], stride[2], padding[2], dilation[2];
} Windows;

/* Rank 3 or 4, argument @arg, of a dtype that can be averaged or compared. */
static const AdjTensorMeta *
check_self (const AdjOpCall *call, guint arg)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, arg);

  if (adj_context_has_error (call->cx))
    return NULL;
  if (self->shape.rank != 3 && self->shape.rank != 4)
    {
      adj_op_call_fail (call, "the input has rank %u, not 3 or 4", self->shape.rank);
      return NULL;
    }
  return self;
}

/* @dilation: its argument, 0 when there is none. */
static gboolean
read_windows (const AdjOpCall *call, guint self, guint dilation, Windows *out)
{
  *out = (Windows){ .dilation = { 1, 1 } };
  if (!op_axes (call, self + 1, 2, 1, NULL, out->kernel) ||
      !op_axes (call, self + 2, 2, 1, out->kernel, out->stride) ||
      !op_axes (call, self + 3, 2, 0, NULL, out->padding) ||
      (dilation > 0 && !op_axes (call, dilation, 2, 1, NULL, out->dilation)))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (out->padding[i] > (out->dilation[i] * (out->kernel[i] - 1) + 1) / 2)
      return adj_op_call_fail (call, "padding is more than half of the window");
  return TRUE;
}

/* The sizes of the pooled argument @self. */
static gboolean
pooled_sizes (
    const AdjOpCall *call, guint self, const Windows *windows, gboolean ceil_mode, AdjSize *out)
{
  const AdjShape *shape = &adj_op_call_meta (call, self)->shape;

  for (guint i = 0; i < shape->rank - 2; i++)
    out[i] = shape->size[i];
  for (guint i = 0; i < 2; i++)
    {
      OpWindow window = {
        .kernel = windows->kernel[i],
        .stride = windows->stride[i],
        .padding = windows->padding[i],
        .dilation = windows->dilation[i],
        .ceil = ceil_mode,
      };
      guint dim = shape->rank - 2 + i;

      out[dim] = op_windows (call, &window, shape->size[dim]);
    }
  return !adj_context_has_error (call->cx);
}

/* Whether argument @arg has the sizes @sizes and the rank of @like. */
static gboolean
check_sizes (const AdjOpCall *call, guint arg, const AdjShape *like, const AdjSize *sizes)
{
  const AdjShape *shape = &adj_op_call_meta (call, arg)->shape;
  AdjShape wanted;

  adj_shape_init (&wanted, op_symbols (call), like->rank, sizes);
  if (!adj_shape_same_sizes (shape, &wanted, op_symbols (call)))
    {
      g_autofree char *a = op_sizes_text (call, shape);
      g_autofree char *b = op_sizes_text (call, &wanted);

      return adj_op_call_fail (call, "argument '%s' is %s, not %s",
                               call->schema->arguments[arg].name, a, b);
    }
  return TRUE;
}

/* A result in the format of argument @self. */
static gboolean
add_like (AdjOpCall *call, guint self, AdjDType dtype, const AdjSize *sizes)
{
  op_add_format (call, dtype, adj_op_call_meta (call, self)->shape.rank, sizes,
                 op_is_channels_last (call, self));
  return TRUE;
}

/* The gradient of argument 1. */
static gboolean
add_gradient (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 1);

  if (adj_op_call_meta (call, 0)->dtype != self->dtype)
    return adj_op_call_fail (call, "the gradient has another dtype than the input");
  return add_like (call, 1, self->dtype, self->shape.size);
}

/* -- maxima -- */

static gboolean
max_pool_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = check_self (call, 0);
  AdjSize sizes[4];
  Windows windows;

  if (self == NULL || !read_windows (call, 0, 4, &windows) ||
      !pooled_sizes (call, 0, &windows, adj_op_call_bool (call, 5), sizes))
    return FALSE;
  return add_like (call, 0, self->dtype, sizes) && add_like (call, 0, ADJ_DTYPE_I64, sizes);
}

static gboolean
max_pool_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = check_self (call, 1);
  AdjSize sizes[4];
  Windows windows;

  if (self == NULL || !read_windows (call, 1, 5, &windows) ||
      !pooled_sizes (call, 1, &windows, adj_op_call_bool (call, 6), sizes) ||
      !check_sizes (call, 0, &self->shape, sizes) || !check_sizes (call, 7, &self->shape, sizes))
    return FALSE;
  if (adj_op_call_meta (call, 7)->dtype != ADJ_DTYPE_I64)
    return adj_op_call_fail (call, "indices must be int64");
  return add_gradient (call);
}

static AdjKPool
pool_new (const Windows *windows)
{
  AdjKPool pool = { .adaptive = FALSE };

  for (guint i = 0; i < 2; i++)
    {
      pool.kernel[i] = windows->kernel[i];
      pool.stride[i] = windows->stride[i];
      pool.padding[i] = windows->padding[i];
      pool.dilation[i] = windows->dilation[i];
    }
  return pool;
}

static gboolean
max_pool_kernel (AdjOpCall *call)
{
  AdjKView indices;
  Windows windows;
  AdjKPool pool;

  if (!read_windows (call, 0, 4, &windows))
    return FALSE;
  pool = pool_new (&windows);
  if (!op_input (call, 0, &pool.x) || !op_output (call, 0, &pool.y) ||
      !op_output (call, 1, &indices))
    return FALSE;
  return adj_k_max_pool (&pool, &indices) || op_no_memory (call);
}

static gboolean
max_pool_backward_kernel (AdjOpCall *call)
{
  AdjKView gx, g, indices;
  gint64 bad;

  if (!op_input (call, 0, &g) || !op_input (call, 7, &indices) || !op_output (call, 0, &gx))
    return FALSE;
  if (!adj_k_max_pool_check (&indices, gx.size[gx.rank - 2] * gx.size[gx.rank - 1], &bad))
    return op_bad_index (call, bad);
  return adj_k_max_pool_backward (&gx, &g, &indices) || op_no_memory (call);
}

/* -- maxima by their place in the window -- */

static gboolean
offsets_meta (AdjOpCall *call)
{
  if (!max_pool_meta (call))
    return FALSE;
  call->results[1].meta.dtype = ADJ_DTYPE_I8;
  return TRUE;
}

/* -- Unsigned: places may be any numbers, which then give some number too. -- */

/* Inductor's kernel counts as if there were no dilation. */
static gint64
offset_of_index (gint64 index, gint64 width, const Windows *windows, const gint64 *window)
{
  guint64 row = (guint64) (index / width), column = (guint64) (index % width);

  row -= (guint64) window[0] * windows->stride[0] - windows->padding[0];
  column -= (guint64) window[1] * windows->stride[1] - windows->padding[1];
  return (gint64) (row * windows->kernel[1] + column);
}

static gint64
index_of_offset (gint64 offset, gint64 width, const Windows *windows, const gint64 *window)
{
  guint64 row = (guint64) (offset / windows->kernel[1]);
  guint64 column = (guint64) (offset % windows->kernel[1]);

  row += (guint64) window[0] * windows->stride[0] - windows->padding[0];
  column += (guint64) window[1] * windows->stride[1] - windows->padding[1];
  return (gint64) (row * (guint64) width + column);
}

/* Replaces @places, dense, by what @convert makes of them. */
static void
convert_places (const AdjKView *places,
                gint64 width,
                const Windows *windows,
                gint64 (*convert) (gint64, gint64, const Windows *, const gint64 *))
{
  gint64 n = adj_k_view_count (places);
  gint64 rows = places->size[places->rank - 2], columns = places->size[places->rank - 1];
  gint64 *values = places->data;

  for (gint64 i = 0; i < n; i++)
    {
      const gint64 window[] = { i / columns % rows, i % columns };

      values[i] = convert (values[i], width, windows, window);
    }
}

static gboolean
offsets_kernel (AdjOpCall *call)
{
  AdjKView offsets, indices;
  g_autofree gpointer memory = NULL;
  Windows windows;
  AdjKPool pool;

  if (!read_windows (call, 0, 4, &windows))
    return FALSE;
  pool = pool_new (&windows);
  if (!op_output (call, 0, &pool.y) || !op_output (call, 1, &offsets) ||
      !op_input (call, 0, &pool.x))
    return FALSE;
  memory = op_temporary (&offsets, ADJ_K_I64, &indices);
  if (!adj_k_max_pool (&pool, &indices))
    return op_no_memory (call);
  convert_places (&indices, pool.x.size[pool.x.rank - 1], &windows, offset_of_index);
  adj_k_copy (&offsets, &indices);
  return TRUE;
}

static gboolean
to_indices_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  gint64 pair[2];
  AdjShape shape;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (self->shape.rank < 2 || adj_dtype_is_floating (self->dtype) ||
      self->dtype == ADJ_DTYPE_BOOL || adj_op_call_int (call, 1, 0) < 1)
    return adj_op_call_fail (call, "needs integers of at least two dimensions and a window");
  if (!op_axes (call, 3, 2, 1, NULL, pair) || !op_axes (call, 4, 2, 0, NULL, pair))
    return FALSE;
  shape = self->shape;
  shape.offset = ADJ_SIZE (0);
  adj_shape_set_format (&shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &self->shape);
  adj_op_call_add (call, ADJ_DTYPE_I64, &shape);
  return TRUE;
}

static gboolean
to_indices_kernel (AdjOpCall *call)
{
  Windows windows = { .kernel = { 1, adj_op_call_int (call, 1, 1) } };
  AdjKView offsets, out, indices;
  g_autofree gpointer memory = NULL;

  if (!op_axes (call, 3, 2, 1, NULL, windows.stride) ||
      !op_axes (call, 4, 2, 0, NULL, windows.padding) || !op_output (call, 0, &out) ||
      !op_input (call, 0, &offsets))
    return FALSE;
  memory = op_temporary (&offsets, ADJ_K_I64, &indices);
  adj_k_copy (&indices, &offsets);
  convert_places (&indices, adj_op_call_int (call, 2, 1), &windows, index_of_offset);
  adj_k_copy (&out, &indices);
  return TRUE;
}

/* -- averages -- */

static gboolean
avg_pool_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = check_self (call, 0);
  AdjSize sizes[4];
  Windows windows;

  if (self == NULL || !read_windows (call, 0, 0, &windows) ||
      !pooled_sizes (call, 0, &windows, adj_op_call_bool (call, 4), sizes))
    return FALSE;
  if (adj_op_call_int (call, 6, 1) == 0)
    return adj_op_call_fail (call, "divisor_override must not be 0");
  return add_like (call, 0, self->dtype, sizes);
}

static gboolean
avg_pool_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = check_self (call, 1);
  AdjSize sizes[4];
  Windows windows;

  if (self == NULL || !read_windows (call, 1, 0, &windows) ||
      !pooled_sizes (call, 1, &windows, adj_op_call_bool (call, 5), sizes) ||
      !check_sizes (call, 0, &self->shape, sizes))
    return FALSE;
  if (adj_op_call_int (call, 7, 1) == 0)
    return adj_op_call_fail (call, "divisor_override must not be 0");
  return add_gradient (call);
}

/* The averages over windows of argument @self; x and y are not set. */
static gboolean
read_average (const AdjOpCall *call, guint self, AdjKPool *pool)
{
  Windows windows;

  if (!read_windows (call, self, 0, &windows))
    return FALSE;
  *pool = pool_new (&windows);
  pool->counts_padding = adj_op_call_bool (call, self + 5);
  pool->divisor = adj_op_call_int (call, self + 6, 0);
  return TRUE;
}

static gboolean
avg_pool_kernel (AdjOpCall *call)
{
  AdjKPool pool;

  if (!read_average (call, 0, &pool) || !op_input (call, 0, &pool.x) ||
      !op_output (call, 0, &pool.y))
    return FALSE;
  return adj_k_avg_pool (&pool) || op_no_memory (call);
}

static gboolean
avg_pool_backward_kernel (AdjOpCall *call)
{
  AdjKPool pool;

  if (!read_average (call, 1, &pool) || !op_input (call, 0, &pool.y) ||
      !op_output (call, 0, &pool.x))
    return FALSE;
  return adj_k_avg_pool_backward (&pool) || op_no_memory (call);
}

/* -- adaptive averages -- */

static gboolean
check_floating (const AdjOpCall *call, const AdjTensorMeta *self)
{
  return adj_dtype_is_floating (self->dtype) ||
         adj_op_call_fail (call, "needs floating point, not %s",
                           adj_dtype_info (self->dtype)->torch_name);
}

static gboolean
adaptive_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = check_self (call, 0);
  AdjSize output[ADJ_MAX_RANK], sizes[4];
  guint n = adj_op_call_sizes (call, 1, output);

  if (self == NULL || adj_context_has_error (call->cx) || !check_floating (call, self))
    return FALSE;
  if (n != 1 && n != 2)
    return adj_op_call_fail (call, "output_size has %u entries for 2 dimensions", n);
  for (guint i = 0; i < self->shape.rank; i++)
    sizes[i] = self->shape.size[i];
  for (guint i = 0; i < 2; i++)
    {
      sizes[self->shape.rank - 2 + i] = output[n == 1 ? 0 : i];
      if (adj_size_test (op_symbols (call), ADJ_SIZE_LT, output[n == 1 ? 0 : i], ADJ_SIZE (0)))
        return adj_op_call_fail (call, "output_size is negative");
    }
  return add_like (call, 0, self->dtype, sizes);
}

static gboolean
adaptive_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = check_self (call, 1);
  const AdjShape *grad = &adj_op_call_meta (call, 0)->shape;
  AdjSize sizes[4];

  if (self == NULL || !check_floating (call, self))
    return FALSE;
  for (guint i = 0; i < self->shape.rank; i++)
    sizes[i] = i + 2 < self->shape.rank || grad->rank != self->shape.rank ? self->shape.size[i]
                                                                          : grad->size[i];
  return check_sizes (call, 0, &self->shape, sizes) && add_gradient (call);
}

static gboolean
adaptive_kernel (AdjOpCall *call)
{
  AdjKPool pool = { .adaptive = TRUE };

  if (!op_input (call, 0, &pool.x) || !op_output (call, 0, &pool.y))
    return FALSE;
  return adj_k_avg_pool (&pool) || op_no_memory (call);
}

static gboolean
adaptive_backward_kernel (AdjOpCall *call)
{
  AdjKPool pool = { .adaptive = TRUE };

  if (!op_input (call, 0, &pool.y) || !op_output (call, 0, &pool.x))
    return FALSE;
  return adj_k_avg_pool_backward (&pool) || op_no_memory (call);
}

/* -- costs -- */

static double
window_elements (const AdjOpCall *call)
{
  guint arg = adj_op_call_find (call, "kernel_size");
  AdjSize sizes[ADJ_MAX_RANK];
  guint n = adj_op_call_sizes (call, arg, sizes);
  gint64 first = 1, last = 1;

  if (n == 0)
    return 1;
  adj_size_get_hint (op_symbols (call), sizes[0], &first);
  adj_size_get_hint (op_symbols (call), sizes[n - 1], &last);
  return (double) first * (double) last;
}

static double
window_flops (const AdjOpCall *call)
{
  return op_count (call, &call->results[0].meta.shape) * window_elements (call);
}

static double
gradient_flops (const AdjOpCall *call)
{
  return op_count (call, &adj_op_call_meta (call, 0)->shape);
}

static double
adaptive_flops (const AdjOpCall *call)
{
  return op_count (call, &adj_op_call_meta (call, 0)->shape);
}

static double
adaptive_elements (const AdjOpCall *call)
{
  return op_count (call, &adj_op_call_meta (call, 0)->shape) /
         MAX (op_count (call, &call->results[0].meta.shape), 1);
}

/* How many windows an element may belong to. */
static double
adaptive_backward_elements (const AdjOpCall *call)
{
  return MAX (4, op_count (call, &adj_op_call_meta (call, 0)->shape) /
                     MAX (op_count (call, &adj_op_call_meta (call, 1)->shape), 1));
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/pool.inc"
};

const OpFamily adj_family_pool = { ops, G_N_ELEMENTS (ops) };
