/* SPDX-License-Identifier: MIT */
/* A cache of files named by the hash of what they were made from; any of them may be lost. */

#include "base/adj-file-cache.h"

#include <glib/gstdio.h>

#include "base/adj-file-writer.h"

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static void
make_room (const char *folder, guint most)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_build_filename (folder, name, NULL));
  if (names->len < most)
    return;
  g_ptr_array_sort (names, compare_names);
  for (guint i = 0; i < names->len; i += 2)
    g_unlink (names->pdata[i]);
}

void
adj_file_cache_keep (const char *path, GBytes *bytes, guint most)
{
  g_autofree char *folder = g_path_get_dirname (path);

  if (g_mkdir_with_parents (folder, 0700) != 0)
    return;
  make_room (folder, most);
  adj_file_write (path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), ADJ_FILE_CACHE,
                  NULL);
}
