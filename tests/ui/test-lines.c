/* SPDX-License-Identifier: MIT */

/* The lines of the source, ranked by what their nodes cost, in a real window. */

#include "ir/adj-graph.h"
#include "layout/adj-saved-values.h"
#include "model/adj-line-item.h"
#include "panel/adj-lines-pane.h"
#include "panel/adj-source-page.h"
#include "ui/adj-mouse.h"

#define UNTIL ADJ_MOUSE_UNTIL

static AdjApplication *application;

static GtkWidget *
find_pane (AdjWindow *window)
{
  return adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_LINES_PANE);
}

static GListModel *
get_rows (AdjWindow *window)
{
  return G_LIST_MODEL (gtk_column_view_get_model (
      GTK_COLUMN_VIEW (adj_walk_find_mapped (find_pane (window), GTK_TYPE_COLUMN_VIEW))));
}

/* Opens the page of the source with nothing selected. */
static AdjWindow *
open_lines (const char *file, const char *role)
{
  AdjWindow *window = adj_walk_open_graph (application, file, role);

  adj_document_set_selected (adj_window_get_document (window), ADJ_NO_NODE);
  adj_window_show_page (window, "source");
  adj_walk_settle (window);
  g_assert_nonnull (find_pane (window));
  return window;
}

/* The sum over all rows, each of which costs at most as much as the row before. */
static gint64
sum_falling (AdjWindow *window, AdjLineCost cost)
{
  GtkWidget *table = adj_walk_find_mapped (find_pane (window), GTK_TYPE_COLUMN_VIEW);
  GListModel *rows = get_rows (window);
  gint64 sum = 0, before = G_MAXINT64;

  for (guint i = 0; i < g_list_model_get_n_items (rows); i++)
    {
      g_autoptr (AdjLineItem) line = g_list_model_get_item (rows, i);

      g_assert_cmpint (adj_line_item_get_cost (line, cost), <=, before);
      before = adj_line_item_get_cost (line, cost);
      sum += before;
    }
  g_assert_cmpfloat (
      gtk_adjustment_get_value (gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (table))), ==, 0);
  return sum;
}

static void
rank_by (AdjWindow *window, AdjLineCost cost)
{
  gtk_drop_down_set_selected (
      GTK_DROP_DOWN (adj_walk_find_mapped (find_pane (window), GTK_TYPE_DROP_DOWN)), cost);
  adj_walk_settle (window);
}

/* Every node with a stack trace and all saved bytes are counted once; times come with a run. */
static void
test_ranks (void)
{
  AdjWindow *window = open_lines ("graphs/gpt2.adjoint", "forward+backward");
  AdjDocument *document = adj_window_get_document (window);
  const AdjGraph *graph = adj_document_get_graph (document)->graph;
  gint64 n_traced = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    n_traced += adj_graph_get_node (graph, i)->meta.n_frames > 0;
  g_assert_cmpint (sum_falling (window, ADJ_LINE_SAVED), >, 0);
  g_assert_cmpint (sum_falling (window, ADJ_LINE_SAVED), ==,
                   adj_graph_get_saved_values (graph)->bytes);
  rank_by (window, ADJ_LINE_NODES);
  g_assert_cmpint (sum_falling (window, ADJ_LINE_NODES), ==, n_traced);
  adj_walk_keep (window, "lines-nodes");
  rank_by (window, ADJ_LINE_TIME);
  g_assert_nonnull (
      adj_walk_find (find_pane (window), GTK_TYPE_LABEL, "Run the graph (F5) to know the times"));
  g_assert_cmpint (sum_falling (window, ADJ_LINE_TIME), ==, 0);
  g_assert_true (adj_walk_run (window, "win.run"));
  adj_document_set_selected (document, ADJ_NO_NODE);
  adj_window_show_page (window, "source");
  adj_walk_settle (window);
  g_assert_cmpint (sum_falling (window, ADJ_LINE_TIME), >, 0);
  adj_walk_keep (window, "lines-time");
  adj_walk_close (window);
}

/* A click lights the nodes of a line, Enter selects them and shows the code, the button below the
 * stack trace leads back. */
static void
test_opens (void)
{
  AdjWindow *window = open_lines ("graphs/mlp.adjoint", "joint");
  AdjDocument *document = adj_window_get_document (window);
  g_autoptr (AdjLineItem) second = g_list_model_get_item (get_rows (window), 1);
  const AdjFrame *frame = adj_line_item_get_frame (second);
  GArray *nodes = adj_line_item_get_nodes (second);
  g_autofree char *base = g_path_get_basename (frame->file);
  g_autofree char *place = g_strdup_printf ("%s:%u", base, frame->line);
  g_autofree char *where = g_strdup_printf ("%s, line %u", frame->function, frame->line);
  GtkWidget *page;

  g_assert_cmpuint (nodes->len, >, 1);
  adj_mouse_focus (GTK_WIDGET (window));
  adj_mouse_click (adj_walk_find (find_pane (window), GTK_TYPE_LABEL, place), 8, 8);
  UNTIL (adj_document_get_lit (document) != NULL);
  g_assert_cmpuint (adj_document_get_lit (document)->len, ==, nodes->len);
  g_assert_false (adj_node_id_is_valid (adj_document_get_selected (document)));
  adj_walk_keep (window, "lines-lit");
  adj_mouse_do ("key Return");
  UNTIL (adj_document_get_chosen (document) != NULL);
  g_assert_cmpuint (adj_document_get_chosen (document)->len, ==, nodes->len);
  page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_SOURCE_PAGE);
  UNTIL (adj_walk_find (page, GTK_TYPE_LABEL, where) != NULL);
  adj_walk_settle (window);
  adj_walk_keep (window, "lines-code");
  adj_mouse_click (adj_walk_find (page, GTK_TYPE_LABEL, "All Lines"), 4, 4);
  UNTIL (find_pane (window) != NULL);
  g_assert_false (adj_node_id_is_valid (adj_document_get_selected (document)));
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/lines/ranks", test_ranks);
  g_test_add_func ("/lines/opens", test_opens);
  return g_test_run ();
}
