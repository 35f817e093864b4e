/* SPDX-License-Identifier: MIT */
/* Difference maps: slices, elements, initial position. */

#include <gio/gio.h>
#include <math.h>

#include "model/adj-difference-map.h"
#include "model/adj-element-list.h"
#include "support/adj-test.h"

static AdjTensorData *
make_tensor (guint rank, const gint64 *sizes, const double *values)
{
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F64, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  g_autoptr (GBytes) bytes = NULL;
  gint64 n = 1;

  for (guint i = 0; i < rank; i++)
    n *= sizes[i];
  bytes = g_bytes_new (values, sizeof (double) * (gsize) n);
  adj_shape_init_ints (&meta.shape, rank, sizes);
  return adj_tensor_data_new (&meta, bytes, NULL);
}

/* [2, 2, 3]: 0 … 11, and the same with two of them changed. */
static AdjDifferenceMap *
make_map (void)
{
  static const gint64 sizes[] = { 2, 2, 3 };
  double a[12], b[12];
  g_autoptr (AdjTensorData) x = NULL;
  g_autoptr (AdjTensorData) y = NULL;

  for (guint i = 0; i < 12; i++)
    a[i] = b[i] = i;
  b[4] += 0.5;
  b[9] -= 2;
  x = make_tensor (3, sizes, a);
  y = make_tensor (3, sizes, b);
  return adj_difference_map_new (x, y);
}

static void
test_begins_at_worst (void)
{
  g_autoptr (AdjDifferenceMap) map = make_map ();
  g_autofree char *text = adj_difference_map_describe (map, 9);
  gint64 row, column;

  g_assert_cmpint (adj_difference_map_find_worst (map), ==, 9);
  g_assert_cmpfloat (map->max, ==, 2);
  g_assert_cmpint (adj_difference_map_get_n_rows (map), ==, 2);
  g_assert_cmpint (adj_difference_map_get_n_columns (map), ==, 3);
  /* element 9 is [1, 1, 0] */
  g_assert_cmpint (map->at[0], ==, 1);
  g_assert_true (adj_difference_map_find (map, 9, &row, &column));
  g_assert_cmpint (row, ==, 1);
  g_assert_cmpint (column, ==, 0);
  g_assert_false (adj_difference_map_find (map, 4, &row, &column));
  g_assert_cmpstr (text, ==, "[1, 1, 0]: 9 against 7, 2 apart");
}

static void
test_slices (void)
{
  g_autoptr (AdjDifferenceMap) map = make_map ();
  gint64 row, column;

  /* The first dimension down, the last across, at index 1 of the middle one: 3 4 5 and 9 10 11. */
  adj_difference_map_set_dims (map, 0, 2);
  adj_difference_map_set_at (map, 1, 1);
  g_assert_cmpint (adj_difference_map_index (map, 0, 1), ==, 4);
  g_assert_cmpint (adj_difference_map_index (map, 1, 2), ==, 11);
  g_assert_true (adj_difference_map_find (map, 4, &row, &column));
  g_assert_cmpint (row, ==, 0);
  g_assert_cmpint (column, ==, 1);
  adj_difference_map_set_at (map, 1, 100);
  g_assert_cmpint (map->at[1], ==, 1);
}

static void
test_odd (void)
{
  static const gint64 sizes[] = { 4 }, others[] = { 2, 2 }, none[] = { 0 };
  const double a[] = { NAN, 1, INFINITY, 0 }, b[] = { NAN, NAN, INFINITY, 0 };
  g_autoptr (AdjTensorData) x = make_tensor (1, sizes, a);
  g_autoptr (AdjTensorData) y = make_tensor (1, sizes, b);
  g_autoptr (AdjTensorData) z = make_tensor (2, others, b);
  g_autoptr (AdjTensorData) empty = make_tensor (1, none, a);
  g_autoptr (AdjDifferenceMap) map = adj_difference_map_new (x, y);
  g_autofree char *text = adj_difference_map_describe (map, 1);

  /* A vector is one row; NaN on both sides is equal, on one side it is the largest difference. */
  g_assert_cmpint (adj_difference_map_get_n_rows (map), ==, 1);
  g_assert_cmpint (adj_difference_map_get_n_columns (map), ==, 4);
  g_assert_cmpfloat (map->delta[0], ==, 0);
  g_assert_cmpfloat (map->delta[2], ==, 0);
  g_assert_true (isnan (map->delta[1]));
  g_assert_cmpint (adj_difference_map_find_worst (map), ==, 1);
  g_assert_true (g_str_has_prefix (text, "[1]: 1 against "));
  g_assert_true (g_str_has_suffix (text, ", not comparable"));

  g_assert_null (adj_difference_map_new (x, z));
  g_assert_null (adj_difference_map_new (empty, empty));
}

/* Single elements, of one side and of both. */
static void
test_elements (void)
{
  g_autoptr (AdjDifferenceMap) map = make_map ();
  g_autoptr (GListModel) both = adj_element_list_new (map->a, map->b);
  g_autoptr (GListModel) one = adj_element_list_new (map->a, NULL);
  g_autoptr (AdjElementItem) item = g_list_model_get_item (both, 9);
  g_autoptr (AdjElementItem) alone = g_list_model_get_item (one, 4);
  g_autofree char *place = adj_element_item_get_place (item);

  g_assert_cmpuint (g_list_model_get_n_items (both), ==, 12);
  g_assert_null (g_list_model_get_item (both, 12));
  g_assert_cmpstr (place, ==, "[1, 1, 0]");
  g_assert_cmpfloat (adj_element_item_get_value (item), ==, 9);
  g_assert_cmpfloat (adj_element_item_get_beside (item), ==, 7);
  g_assert_cmpfloat (adj_element_item_get_delta (item), ==, 2);
  g_assert_cmpfloat (adj_element_item_get_value (alone), ==, 4);
  g_assert_true (isnan (adj_element_item_get_beside (alone)));
  g_assert_true (isnan (adj_element_item_get_delta (alone)));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/difference-map/begins-at-worst", test_begins_at_worst);
  g_test_add_func ("/ui/difference-map/slices", test_slices);
  g_test_add_func ("/ui/difference-map/odd", test_odd);
  g_test_add_func ("/ui/difference-map/elements", test_elements);
  return g_test_run ();
}
