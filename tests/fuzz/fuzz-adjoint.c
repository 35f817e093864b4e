/* SPDX-License-Identifier: MIT */

/* Fuzzes .adjoint folders of two entries, a manifest and the graph "g": the input is "manifest
 * NUL graph". */

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "formats/adj-format.h"
#include "support/adj-test.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
write_entry (const char *folder, const char *name, const guint8 *data, gsize size)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_file_set_contents_full (path, (const char *) data, size, G_FILE_SET_CONTENTS_NONE, 0600, NULL);
}

static AdjTestFolder *folder;

static void
remove_folder (void)
{
  g_clear_pointer (&folder, adj_test_folder_free);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const guint8 *end = memchr (data, '\0', size);
  gsize length = end != NULL ? (gsize) (end - data) : size;
  g_autoptr (AdjBundle) bundle = NULL;
  g_autofree char *copy = NULL;

  if (folder == NULL)
    {
      g_autofree char *graphs = NULL;

      folder = adj_test_folder_new ();
      graphs = g_build_filename (folder->path, "graphs", NULL);
      g_mkdir (graphs, 0700);
      atexit (remove_folder);
    }
  write_entry (folder->path, "adjoint.json", data, length);
  write_entry (folder->path, "graphs/g.json", end != NULL ? end + 1 : data,
               end != NULL ? size - length - 1 : 0);
  bundle = adj_bundle_load (folder->path, NULL, NULL);
  if (bundle != NULL)
    {
      g_autoptr (AdjBundle) again = NULL;
      g_autoptr (GError) error = NULL;

      copy = g_build_filename (folder->path, "copy.adjoint", NULL);
      if (adj_format_find ("adjoint", NULL)->save (bundle, copy, NULL, NULL, NULL))
        {
          again = adj_bundle_load (copy, NULL, &error);
          g_assert_no_error (error);
        }
    }
  return 0;
}
