/* SPDX-License-Identifier: MIT */
/* The trial format writes the node names. */

#include <glib/gstdio.h>

#include "adjoint.h"
#include "support/graphs.h"

static void
writes_names (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
  const AdjSaveOptions options = { .graph = adj_bundle_find_graph (bundle, "0-0-joint", NULL) };
  g_autofree char *folder = g_dir_make_tmp ("adjoint-trial-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "names.trial", NULL);
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  adj_format_for_path (path, &error)->save (bundle, path, &options, NULL, &error);
  g_assert_no_error (error);
  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_str_has_prefix (text, "primals_1\nprimals_2\n"));
  g_remove (path);
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/formats/trial/writes-names", writes_names);

  return g_test_run ();
}
