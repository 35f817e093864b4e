/* SPDX-License-Identifier: MIT */

/* The nodes that an error blames are kept by copies and prefixes. */

#include <gio/gio.h>

#include "base/adj-error-internal.h"
#include "base/adj-error.h"

static void
test_blames (void)
{
  g_autoptr (GError) error = g_error_new (ADJ_ERROR, ADJ_ERROR_SHAPE, "too %s", "large");
  g_autoptr (GError) copy = NULL;
  const AdjBlame *blames;
  guint n;

  adj_error_get_blame (error, &n);
  g_assert_cmpuint (n, ==, 0);
  adj_error_blame_node (error, "mm_1", 7);
  adj_error_blame_input (error, 2);
  adj_error_blame_input (error, 1);
  adj_error_blame_output (error, 0);
  copy = g_error_copy (error);
  g_clear_error (&error);
  g_prefix_error (&copy, "a.txt: ");
  g_assert_cmpstr (copy->message, ==, "a.txt: too large");
  blames = adj_error_get_blame (copy, &n);
  g_assert_cmpuint (n, ==, 4);
  g_assert_cmpint (blames[0].kind, ==, ADJ_BLAME_NODE);
  g_assert_cmpstr (blames[0].name, ==, "mm_1");
  g_assert_cmpuint (blames[0].index, ==, 7);
  g_assert_cmpint (blames[1].kind, ==, ADJ_BLAME_INPUT);
  g_assert_cmpuint (blames[1].index, ==, 2);
  g_assert_cmpuint (blames[2].index, ==, 1);
  g_assert_cmpint (blames[3].kind, ==, ADJ_BLAME_OUTPUT);
  g_assert_cmpuint (blames[3].index, ==, 0);
}

static void
test_of_others (void)
{
  g_autoptr (GError) error = g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "gone");
  guint n;

  adj_error_blame_node (error, "mm", 4);
  adj_error_blame_input (error, 2);
  g_assert_null (adj_error_get_blame (error, &n));
  g_assert_cmpuint (n, ==, 0);
  g_assert_null (adj_error_get_blame (NULL, &n));
}

static void
test_makes_line (void)
{
  char message[] = "a\nb\r\t\033[1mc\177 \302\233d é\302\240";
  char last[] = "\302";

  adj_message_make_line (message);
  g_assert_cmpstr (message, ==, "a b   [1mc    d é\302\240");
  adj_message_make_line (last);
  g_assert_cmpstr (last, ==, "\302");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/error/blames", test_blames);
  g_test_add_func ("/base/error/of-others", test_of_others);
  g_test_add_func ("/base/error/makes-line", test_makes_line);
  return g_test_run ();
}
