/* SPDX-License-Identifier: MIT */
/* Which files a TORCH_TRACE log consists of, what their names say, and what stands in one. */

#include <string.h>

#include "base/adj-file-internal.h"
#include "formats/log-files-private.h"
#include "formats/text-formats-private.h"

#define FILE_PREFIX "dedicated_log_torch_trace_"
#define MAX_LOG_BYTES (G_GUINT64_CONSTANT (4) << 30)

gboolean
log_file_has_name (const char *name)
{
  return g_str_has_prefix (name, FILE_PREFIX);
}

/* "…_rank_3_abcdefgh.log" → 3 */
gint
log_file_rank (const char *name)
{
  const char *at = strstr (name, FILE_PREFIX "rank_");

  return at != NULL ? (gint) CLAMP (g_ascii_strtoll (at + strlen (FILE_PREFIX "rank_"), NULL, 10),
                                    0, 1 << 20)
                    : -1;
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

GPtrArray *
log_files_of (const char *path, GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) folder = NULL;
  const char *name;

  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      g_ptr_array_add (files, g_strdup (path));
      return g_steal_pointer (&files);
    }
  folder = g_dir_open (path, 0, error);
  if (folder == NULL)
    return NULL;
  while ((name = g_dir_read_name (folder)) != NULL)
    if (log_file_has_name (name))
      g_ptr_array_add (files, g_build_filename (path, name, NULL));
  g_ptr_array_sort (files, by_name);
  return g_steal_pointer (&files);
}

GBytes *
log_file_read (const char *path, GCancellable *cancellable, GError **error)
{
  return gzip_is (path)
             ? gzip_read (path, cancellable, error)
             : adj_file_read (path, ADJ_FILE_MAY_GROW, MAX_LOG_BYTES, cancellable, error);
}
