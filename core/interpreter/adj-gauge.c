/* SPDX-License-Identifier: MIT */
/* Aligns eigenvectors and singular vectors, which may differ by a factor. */

#include "interpreter/adj-gauge.h"

#include <math.h>

/* A vector (row or column) of complex numbers in one matrix. */
typedef struct
{
  gint64 first, step, n;
} Line;

/* The factor c / |c| of c = Σ conj (vector) like; 1 if c is 0. */
static void
find_factor (const double *vectors, const double *like, const Line *line, double factor[2])
{
  double re = 0, im = 0, size;

  for (gint64 i = 0; i < line->n; i++)
    {
      const double *v = vectors + 2 * (line->first + i * line->step);
      const double *l = like + 2 * (line->first + i * line->step);

      re += v[0] * l[0] + v[1] * l[1];
      im += v[0] * l[1] - v[1] * l[0];
    }
  size = hypot (re, im);
  factor[0] = size > 0 && isfinite (size) ? re / size : 1;
  factor[1] = size > 0 && isfinite (size) ? im / size : 0;
}

static void
align_line (double *vectors, const double *like, const Line *line)
{
  double factor[2];

  find_factor (vectors, like, line, factor);
  for (gint64 i = 0; i < line->n; i++)
    {
      double *v = vectors + 2 * (line->first + i * line->step), re = v[0];

      v[0] = re * factor[0] - v[1] * factor[1];
      v[1] = re * factor[1] + v[1] * factor[0];
    }
}

/* (transfer full): in row-major order, as complex128. */
static AdjTensorData *
widen (const AdjTensorData *data)
{
  g_autoptr (AdjTensorData) wide = adj_tensor_data_cast ((AdjTensorData *) data, ADJ_DTYPE_C128);

  return adj_tensor_data_contiguous (wide);
}

static double *
copy_numbers (const AdjTensorData *data, gsize *size)
{
  gconstpointer bytes = g_bytes_get_data (adj_tensor_data_get_bytes (data), size);

  return g_memdup2 (bytes, *size);
}

AdjTensorData *
adj_gauge_align (AdjTensorData *vectors, const AdjTensorData *like, gboolean rows)
{
  const AdjTensorMeta *meta = adj_tensor_data_get_meta (vectors);
  const AdjTensorMeta *other = adj_tensor_data_get_meta (like);
  guint rank = meta->shape.rank;
  g_autoptr (AdjTensorData) wide = NULL, wide_like = NULL, aligned = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autofree double *numbers_like = NULL;
  AdjTensorMeta dense;
  double *numbers;
  gint64 m, n;
  gsize size;

  if (rank < 2 || !adj_shape_same_sizes (&meta->shape, &other->shape, NULL) ||
      !adj_dtype_is_differentiable (meta->dtype) || adj_tensor_data_get_numel (vectors) == 0)
    return adj_tensor_data_ref (vectors);
  wide = widen (vectors);
  wide_like = widen (like);
  numbers = copy_numbers (wide, &size);
  numbers_like = copy_numbers (wide_like, &size);
  m = meta->shape.size[rank - 2].word;
  n = meta->shape.size[rank - 1].word;
  for (gint64 at = 0; at < adj_tensor_data_get_numel (vectors); at += m * n)
    for (gint64 i = 0; i < (rows ? m : n); i++)
      align_line (numbers, numbers_like,
                  &(Line){ at + (rows ? i * n : i), rows ? 1 : n, rows ? n : m });
  bytes = g_bytes_new_take (numbers, size);
  dense = *adj_tensor_data_get_meta (wide);
  aligned = adj_tensor_data_new (&dense, bytes, NULL);
  return adj_tensor_data_cast (aligned, meta->dtype);
}
