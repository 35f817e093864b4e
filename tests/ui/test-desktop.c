/* SPDX-License-Identifier: MIT */

/* The desktop integration files of the workbench.  Arguments: the desktop file, the metainfo
 * file. */

#include <gio/gio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "support/adj-test.h"

static const char *desktop_path, *metainfo_path;

/* %FALSE, and the test is skipped, when the program is not installed. */
static gboolean
need_program (const char *name)
{
  g_autofree char *path = g_find_program_in_path (name);
  g_autofree char *reason = g_strdup_printf ("%s is not installed", name);

  if (path == NULL)
    g_test_skip (reason);
  return path != NULL;
}

static void
check_accepts (const char *const *argv)
{
  g_autoptr (AdjTestProcess) process = adj_test_spawn (argv, NULL, NULL);

  if (process->status != 0)
    g_test_message ("%s%s", process->out, process->err);
  g_assert_cmpint (process->status, ==, 0);
}

static void
test_entry (void)
{
  if (need_program ("desktop-file-validate"))
    check_accepts ((const char *[]){ "desktop-file-validate", desktop_path, NULL });
}

static void
test_metainfo (void)
{
  if (need_program ("appstreamcli"))
    /* The project has no home page, which newer validators require and older ones cannot
     * override. */
    check_accepts ((const char *[]){
        "sh", "-c",
        "appstreamcli validate --no-net --explain --override=url-homepage-missing=info \"$0\" ||"
        " appstreamcli validate --no-net --explain \"$0\"",
        metainfo_path, NULL });
}

/* A type that only one of the files names could not be opened. */
static void
test_types_agree (void)
{
  g_autofree char *mime_path = adj_test_data_path ("org.adjoint.Workbench.mime.xml");
  g_autofree char *mime = adj_test_read_file (mime_path, NULL);
  g_autofree char *metainfo = adj_test_read_file (metainfo_path, NULL);
  g_autoptr (GKeyFile) entry = g_key_file_new ();
  g_auto (GStrv) types = NULL;
  g_autofree char *command = NULL;

  g_assert_true (g_key_file_load_from_file (entry, desktop_path, G_KEY_FILE_NONE, NULL));
  types = g_key_file_get_string_list (entry, "Desktop Entry", "MimeType", NULL, NULL);
  g_assert_cmpuint (g_strv_length (types), ==, 3);
  /* Links to nodes are passed as one URI. */
  g_assert_true (g_strv_contains ((const char *const *) types, "x-scheme-handler/adjoint"));
  command = g_key_file_get_string (entry, "Desktop Entry", "Exec", NULL);
  g_assert_true (g_str_has_suffix (command, " %U"));
  for (guint i = 0; types[i] != NULL; i++)
    if (!g_str_has_prefix (types[i], "x-scheme-handler/"))
      {
        g_autofree char *declared = g_strdup_printf ("<mime-type type=\"%s\">", types[i]);
        g_autofree char *provided = g_strdup_printf ("<mediatype>%s</mediatype>", types[i]);

        g_assert_nonnull (strstr (mime, declared));
        g_assert_nonnull (strstr (metainfo, provided));
      }
}

static void
check_type (const char *name, const char *head_of, const char *type)
{
  g_autofree char *path = head_of != NULL ? adj_test_data_path (head_of) : NULL;
  g_autofree char *head = NULL;
  g_autofree char *guessed = NULL;
  gsize length = 0;

  if (path != NULL)
    head = adj_test_read_file (path, &length);
  guessed = g_content_type_guess (name, (const guchar *) head, MIN (length, 4096), NULL);
  g_assert_cmpstr (guessed, ==, type);
}

static void
test_types_known (void)
{
  g_autoptr (AdjTestFolder) root = adj_test_folder_new ();
  g_autofree char *folder = g_build_filename (root->path, "mime", NULL);
  g_autofree char *packages = g_build_filename (folder, "packages", NULL);
  g_autofree char *there = g_build_filename (packages, "org.adjoint.Workbench.xml", NULL);
  g_autofree char *source = adj_test_data_path ("org.adjoint.Workbench.mime.xml");
  g_autofree char *contents = NULL;
  gsize length;

  if (!need_program ("update-mime-database"))
    return;
  contents = adj_test_read_file (source, &length);
  g_assert_cmpint (g_mkdir_with_parents (packages, 0755), ==, 0);
  g_assert_true (g_file_set_contents (there, contents, (gssize) length, NULL));
  check_accepts ((const char *[]){ "update-mime-database", folder, NULL });

  g_content_type_set_mime_dirs ((const char *[]){ folder, NULL });
  check_type ("step.adjoint", NULL, "application/x-adjoint");
  check_type (NULL, "graphs/mlp.adjoint", "application/x-adjoint");
  check_type ("dedicated_log_torch_trace_rank_0.log", NULL, "text/x-torch-trace");
}

static void
test_icons (void)
{
  g_autoptr (GKeyFile) entry = g_key_file_new ();
  g_autofree char *icon = NULL;

  g_assert_true (g_key_file_load_from_file (entry, desktop_path, G_KEY_FILE_NONE, NULL));
  icon = g_key_file_get_string (entry, "Desktop Entry", "Icon", NULL);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *name = g_strdup_printf ("icons/%s%s.svg", icon, i == 0 ? "" : "-symbolic");
      g_autofree char *path = adj_test_data_path (name);

      g_assert_true (g_file_test (path, G_FILE_TEST_IS_REGULAR));
    }
}

static void
test_settings (void)
{
  g_autofree char *folder = adj_test_data_path ("");

  if (need_program ("glib-compile-schemas"))
    check_accepts (
        (const char *[]){ "glib-compile-schemas", "--strict", "--dry-run", folder, NULL });
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  if (argc != 3)
    {
      g_printerr ("usage: test-desktop DESKTOP-FILE METAINFO-FILE\n");
      return 2;
    }
  desktop_path = argv[1];
  metainfo_path = argv[2];
  g_test_add_func ("/ui/desktop/entry", test_entry);
  g_test_add_func ("/ui/desktop/metainfo", test_metainfo);
  g_test_add_func ("/ui/desktop/types-agree", test_types_agree);
  g_test_add_func ("/ui/desktop/types-known", test_types_known);
  g_test_add_func ("/ui/desktop/icons", test_icons);
  g_test_add_func ("/ui/desktop/settings", test_settings);
  return g_test_run ();
}
