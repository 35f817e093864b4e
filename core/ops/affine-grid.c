/* SPDX-License-Identifier: MIT */
/* affine_grid: the coordinates of each pixel of an image under an affine map. */

#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* theta [N, n, n + 1] maps the pixels of an image [N, C, …] of n axes, whose corners are at −1 and
 * 1: the coordinate along the last axis comes first. */

static gboolean
affine_meta (AdjOpCall *call)
{
  const AdjTensorMeta *theta = adj_op_call_meta (call, 0);
  AdjSymbols *symbols = op_symbols (call);
  AdjSize size[ADJ_MAX_RANK], sizes[OP_MAX_AXES + 2];
  guint rank = adj_op_call_sizes (call, 1, size), n = rank - 2;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (rank != 4 && rank != 5)
    return adj_op_call_fail (call, "the size has %u entries, not 4 or 5", rank);
  if (theta->shape.rank != 3 || !adj_dtype_is_floating (theta->dtype) ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, theta->shape.size[0], size[0]) ||
      !adj_size_is (symbols, theta->shape.size[1], n) ||
      !adj_size_is (symbols, theta->shape.size[2], n + 1))
    {
      g_autofree char *text = op_sizes_text (call, &theta->shape);

      return adj_op_call_fail (call, "%s is no map of %u axes for each image", text, n);
    }
  for (guint i = 0; i < rank; i++)
    if (adj_size_test (symbols, ADJ_SIZE_LT, size[i], ADJ_SIZE (1)))
      return adj_op_call_fail (call, "dimension %u of the image has no elements", i);
  sizes[0] = size[0];
  for (guint i = 0; i < n; i++)
    sizes[1 + i] = size[2 + i];
  sizes[1 + n] = ADJ_SIZE (n);
  op_add_contiguous (call, theta->dtype, n + 2, sizes);
  return TRUE;
}

/* The coordinate in [−1, 1] of element @i of @n. */
static double
place_of (gint64 i, gint64 n, gboolean align_corners)
{
  if (n < 2)
    return 0;
  return align_corners ? 2 * (double) i / (double) (n - 1) - 1
                       : (2 * (double) i + 1) / (double) n - 1;
}

/* Applies the map @theta to the coordinates @x. */
static void
map_place (const double *theta, guint n, const double *x, double *result)
{
  for (guint row = 0; row < n; row++)
    {
      result[row] = theta[row * (n + 1) + n];
      for (guint i = 0; i < n; i++)
        result[row] += theta[row * (n + 1) + i] * x[i];
    }
}

/* The number of coordinates, and 1. */
static double
affine_reduction (const AdjOpCall *call)
{
  return (double) adj_op_call_meta (call, 0)->shape.size[2].word;
}

static gboolean
affine_kernel (AdjOpCall *call)
{
  gboolean align = adj_op_call_bool (call, 2);
  g_autofree double *maps = NULL;
  g_autofree double *numbers = NULL;
  AdjKView theta, out, dense, places;
  gint64 per_image;
  guint n;

  if (!op_output (call, 0, &out) || !op_input (call, 0, &theta) ||
      !op_check_temporary (call, adj_k_view_count (&out)))
    return FALSE;
  maps = op_temporary (op_queue (call), &theta, ADJ_K_F64, &dense);
  adj_q_copy (op_queue (call), &dense, &theta);
  numbers = op_temporary (op_queue (call), &out, ADJ_K_F64, &places);
  n = (guint) out.rank - 2;
  per_image = adj_k_view_count (&out) / out.size[0] / n;
  for (gint64 i = 0; i < out.size[0] * per_image; i++)
    {
      double x[OP_MAX_AXES];
      gint64 rest = i;

      for (guint axis = 0; axis < n; axis++)
        {
          gint64 size = out.size[n - axis];

          x[axis] = place_of (rest % size, size, align);
          rest /= size;
        }
      map_place (maps + rest * n * (n + 1), n, x, numbers + i * n);
    }
  adj_q_copy (op_queue (call), &out, &places);
  return TRUE;
}

/* -- costs -- */

static double
affine_flops (const AdjOpCall *call)
{
  return 6 * op_count (call, &call->results[0].meta.shape);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/affine-grid.inc"
};

const OpFamily adj_family_affine_grid = { ops, G_N_ELEMENTS (ops) };
