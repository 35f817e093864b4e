/* SPDX-License-Identifier: MIT */
/* im2col and col2im: windows of images as columns, and back. */

#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* Windows of images [N, C, H, W] as columns [N, C · KH · KW, OH · OW], and back.  Both are views of
 * [N, C, KH, KW, OH, OW]: of the columns, and of the image with its border. */

typedef struct
{
  gint64 kernel[2], dilation[2], padding[2], stride[2];
} Windows;

static gboolean
read_windows (const AdjOpCall *call, guint first, Windows *out)
{
  return op_axes (call, first, 2, 1, NULL, out->kernel) &&
         op_axes (call, first + 1, 2, 1, NULL, out->dilation) &&
         op_axes (call, first + 2, 2, 0, NULL, out->padding) &&
         op_axes (call, first + 3, 2, 1, NULL, out->stride);
}

/* The number of windows along each dimension of an image of these sizes. */
static gboolean
count_windows (const AdjOpCall *call, const Windows *windows, const AdjSize *image, AdjSize *out)
{
  for (guint i = 0; i < 2; i++)
    {
      const OpWindow window = {
        .kernel = windows->kernel[i],
        .stride = windows->stride[i],
        .padding = windows->padding[i],
        .dilation = windows->dilation[i],
      };

      out[i] = op_windows (call, &window, image[i]);
    }
  return !adj_context_has_error (call->cx);
}

static gboolean
im2col_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSymbols *symbols = op_symbols (call);
  guint first = self->shape.rank - 3;
  AdjSize counts[2], sizes[3];
  Windows windows;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (self->shape.rank != 3 && self->shape.rank != 4)
    return adj_op_call_fail (call, "the image has rank %u, not 3 or 4", self->shape.rank);
  if (!read_windows (call, 1, &windows) ||
      !count_windows (call, &windows, &self->shape.size[first + 1], counts))
    return FALSE;
  sizes[0] = self->shape.size[0];
  sizes[first] = adj_size_mul (symbols, self->shape.size[first],
                               ADJ_SIZE (windows.kernel[0] * windows.kernel[1]));
  sizes[first + 1] = adj_size_mul (symbols, counts[0], counts[1]);
  op_add_contiguous (call, self->dtype, first + 2, sizes);
  return TRUE;
}

static gboolean
col2im_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSymbols *symbols = op_symbols (call);
  AdjSize image[ADJ_MAX_RANK], counts[2], sizes[4], channels;
  guint rank = self->shape.rank, first = rank - 2;
  Windows windows;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (rank != 2 && rank != 3)
    return adj_op_call_fail (call, "the columns have rank %u, not 2 or 3", rank);
  if (adj_op_call_sizes (call, 1, image) != 2)
    return adj_op_call_fail (call, "output_size needs 2 entries");
  if (!read_windows (call, 2, &windows) || !count_windows (call, &windows, image, counts))
    return FALSE;
  channels = adj_size_floordiv (symbols, self->shape.size[first],
                                ADJ_SIZE (windows.kernel[0] * windows.kernel[1]));
  if (!adj_size_test (
          symbols, ADJ_SIZE_EQ, self->shape.size[first],
          adj_size_mul (symbols, channels, ADJ_SIZE (windows.kernel[0] * windows.kernel[1]))) ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, self->shape.size[first + 1],
                      adj_size_mul (symbols, counts[0], counts[1])))
    return adj_op_call_fail (call, "the columns are not those of such windows");
  sizes[0] = self->shape.size[0];
  sizes[first] = channels;
  sizes[first + 1] = image[0];
  sizes[first + 2] = image[1];
  op_add_contiguous (call, self->dtype, rank + 1, sizes);
  return TRUE;
}

/* -- kernels -- */

/* Adds a batch dimension of 1 if @view has one dimension less than @rank. */
static void
need_batch (AdjKView *view, gint rank)
{
  if (view->rank == rank)
    return;
  for (gint i = view->rank++; i > 0; i--)
    {
      view->size[i] = view->size[i - 1];
      view->stride[i] = view->stride[i - 1];
    }
  view->size[0] = 1;
  view->stride[0] = 0;
}

/* @image padded with zeros, in new memory. */
static gpointer
with_border (const AdjOpCall *call,
             const AdjKView *image,
             const Windows *windows,
             AdjKType type,
             AdjKView *out)
{
  AdjKView like = *image;

  for (guint i = 0; i < 2; i++)
    like.size[2 + i] += 2 * windows->padding[i];
  if (!op_check_temporary (call, adj_k_view_count (&like)))
    return NULL;
  return op_temporary (op_queue (call), &like, type, out);
}

