/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* |a - b|; NaN where one of them is not finite and the other is not equal. */
double adj_difference_between (double a, double b);

/* |a - b| of two tensors of one shape, as an image: two dimensions are shown, the others are at a
 * fixed position.  Only the choice of dimensions and position can change. */
typedef struct
{
  AdjTensorData *a, *b; /* (owned) */
  double *delta;        /* (owned): adj_difference_between() by row-major index */
  gint64 n;
  guint rank; /* at least 2: a vector is one row */
  gint64 size[ADJ_MAX_RANK];
  double max; /* of all finite differences */

  guint row_dim, column_dim; /* the dimensions of rows and columns */
  gint64 at[ADJ_MAX_RANK];   /* position in the other dimensions */
} AdjDifferenceMap;

#define ADJ_DIFFERENCE_MAP_MAX (1 << 24) /* elements */

/* Begins with the last two dimensions, at the largest difference. Returns: (nullable): %NULL for
 * different shapes, empty or too large tensors */
AdjDifferenceMap *adj_difference_map_new (AdjTensorData *a, AdjTensorData *b);
void adj_difference_map_free (AdjDifferenceMap *map);

/* @row_dim and @column_dim must differ. */
void adj_difference_map_set_dims (AdjDifferenceMap *map, guint row_dim, guint column_dim);
void adj_difference_map_set_at (AdjDifferenceMap *map, guint dim, gint64 at);
gint64 adj_difference_map_get_n_rows (const AdjDifferenceMap *map);
gint64 adj_difference_map_get_n_columns (const AdjDifferenceMap *map);
/* The row-major index of a point of the image. */
gint64 adj_difference_map_index (const AdjDifferenceMap *map, gint64 row, gint64 column);
/* The point of element @index; %FALSE when it is not in the shown plane. */
gboolean
adj_difference_map_find (const AdjDifferenceMap *map, gint64 index, gint64 *row, gint64 *column);
/* Moves the position so that element @index is shown. */
void adj_difference_map_show (AdjDifferenceMap *map, gint64 index);
/* The index of the largest difference; -1: there is none. */
gint64 adj_difference_map_find_worst (const AdjDifferenceMap *map);
/* "[1, 5, 12]: 0.1847 against 0.1846, 9.8e-05 apart".  (transfer full) */
char *adj_difference_map_describe (const AdjDifferenceMap *map, gint64 index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjDifferenceMap, adj_difference_map_free)

G_END_DECLS
