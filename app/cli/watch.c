/* SPDX-License-Identifier: MIT */
/* Follows a file or a folder of logs while a program writes it. */

#include "watch.h"

#include <errno.h>
#include <gio/gio.h>
#include <stdio.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/adj-error.h"
#include "ir/adj-graph.h"
#include "plugins.h"

#define INTERVAL (300 * G_TIME_SPAN_MILLISECOND)

/* What was seen last: it changes with every write. */
typedef struct
{
  guint64 n_files, bytes;
  gint64 newest; /* nanoseconds */
} Trace;

static void
take_file (const char *path, Trace *trace)
{
  GStatBuf info;

  if (g_stat (path, &info) != 0)
    return;
  trace->n_files++;
  trace->bytes += (guint64) info.st_size;
  trace->newest =
      MAX (trace->newest,
           (gint64) info.st_mtim.tv_sec * G_GINT64_CONSTANT (1000000000) + info.st_mtim.tv_nsec);
}

static gboolean
look (const char *path, Trace *trace, GError **error)
{
  g_autoptr (GDir) folder = NULL;
  const char *name;

  *trace = (Trace){ 0 };
  if (g_access (path, R_OK) != 0)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s", path,
                   g_strerror (errno));
      return FALSE;
    }
  take_file (path, trace);
  folder = g_file_test (path, G_FILE_TEST_IS_DIR) ? g_dir_open (path, 0, NULL) : NULL;
  while (folder != NULL && (name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *file = g_build_filename (path, name, NULL);

      take_file (file, trace);
    }
  return TRUE;
}

static gboolean
is_same (const Trace *a, const Trace *b)
{
  return a->n_files == b->n_files && a->bytes == b->bytes && a->newest == b->newest;
}

/* What has no graph yet may get one, and what was cut off grows; @shown: how many calls those had
 * that were printed, and one more, by id. */
static void
print_new (const char *path, GHashTable *shown)
{
  g_autoptr (AdjBundle) bundle = plugins_load_bundle (path, NULL);

  for (guint i = 0; bundle != NULL && i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *entry = adj_bundle_get_graph (bundle, i);
      guint n = adj_graph_get_n_calls (entry->graph);

      if (GPOINTER_TO_UINT (g_hash_table_lookup (shown, entry->id)) == n + 1)
        continue;
      g_hash_table_replace (shown, g_strdup (entry->id), GUINT_TO_POINTER (n + 1));
      printf ("%-28s %-18s %12u %8u\n", entry->id, entry->role,
              adj_graph_get_n_inputs (entry->graph), n);
    }
  fflush (stdout);
}

AdjExit
adj_watch (const char *path, GError **error)
{
  g_autoptr (GHashTable) shown = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Trace last = { 0 }, now;

  printf ("%-28s %-18s %12s %8s\n", "GRAPH", "ROLE", "PLACEHOLDERS", "NODES");
  while (ferror (stdout) == 0)
    {
      if (!look (path, &now, error))
        return ADJ_EXIT_BAD_INPUT;
      if (!is_same (&last, &now))
        print_new (path, shown);
      last = now;
      g_usleep (INTERVAL);
    }
  return ADJ_EXIT_DONE;
}
