/* SPDX-License-Identifier: MIT */
/* Backwards captured by PyTorch's compiled autograd are read completely. */

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ir/adj-verify.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"

/* A capture of PyTorch 2.6 is read without diagnostics, satisfies the invariants of a graph, and
 * prints as the same text. */
static void
check_file (const char *path)
{
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autofree char *line = g_strconcat (text, "\n", NULL);
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, diags, &error);
  g_autofree char *printed = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 0);
  g_assert_true (adj_graph_verify (graph, &error));
  g_assert_no_error (error);
  printed = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);
  g_assert_cmpstr (printed, ==, line);
}

static void
test_goldens (void)
{
  g_autofree char *folder =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (!g_str_has_suffix (name, ".txt") || g_str_equal (name, "counts.txt"))
        continue;
      check_file (path);
      n++;
    }
  g_assert_cmpuint (n, >=, 100);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/compiled-autograd/goldens", test_goldens);

  return g_test_run ();
}
