/* SPDX-License-Identifier: MIT */
/* Maximum and average pooling over windows, with indices or offsets, and their backward. */

#include "ops/pool-private.h"
#include "ops/table-private.h"

/* Arguments common to windowed operators: kernel size, stride and padding follow self. */
typedef struct
{
  gint64 kernel[OP_MAX_AXES], stride[OP_MAX_AXES], padding[OP_MAX_AXES], dilation[OP_MAX_AXES];
} Windows;

/* @dilation: index of its argument, 0 if there is none. */
static gboolean
read_windows (const AdjOpCall *call, guint self, guint dilation, Windows *out)
{
  guint n = op_n_axes (call);

  *out = (Windows){ .dilation = { 1, 1, 1 } };
  if (!op_axes (call, self + 1, n, 1, NULL, out->kernel) ||
      !op_axes (call, self + 2, n, 1, out->kernel, out->stride) ||
      !op_axes (call, self + 3, n, 0, NULL, out->padding) ||
      (dilation > 0 && !op_axes (call, dilation, n, 1, NULL, out->dilation)))
    return FALSE;
  for (guint i = 0; i < n; i++)
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
  guint n = op_n_axes (call), first = shape->rank - n;

  for (guint i = 0; i < first; i++)
    out[i] = shape->size[i];
  for (guint i = 0; i < n; i++)
    {
      OpWindow window = {
        .kernel = windows->kernel[i],
        .stride = windows->stride[i],
        .padding = windows->padding[i],
        .dilation = windows->dilation[i],
        .ceil = ceil_mode,
      };

      out[first + i] = op_windows (call, &window, shape->size[first + i]);
    }
  return !adj_context_has_error (call->cx);
}

/* -- maxima -- */

static gboolean
max_pool_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = pool_self (call, 0);
  AdjSize sizes[OP_MAX_AXES + 2];
  Windows windows;

  if (self == NULL || !read_windows (call, 0, 4, &windows) ||
      !pooled_sizes (call, 0, &windows, adj_op_call_bool (call, 5), sizes))
    return FALSE;
  return pool_add_like (call, 0, self->dtype, sizes) &&
         pool_add_like (call, 0, ADJ_DTYPE_I64, sizes);
}

static gboolean
max_pool_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = pool_self (call, 1);
  AdjSize sizes[OP_MAX_AXES + 2];
  Windows windows;

  if (self == NULL || !read_windows (call, 1, 5, &windows) ||
      !pooled_sizes (call, 1, &windows, adj_op_call_bool (call, 6), sizes) ||
      !pool_check_sizes (call, 0, &self->shape, sizes) ||
      !pool_check_sizes (call, 7, &self->shape, sizes))
    return FALSE;
  if (adj_op_call_meta (call, 7)->dtype != ADJ_DTYPE_I64)
    return adj_op_call_fail (call, "indices must be int64");
  return pool_add_gradient (call);
}

static AdjKPool
pool_new (const Windows *windows, guint n)
{
  AdjKPool pool = { .adaptive = FALSE };

  for (guint i = 0; i < OP_MAX_AXES; i++)
    {
      gboolean has = i + n >= OP_MAX_AXES;
      guint from = has ? i + n - OP_MAX_AXES : 0;

      pool.kernel[i] = has ? windows->kernel[from] : 1;
      pool.stride[i] = has ? windows->stride[from] : 1;
      pool.padding[i] = has ? windows->padding[from] : 0;
      pool.dilation[i] = has ? windows->dilation[from] : 1;
    }
  return pool;
}

static gboolean
max_pool_kernel (AdjOpCall *call)
{
  Windows windows;
  AdjKPool pool;

  if (!read_windows (call, 0, 4, &windows))
    return FALSE;
  pool = pool_new (&windows, op_n_axes (call));
  return pool_write_maxima (call, &pool);
}

