/* SPDX-License-Identifier: MIT */
/* Splitting FILE#ID into path and id. */

#include <glib.h>

#include "session/adj-session.h"
#include "support/adj-test.h"

/* Names of existing files, an argument, and its expected path and id. */
static const struct
{
  const char *text;
  const char *path;
  const char *id;
  const char *how;
} existing[] = {
  { "plain.adjoint", "plain.adjoint", NULL, NULL },
  { "plain.adjoint#joint", "plain.adjoint", "joint", NULL },
  { "plain.adjoint@interpreter", "plain.adjoint", NULL, "interpreter" },
  { "plain.adjoint#0-0-joint@interpreter", "plain.adjoint", "0-0-joint", "interpreter" },
  { "plain.adjoint#", "plain.adjoint", "", NULL },
  { "issue#12.txt", "issue#12.txt", NULL, NULL },
  { "issue#12.txt#joint", "issue#12.txt", "joint", NULL },
  { "me@home.adjoint", "me@home.adjoint", NULL, NULL },
  { "me@home.adjoint#joint", "me@home.adjoint", "joint", NULL },
  { "me@home.adjoint#joint@interpreter", "me@home.adjoint", "joint", "interpreter" },
  { "a@b#c/in.txt#joint", "a@b#c/in.txt", "joint", NULL },
  { "a@b#c", "a@b#c", NULL, NULL },
};

static void
test_existing (void)
{
  static const char *const files[] = { "plain.adjoint", "issue#12.txt", "me@home.adjoint",
                                       "a@b#c/in.txt" };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *odd = g_build_filename (folder->path, "a@b#c", NULL);

  g_assert_cmpint (g_mkdir_with_parents (odd, 0700), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_build_filename (folder->path, files[i], NULL);

      g_assert_true (g_file_set_contents (path, "", 0, NULL));
    }
  for (guint i = 0; i < G_N_ELEMENTS (existing); i++)
    {
      g_autofree char *text = g_build_filename (folder->path, existing[i].text, NULL);
      g_autofree char *path = g_build_filename (folder->path, existing[i].path, NULL);
      g_auto (AdjGraphName) name = { 0 };

      adj_graph_name_init (&name, text);
      g_assert_cmpstr (name.path, ==, path);
      g_assert_cmpstr (name.id, ==, existing[i].id);
      g_assert_cmpstr (name.how, ==, existing[i].how);
    }
}

/* The error about a missing file names the file. */
static void
test_missing (void)
{
  g_auto (AdjGraphName) whole = { 0 };
  g_auto (AdjGraphName) folder = { 0 };
  g_auto (AdjGraphName) empty = { 0 };

  adj_graph_name_init (&whole, "/no/such.adjoint#joint@interpreter");
  g_assert_cmpstr (whole.path, ==, "/no/such.adjoint");
  g_assert_cmpstr (whole.id, ==, "joint");
  g_assert_cmpstr (whole.how, ==, "interpreter");
  adj_graph_name_init (&folder, "/no/me@home/such.adjoint");
  g_assert_cmpstr (folder.path, ==, "/no/me@home/such.adjoint");
  g_assert_null (folder.id);
  g_assert_null (folder.how);
  adj_graph_name_init (&empty, "");
  g_assert_cmpstr (empty.path, ==, "");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session/graph-name/existing-files-keep-their-name", test_existing);
  g_test_add_func ("/session/graph-name/missing-files-are-named", test_missing);
  return g_test_run ();
}
