/* SPDX-License-Identifier: MIT */

/* Times cancelling a layout in the window: milliseconds until the window is usable, and until
 * the thread and its helpers have ended.  Medians, one JSON line. */

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "support/adj-test.h"
#include "support/layered-graph.h"
#include "ui/adj-walk.h"

#define N_RUNS 5

static gboolean
is_laying_out (gpointer document)
{
  const char *status = adj_document_get_status (document);

  return adj_document_get_scene (document) != NULL ||
         (adj_document_get_bundle (document) != NULL && status != NULL &&
          strstr (status, "layout ") != NULL);
}

static gboolean
is_free (gpointer document)
{
  return !adj_document_is_busy (document);
}

static gboolean
is_gone (gpointer data)
{
  return adj_task_count () == 0;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

/* %FALSE when the layout had finished before it could be cancelled. */
static gboolean
measure (AdjWindow *window, const char *path, double *until_free, double *until_gone)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  AdjDocument *document;
  gint64 begun;

  adj_window_open (window, file);
  document = adj_window_get_document (window);
  if (!adj_wait_until (is_laying_out, document, 60) || adj_document_get_scene (document) != NULL)
    return FALSE;
  begun = g_get_monotonic_time ();
  gtk_widget_activate_action (GTK_WIDGET (window), "win.stop", NULL);
  adj_wait_until (is_free, document, 20);
  *until_free = (g_get_monotonic_time () - begun) / 1e3;
  adj_wait_until (is_gone, NULL, 20);
  *until_gone = (g_get_monotonic_time () - begun) / 1e3;
  return TRUE;
}

int
main (int argc, char *argv[])
{
  guint n_layers = argc > 1 ? (guint) g_ascii_strtoull (argv[1], NULL, 10) : 400, n = 0;
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (n_layers, TRUE);
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  g_autoptr (AdjApplication) application = NULL;
  g_autoptr (AdjTestFolder) folder = NULL;
  g_autofree char *path = NULL;
  double until_free[N_RUNS], until_gone[N_RUNS];
  AdjWindow *window;

  if (!adj_walk_init ())
    {
      g_printerr ("bench-cancel: there is no display\n");
      return 77;
    }
  folder = adj_test_folder_new ();
  path = g_build_filename (folder->path, "deep.txt", NULL);
  g_file_set_contents (path, text, -1, NULL);
  application = adj_application_new (G_APPLICATION_NON_UNIQUE);
  g_application_register (G_APPLICATION (application), NULL, NULL);
  window = adj_walk_open_window (application, 1280, 800);
  for (guint run = 0; run < N_RUNS; run++)
    n += measure (window, path, &until_free[n], &until_gone[n]);
  qsort (until_free, n, sizeof *until_free, compare);
  qsort (until_gone, n, sizeof *until_gone, compare);
  if (n > 0)
    g_print ("{\"bench\": \"layout-cancel\", \"nodes\": %u, \"runs\": %u, \"free_ms\": %.1f, "
             "\"gone_ms\": %.1f, \"worst_ms\": %.1f}\n",
             adj_graph_get_n_nodes (graph), n, until_free[n / 2], until_gone[n / 2],
             until_gone[n - 1]);
  adj_walk_close (window);
  return n > 0 ? 0 : 1;
}