static gboolean
max_pool_backward_kernel (AdjOpCall *call)
{
  return pool_put_back (call, 0, 7, FALSE);
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

/* Inductor's kernel ignores the dilation. */
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

/* Converts the dense indices @places by @convert. */
static void
convert_indices (const AdjKView *places,
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
  pool = pool_new (&windows, op_n_axes (call));
  if (!pool_write (call, 0, &pool.y) || !pool_write (call, 1, &offsets) ||
      !pool_read (call, 0, &pool.x))
    return FALSE;
  memory = op_temporary (op_queue (call), &offsets, ADJ_K_I64, &indices);
  if (!adj_q_max_pool (op_queue (call), &pool, &indices))
    return op_no_memory (call);
  convert_indices (&indices, pool.x.size[pool.x.rank - 1], &windows, offset_of_index);
  adj_q_copy (op_queue (call), &offsets, &indices);
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
  memory = op_temporary (op_queue (call), &offsets, ADJ_K_I64, &indices);
  adj_q_copy (op_queue (call), &indices, &offsets);
  convert_indices (&indices, adj_op_call_int (call, 2, 1), &windows, index_of_offset);
  adj_q_copy (op_queue (call), &out, &indices);
  return TRUE;
}

/* -- averages -- */

static gboolean
avg_pool_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = pool_self (call, 0);
  AdjSize sizes[OP_MAX_AXES + 2];
  Windows windows;

  if (self == NULL || !read_windows (call, 0, 0, &windows) ||
      !pooled_sizes (call, 0, &windows, adj_op_call_bool (call, 4), sizes))
    return FALSE;
  if (adj_op_call_int (call, 6, 1) == 0)
    return adj_op_call_fail (call, "divisor_override must not be 0");
  return pool_add_like (call, 0, self->dtype, sizes);
}

static gboolean
avg_pool_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = pool_self (call, 1);
  AdjSize sizes[OP_MAX_AXES + 2];
  Windows windows;

  if (self == NULL || !read_windows (call, 1, 0, &windows) ||
      !pooled_sizes (call, 1, &windows, adj_op_call_bool (call, 5), sizes) ||
      !pool_check_sizes (call, 0, &self->shape, sizes))
    return FALSE;
  if (adj_op_call_int (call, 7, 1) == 0)
    return adj_op_call_fail (call, "divisor_override must not be 0");
  return pool_add_gradient (call);
}

/* Average pooling of argument @self; x and y are not set. */
static gboolean
read_average (const AdjOpCall *call, guint self, AdjKPool *pool)
{
  Windows windows;

  if (!read_windows (call, self, 0, &windows))
    return FALSE;
  *pool = pool_new (&windows, op_n_axes (call));
  pool->counts_padding = adj_op_call_bool (call, self + 5);
  pool->divisor = adj_op_call_int (call, self + 6, 0);
  return TRUE;
}

static gboolean
avg_pool_kernel (AdjOpCall *call)
{
  AdjKPool pool;

  if (!read_average (call, 0, &pool) || !pool_read (call, 0, &pool.x) ||
      !pool_write (call, 0, &pool.y))
    return FALSE;
  return adj_q_avg_pool (op_queue (call), &pool) || op_no_memory (call);
}

static gboolean
avg_pool_backward_kernel (AdjOpCall *call)
{
  AdjKPool pool;

  if (!read_average (call, 1, &pool) || !pool_read (call, 0, &pool.y) ||
      !pool_write (call, 0, &pool.x))
    return FALSE;
  return adj_q_avg_pool_backward (op_queue (call), &pool) || op_no_memory (call);
}

/* -- costs -- */

static double
window_elements (const AdjOpCall *call)
{
  guint arg = adj_op_call_find (call, "kernel_size"), n = op_n_axes (call);
  AdjSize sizes[ADJ_MAX_RANK];
  guint given = adj_op_call_sizes (call, arg, sizes);
  double product = 1;

  for (guint i = 0; i < n && given > 0; i++)
    {
      gint64 size = 1;

      adj_size_get_hint (op_symbols (call), sizes[given == n ? i : 0], &size);
      product *= (double) size;
    }
  return product;
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

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/pool.inc"
};

const OpFamily adj_family_pool = { ops, G_N_ELEMENTS (ops) };
