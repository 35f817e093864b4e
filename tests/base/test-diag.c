/* SPDX-License-Identifier: MIT */
/* Lists of diagnostics: order, limits, conversion to an error. */

#include "base/adj-diag.h"

static const AdjSpan nowhere = { 0, 0, 0 };

static void
test_keeps_order (void)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  AdjSpan span = { 3, 7, 2 };

  adj_diags_add (diags, ADJ_SEVERITY_NOTE, nowhere, "first");
  adj_diags_add (diags, ADJ_SEVERITY_ERROR, span, "unknown name %s", "x");
  adj_diags_add (diags, ADJ_SEVERITY_WARNING, span, "third");
  adj_diags_add (NULL, ADJ_SEVERITY_ERROR, span, "dropped");

  g_assert_cmpuint (adj_diags_get_n (diags), ==, 3);
  g_assert_cmpstr (adj_diags_get (diags, 1)->message, ==, "unknown name x");
  g_assert_cmpuint (adj_diags_get (diags, 1)->span.column, ==, 7);
  g_assert_cmpuint (adj_diags_count (diags, ADJ_SEVERITY_NOTE), ==, 3);
  g_assert_cmpuint (adj_diags_count (diags, ADJ_SEVERITY_WARNING), ==, 2);
  g_assert_cmpuint (adj_diags_count (diags, ADJ_SEVERITY_ERROR), ==, 1);
}

static void
test_to_error (void)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (GError) error = NULL;
  AdjSpan span = { 3, 7, 2 };

  adj_diags_add (diags, ADJ_SEVERITY_WARNING, nowhere, "odd");
  g_assert_false (adj_diags_to_error (diags, "a.txt", &error));
  g_assert_no_error (error);

  adj_diags_add (diags, ADJ_SEVERITY_ERROR, span, "unknown name");
  adj_diags_add (diags, ADJ_SEVERITY_ERROR, span, "later");
  g_assert_true (adj_diags_to_error (diags, "a.txt", &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_cmpstr (error->message, ==, "a.txt:3:7: unknown name");
}

/* An error is reported however many warnings precede it. */
static void
test_bounded (void)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 3 * ADJ_DIAGS_MAX; i++)
    adj_diags_add (diags, ADJ_SEVERITY_WARNING, nowhere, "odd");
  adj_diags_add (diags, ADJ_SEVERITY_ERROR, nowhere, "wrong");
  adj_diags_add (diags, ADJ_SEVERITY_ERROR, nowhere, "again");

  g_assert_cmpuint (adj_diags_get_n (diags), ==, ADJ_DIAGS_MAX);
  g_assert_cmpuint (adj_diags_count (diags, ADJ_SEVERITY_WARNING), ==, 3 * ADJ_DIAGS_MAX + 2);
  g_assert_true (adj_diags_to_error (diags, "a.txt", &error));
  g_assert_cmpstr (error->message, ==, "a.txt: wrong");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/diag/keeps-order", test_keeps_order);
  g_test_add_func ("/base/diag/to-error", test_to_error);
  g_test_add_func ("/base/diag/bounded", test_bounded);
  return g_test_run ();
}
