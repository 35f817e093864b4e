/* SPDX-License-Identifier: MIT */
/* Decisions of PyTorch 2.6 (data/make-expected.py) on random joint graphs under tags, budgets
 * and switches, and on the captures: compat mode makes the same ones. */

#include <glib.h>
#include <string.h>

#include "decisions.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"

static void
test_random (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "partition", "data", "random.txt.gz", NULL);
  g_autofree char *text = adj_test_read_packed (path);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint number = 0;

  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; number++)
    {
      g_autoptr (GString) module = g_string_new (NULL);
      g_autoptr (GHashTable) keys = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjGraph) joint = NULL;

      for (; !g_str_has_prefix (lines[i], "#@ "); i++)
        g_string_append_printf (module, "%s\n", lines[i]);
      keys = decisions_read (lines, &i);
      joint = adj_graph_parse (module->str, -1, adj_op_find, NULL, &error);
      g_assert_no_error (error);
      decisions_check (number, joint, keys);
    }
  g_test_message ("%u joint graphs decided as PyTorch decides", number);
  g_assert_cmpuint (number, >=, 600);
}

static void
test_captures (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "partition", "data", "captures.txt.gz", NULL);
  g_autofree char *text = adj_test_read_packed (path);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint number = 0;

  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; number++)
    {
      g_autoptr (GHashTable) keys = decisions_read (lines, &i);
      g_autoptr (AdjBundle) bundle = adj_test_load_capture (decisions_get (keys, "capture"));

      decisions_check (number, adj_bundle_find_graph (bundle, "joint", NULL)->graph, keys);
    }
  g_assert_cmpuint (number, ==, 45);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/pytorch/random-joint-graphs", test_random);
  g_test_add_func ("/partition/pytorch/captures-at-five-budgets", test_captures);
  return g_test_run ();
}
