/* SPDX-License-Identifier: MIT */
/* The elements of a tensor, or of two, in a plane of two of their dimensions. */

#include "model/adj-difference-map.h"

#include <glib/gi18n.h>
#include <math.h>

#include "report/adj-properties.h"

static gboolean
same_sizes (const AdjTensorMeta *a, const AdjTensorMeta *b)
{
  if (a->shape.rank != b->shape.rank)
    return FALSE;
  for (guint i = 0; i < a->shape.rank; i++)
    if (!adj_size_same (a->shape.size[i], b->shape.size[i]))
      return FALSE;
  return TRUE;
}

double
adj_difference_between (double a, double b)
{
  if (isfinite (a) && isfinite (b))
    return fabs (a - b);
  return a == b || (isnan (a) && isnan (b)) ? 0 : NAN;
}

static void
fill (AdjDifferenceMap *map)
{
  g_autofree double *a = g_new (double, map->n), *b = g_new (double, map->n);

  map->delta = g_new (double, map->n);
  adj_tensor_data_read_doubles (map->a, a);
  adj_tensor_data_read_doubles (map->b, b);
  for (gint64 i = 0; i < map->n; i++)
    {
      map->delta[i] = adj_difference_between (a[i], b[i]);
      if (map->delta[i] > map->max)
        map->max = map->delta[i];
    }
}

/* A scalar is one row of one element, a vector one row. */
static void
fill_sizes (AdjDifferenceMap *map, const AdjShape *shape)
{
  guint missing = shape->rank < 2 ? 2 - shape->rank : 0;

  map->rank = MAX (shape->rank, 2);
  for (guint i = 0; i < map->rank; i++)
    map->size[i] = i < missing ? 1 : shape->size[i - missing].word;
}

AdjDifferenceMap *
adj_difference_map_new (AdjTensorData *a, AdjTensorData *b)
{
  const AdjTensorMeta *meta = adj_tensor_data_get_meta (a);
  gint64 n = adj_tensor_data_get_numel (a);
  AdjDifferenceMap *map;

  if (!same_sizes (meta, adj_tensor_data_get_meta (b)) || n < 1 || n > ADJ_DIFFERENCE_MAP_MAX)
    return NULL;
  map = g_new0 (AdjDifferenceMap, 1);
  map->a = adj_tensor_data_ref (a);
  map->b = adj_tensor_data_ref (b);
  map->n = n;
  fill_sizes (map, &meta->shape);
  fill (map);
  map->row_dim = map->rank - 2;
  map->column_dim = map->rank - 1;
  adj_difference_map_show (map, MAX (adj_difference_map_find_worst (map), 0));
  return map;
}

void
adj_difference_map_free (AdjDifferenceMap *map)
{
  adj_tensor_data_unref (map->a);
  adj_tensor_data_unref (map->b);
  g_free (map->delta);
  g_free (map);
}

void
adj_difference_map_set_dims (AdjDifferenceMap *map, guint row_dim, guint column_dim)
{
  g_return_if_fail (row_dim < map->rank && column_dim < map->rank && row_dim != column_dim);

  map->row_dim = row_dim;
  map->column_dim = column_dim;
}

void
adj_difference_map_set_at (AdjDifferenceMap *map, guint dim, gint64 at)
{
  g_return_if_fail (dim < map->rank);

  map->at[dim] = CLAMP (at, 0, map->size[dim] - 1);
}

gint64
adj_difference_map_get_n_rows (const AdjDifferenceMap *map)
{
  return map->size[map->row_dim];
}

gint64
adj_difference_map_get_n_columns (const AdjDifferenceMap *map)
{
  return map->size[map->column_dim];
}

gint64
adj_difference_map_index (const AdjDifferenceMap *map, gint64 row, gint64 column)
{
  gint64 index = 0;

  for (guint i = 0; i < map->rank; i++)
    {
      gint64 at = i == map->row_dim ? row : i == map->column_dim ? column : map->at[i];

      index = index * map->size[i] + at;
    }
  return index;
}

static void
split (const AdjDifferenceMap *map, gint64 index, gint64 at[ADJ_MAX_RANK])
{
  for (guint i = map->rank; i-- > 0;)
    {
      at[i] = index % map->size[i];
      index /= map->size[i];
    }
}

gboolean
adj_difference_map_find (const AdjDifferenceMap *map, gint64 index, gint64 *row, gint64 *column)
{
  gint64 at[ADJ_MAX_RANK];

  split (map, index, at);
  for (guint i = 0; i < map->rank; i++)
    if (i != map->row_dim && i != map->column_dim && at[i] != map->at[i])
      return FALSE;
  *row = at[map->row_dim];
  *column = at[map->column_dim];
  return TRUE;
}

void
adj_difference_map_show (AdjDifferenceMap *map, gint64 index)
{
  split (map, index, map->at);
}

gint64
adj_difference_map_find_worst (const AdjDifferenceMap *map)
{
  gint64 worst = -1;

  /* A value that is finite in one tensor only is worse than any difference. */
  for (gint64 i = 0; i < map->n; i++)
    if (isnan (map->delta[i]))
      return i;
    else if (map->delta[i] > 0 && (worst < 0 || map->delta[i] > map->delta[worst]))
      worst = i;
  return worst;
}

char *
adj_difference_map_describe (const AdjDifferenceMap *map, gint64 index)
{
  guint rank = adj_tensor_data_get_meta (map->a)->shape.rank;
  gint64 at[ADJ_MAX_RANK];
  GString *text = g_string_new ("[");
  g_autofree char *a = adj_properties_number (adj_tensor_data_get_double (map->a, index));
  g_autofree char *b = adj_properties_number (adj_tensor_data_get_double (map->b, index));
  g_autofree char *delta = adj_properties_number (map->delta[index]);

  split (map, index, at);
  for (guint i = map->rank - rank; i < map->rank; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > map->rank - rank ? ", " : "", at[i]);
  g_string_append_printf (text, _ ("]: %s against %s"), a, b);
  if (isnan (map->delta[index]))
    g_string_append (text, _ (", not comparable"));
  else
    g_string_append_printf (text, _ (", %s apart"), delta);
  return g_string_free (text, FALSE);
}
