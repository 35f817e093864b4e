/* SPDX-License-Identifier: MIT */

/* The findings page: checks run in a thread when the page is shown, and a row selects its nodes. */

#include "ir/adj-graph.h"
#include "stages/adj-findings-page.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

static gboolean
is_listed (gpointer page)
{
  return adj_walk_find (page, GTK_TYPE_LABEL, "2.0 to 2.6") != NULL;
}

static void
assert_chosen (AdjDocument *document, const char *const *names)
{
  const AdjGraph *graph = adj_document_get_graph (document)->graph;
  GArray *chosen = adj_document_get_chosen (document);

  g_assert_nonnull (chosen);
  g_assert_cmpuint (chosen->len, ==, g_strv_length ((char **) names));
  for (guint i = 0; i < chosen->len; i++)
    g_assert_cmpstr (adj_graph_get_node (graph, g_array_index (chosen, guint32, i))->name, ==,
                     names[i]);
}

static void
test_findings (void)
{
  static const char *const names[] = { "expand", "mul_", NULL };
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "aot", "errors", "overlap-written.txt", NULL);
  AdjDocument *document;
  GtkWidget *page, *rows;

  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  document = adj_window_get_document (window);
  page = adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_FINDINGS_PAGE, NULL);
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", "findings");
  /* The window stays usable meanwhile. */
  g_assert_false (is_listed (page));
  g_assert_nonnull (adj_walk_find (page, GTK_TYPE_LABEL, "Checking…"));
  g_assert_true (adj_wait_until (is_listed, page, 20));
  rows = adj_walk_find (page, GTK_TYPE_LIST_VIEW, NULL);
  g_signal_emit_by_name (rows, "activate", 0);
  adj_walk_settle (window);
  assert_chosen (document, names);
  adj_walk_close (window);
}

/* The window is closed while checks are running. */
static void
test_close (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "aot", "errors", "overlap-written.txt", NULL);

  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", "findings");
  adj_walk_close (window);
  g_assert_cmpuint (adj_task_count (), ==, 0);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/findings/findings", test_findings);
  g_test_add_func ("/ui/findings/close", test_close);
  return g_test_run ();
}