/* The part of the padded image without padding. */
static AdjKView
inside (const AdjKView *bordered, const AdjKView *image, const Windows *windows)
{
  AdjKView view = *bordered;
  gint64 offset =
      windows->padding[0] * bordered->stride[2] + windows->padding[1] * bordered->stride[3];

  view.size[2] = image->size[2];
  view.size[3] = image->size[3];
  view.data = (char *) view.data + (gsize) offset * adj_k_type_get_size (view.type);
  return view;
}

/* [N, C, KH, KW, OH, OW] view of a padded image. */
static AdjKView
windows_of (const AdjKView *bordered, const Windows *windows)
{
  AdjKView view = *bordered;

  view.rank = 6;
  for (guint i = 0; i < 2; i++)
    {
      gint64 reach = windows->dilation[i] * (windows->kernel[i] - 1) + 1;

      view.size[2 + i] = windows->kernel[i];
      view.stride[2 + i] = bordered->stride[2 + i] * windows->dilation[i];
      view.size[4 + i] = (bordered->size[2 + i] - reach) / windows->stride[i] + 1;
      view.stride[4 + i] = bordered->stride[2 + i] * windows->stride[i];
    }
  return view;
}

/* [N, C, KH, KW, OH, OW] view of columns, with the sizes of @like. */
static AdjKView
columns_of (const AdjKView *columns, const AdjKView *like)
{
  AdjKView view = *like;

  view.data = columns->data;
  view.type = columns->type;
  view.stride[0] = columns->stride[0];
  view.stride[3] = columns->stride[1];
  view.stride[2] = view.stride[3] * view.size[3];
  view.stride[1] = view.stride[2] * view.size[2];
  view.stride[5] = columns->stride[2];
  view.stride[4] = view.stride[5] * view.size[5];
  return view;
}

static gboolean
im2col_kernel (AdjOpCall *call)
{
  AdjKView image, columns, bordered, window, place;
  g_autofree gpointer memory = NULL;
  Windows windows;

  if (!read_windows (call, 1, &windows) || !op_output (call, 0, &columns) ||
      !op_input (call, 0, &image))
    return FALSE;
  need_batch (&image, 4);
  need_batch (&columns, 3);
  memory = with_border (call, &image, &windows, image.type, &bordered);
  if (memory == NULL)
    return FALSE;
  place = inside (&bordered, &image, &windows);
  adj_q_copy (op_queue (call), &place, &image);
  window = windows_of (&bordered, &windows);
  columns = columns_of (&columns, &window);
  adj_q_copy (op_queue (call), &columns, &window);
  return TRUE;
}

/* Adds dense @columns to the windows of an image, plane by plane. */
static void
add_columns (const AdjKView *window, const double *columns)
{
  const gint64 *size = window->size, *stride = window->stride;
  double *image = window->data;

  for (gint64 i = 0, n = adj_k_view_count (window); i < n; i++)
    {
      gint64 rest = i, at = 0;

      for (gint dim = 5; dim >= 0; dim--)
        {
          at += rest % size[dim] * stride[dim];
          rest /= size[dim];
        }
      image[at] += columns[i];
    }
}

static gboolean
col2im_kernel (AdjOpCall *call)
{
  AdjKView image, columns, bordered, window, place, dense;
  g_autofree gpointer memory = NULL;
  g_autofree double *numbers = NULL;
  Windows windows;

  if (!read_windows (call, 2, &windows) || !op_output (call, 0, &image) ||
      !op_input (call, 0, &columns))
    return FALSE;
  need_batch (&image, 4);
  need_batch (&columns, 3);
  memory = with_border (call, &image, &windows, ADJ_K_F64, &bordered);
  if (memory == NULL)
    return FALSE;
  window = windows_of (&bordered, &windows);
  columns = columns_of (&columns, &window);
  numbers = op_temporary (op_queue (call), &columns, ADJ_K_F64, &dense);
  adj_q_copy (op_queue (call), &dense, &columns);
  add_columns (&window, numbers);
  place = inside (&bordered, &image, &windows);
  adj_q_copy (op_queue (call), &image, &place);
  return TRUE;
}

/* -- costs -- */

static double
col2im_flops (const AdjOpCall *call)
{
  return op_count (call, &adj_op_call_meta (call, 0)->shape);
}

/* Number of windows that contain one element. */
static double
col2im_reduction (const AdjOpCall *call)
{
  return MAX (1, op_count (call, &adj_op_call_meta (call, 0)->shape) /
                     MAX (op_count (call, &call->results[0].meta.shape), 1));
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/im2col.inc"
};

const OpFamily adj_family_im2col = { ops, G_N_ELEMENTS (ops) };
