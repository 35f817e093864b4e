/* SPDX-License-Identifier: MIT */

/* What an error blames goes with it, through copies and prefixes. */

#include <gio/gio.h>

#include "base/adj-error.h"

static void
test_blames (void)
{
  g_autoptr (GError) error = g_error_new (ADJ_ERROR, ADJ_ERROR_SHAPE, "too %s", "large");
  g_autoptr (GError) copy = NULL;
  guint index = 0;

  g_assert_null (adj_error_get_node (error, &index));
  g_assert_cmpuint (adj_error_get_input (error), ==, G_MAXUINT);
  g_assert_cmpuint (adj_error_get_output (error), ==, G_MAXUINT);
  adj_error_blame_node (error, "mm", 4);
  adj_error_blame_node (error, "mm_1", 7);
  adj_error_blame_input (error, 2);
  adj_error_blame_output (error, 0);
  copy = g_error_copy (error);
  g_clear_error (&error);
  g_prefix_error (&copy, "a.txt: ");
  g_assert_cmpstr (copy->message, ==, "a.txt: too large");
  g_assert_cmpstr (adj_error_get_node (copy, &index), ==, "mm_1");
  g_assert_cmpuint (index, ==, 7);
  g_assert_cmpuint (adj_error_get_input (copy), ==, 2);
  g_assert_cmpuint (adj_error_get_output (copy), ==, 0);
}

static void
test_of_others (void)
{
  g_autoptr (GError) error = g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "gone");
  guint index = 0;

  adj_error_blame_node (error, "mm", 4);
  adj_error_blame_input (error, 2);
  g_assert_null (adj_error_get_node (error, &index));
  g_assert_cmpuint (adj_error_get_input (error), ==, G_MAXUINT);
  g_assert_null (adj_error_get_node (NULL, &index));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/error/blames", test_blames);
  g_test_add_func ("/base/error/of-others", test_of_others);
  return g_test_run ();
}
