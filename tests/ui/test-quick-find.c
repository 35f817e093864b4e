/* SPDX-License-Identifier: MIT */

/* Typing in a list finds rows, with keys sent by the X server. */

#include "ir/adj-graph.h"
#include "model/adj-log.h"
#include "model/adj-module-item.h"
#include "model/adj-stages.h"
#include "panel/adj-log-page.h"
#include "panel/adj-memory-page.h"
#include "panel/adj-values-page.h"
#include "report/adj-stage-change.h"
#include "sidebar/adj-sidebar.h"
#include "stages/adj-changes-page.h"
#include "stages/adj-findings-page.h"
#include "support/adj-test.h"
#include "ui/adj-mouse.h"
#include "widgets/quick-find.h"

#define UNTIL ADJ_MOUSE_UNTIL

static AdjApplication *application;

/* -- matching -- */

static const char *const words[] = { "relu", "Gelu", "detach", "elu", "gelu_backward" };

static guint
count_words (gpointer self)
{
  return G_N_ELEMENTS (words);
}

static char *
get_word (gpointer self, guint row)
{
  return g_strdup (words[row]);
}

static void
test_matches (void)
{
  static const struct
  {
    const char *text;
    guint from;
    int step;
    guint found;
  } cases[] = {
    { "gelu", 0, 0, 1 },
    { "GELU", 1, 0, 1 },
    { "gelu", 1, 1, 4 },
    { "gelu", 4, 1, 1 },
    { "gelu", 1, -1, 4 },
    /* A row that begins with the text precedes one that contains it, at any position. */
    { "elu", 0, 0, 3 },
    { "lu", 0, 0, 0 },
    { "lu", 0, 1, 1 },
    { "lu", 0, -1, 4 },
    { "tanh", 0, 0, G_MAXUINT },
    { "", 2, 0, G_MAXUINT },
    /* A single match is also its own next match. */
    { "det", 2, 1, 2 },
    { "det", 9, 0, 2 },
  };
  static const AdjQuickFind find = { count_words, get_word, NULL, NULL, NULL };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpuint (
        adj_quick_find_match (&find, NULL, cases[i].text, cases[i].from, cases[i].step), ==,
        cases[i].found);
}

/* -- lists -- */

static GtkWidget *
find_list (AdjWindow *window, GType page, GType list)
{
  return adj_walk_find (adj_walk_find (GTK_WIDGET (window), page, NULL), list, NULL);
}

/* Clicks the list, which focuses the row at that position. */
static void
click_list (AdjWindow *window, GtkWidget *list, double y)
{
  adj_mouse_focus (GTK_WIDGET (window));
  adj_mouse_click (list, 60, y);
  UNTIL (gtk_widget_get_focus_child (list) != NULL);
}

static const char *
get_selected_name (AdjWindow *window)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjNodeId selected = adj_document_get_selected (document);

  return adj_node_id_is_valid (selected)
             ? adj_graph_get_node (adj_document_get_graph (document)->graph, selected.index)->name
             : "";
}

static AdjModuleItem *
get_module (GtkWidget *list)
{
  GtkSelectionModel *model = gtk_list_view_get_model (GTK_LIST_VIEW (list));
  GtkTreeListRow *row = gtk_single_selection_get_selected_item (GTK_SINGLE_SELECTION (model));
  g_autoptr (AdjModuleItem) item = row != NULL ? gtk_tree_list_row_get_item (row) : NULL;

  return item;
}

static gboolean
is_module (GtkWidget *list, const char *path)
{
  return get_module (list) != NULL &&
         g_str_equal (adj_module_item_get_path (get_module (list)), path);
}

static void
test_modules (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  GtkWidget *list = find_list (window, ADJ_TYPE_SIDEBAR, GTK_TYPE_LIST_VIEW);

  adj_document_set_selected (adj_window_get_document (window), ADJ_NO_NODE);
  click_list (window, list, 12);
  /* Rows inside of closed ones are found. */
  adj_mouse_do ("type --delay 20 mlp");
  UNTIL (is_module (list, "h.0.mlp"));
  adj_mouse_do ("key Down");
  UNTIL (!is_module (list, "h.0.mlp"));
  adj_mouse_do ("key Up");
  UNTIL (is_module (list, "h.0.mlp"));
  /* Enter goes to the found node, and back to its row. */
  g_assert_cmpstr (get_selected_name (window), ==, "");
  adj_mouse_do ("key Return");
  UNTIL (*get_selected_name (window) != '\0');
  g_assert_cmpuint (adj_document_get_selected (adj_window_get_document (window)).index, ==,
                    adj_module_item_get_first (get_module (list)).index);
  UNTIL (gtk_widget_get_focus_child (list) != NULL);
  adj_mouse_do ("key Down");
  UNTIL (!is_module (list, "h.0.mlp"));
  adj_walk_close (window);
}

static void
test_graphs (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  GtkWidget *list = find_list (window, ADJ_TYPE_SIDEBAR, GTK_TYPE_LIST_BOX);
  AdjDocument *document = adj_window_get_document (window);
  const AdjBundleGraph *joint = adj_document_get_graph (document);

  click_list (window, list, 70);
  adj_mouse_do ("key slash type --delay 20 back");
  UNTIL (adj_document_get_graph (document) != joint &&
         g_str_equal (adj_document_get_graph (document)->role, "backward"));
  adj_mouse_do ("key Escape");
  UNTIL (gtk_widget_get_focus_child (list) != NULL);
  adj_walk_close (window);
}

static void
test_nodes (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  GtkWidget *list, *entry;

  g_assert_true (adj_walk_run (window, "win.run"));
  adj_walk_settle (window);
  list = find_list (window, ADJ_TYPE_VALUES_PAGE, GTK_TYPE_COLUMN_VIEW);
  click_list (window, list, 50);
  adj_mouse_do ("type --delay 20 gelu_b");
  UNTIL (g_str_equal (get_selected_name (window), "gelu_backward"));
  /* A text without a match keeps the row and marks the entry. */
  entry = find_list (window, ADJ_TYPE_VALUES_PAGE, GTK_TYPE_SEARCH_ENTRY);
  adj_mouse_do ("type --delay 20 xx");
  UNTIL (gtk_widget_has_css_class (entry, "error"));
  g_assert_cmpstr (get_selected_name (window), ==, "gelu_backward");
  adj_mouse_do ("key BackSpace BackSpace");
  UNTIL (!gtk_widget_has_css_class (entry, "error"));
  adj_mouse_do ("key Escape");
  UNTIL (gtk_widget_get_focus_child (list) != NULL);
  adj_walk_close (window);
}

/* Opens a bottom page of the chosen tab and returns its list. */
static GtkWidget *
show_list (AdjWindow *window, const char *page, GType type, GType list)
{
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", page);
  adj_walk_settle (window);
  return adj_walk_find (adj_walk_find_mapped (GTK_WIDGET (window), type), list, NULL);
}

/* Returns the selected row. */
static gpointer
get_row (GtkWidget *list)
{
  GtkSelectionModel *model = GTK_IS_COLUMN_VIEW (list)
                                 ? gtk_column_view_get_model (GTK_COLUMN_VIEW (list))
                                 : gtk_list_view_get_model (GTK_LIST_VIEW (list));

  return gtk_single_selection_get_selected_item (GTK_SINGLE_SELECTION (model));
}

static void
test_ledger (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  GtkWidget *list = show_list (window, "memory", ADJ_TYPE_MEMORY_PAGE, GTK_TYPE_COLUMN_VIEW);

  click_list (window, list, 50);
  adj_mouse_do ("type --delay 20 gelu_b");
  UNTIL (g_str_equal (get_selected_name (window), "gelu_backward"));
  adj_mouse_do ("key Escape");
  UNTIL (gtk_widget_get_focus_child (list) != NULL);
  adj_walk_close (window);
}

static void
test_log (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  GtkWidget *list = show_list (window, "log", ADJ_TYPE_LOG_PAGE, GTK_TYPE_LIST_VIEW);

  click_list (window, list, 10);
  adj_mouse_do ("type --delay 20 laid");
  UNTIL (get_row (list) != NULL &&
         g_str_has_prefix (adj_log_item_get_text (get_row (list)), "Laid out"));
  adj_walk_close (window);
}

static void
test_changes (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "dynamo");
  AdjDocument *document;
  GtkWidget *list;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.trace", NULL);
  document = adj_window_get_document (window);
  UNTIL (!adj_document_is_busy (document));
  adj_stages_show (document,
                   (guint) adj_recording_find (adj_stages_get_recording (document), "joint"));
  UNTIL (!adj_document_is_busy (document));
  list = show_list (window, "changes", ADJ_TYPE_CHANGES_PAGE, GTK_TYPE_LIST_VIEW);
  click_list (window, list, 10);
  adj_mouse_do ("type --delay 20 gelu_b");
  UNTIL (get_row (list) != NULL &&
         g_str_has_prefix (adj_stage_change_get_what (get_row (list)), "gelu_backward"));
  /* Enter goes to the found node. */
  adj_mouse_do ("key Return");
  UNTIL (g_str_equal (get_selected_name (window), "gelu_backward"));
  adj_walk_close (window);
}

static void
test_findings (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "aot", "errors", "overlap-written.txt", NULL);
  GtkWidget *list;

  g_assert_true (adj_walk_open (window, path));
  list = show_list (window, "findings", ADJ_TYPE_FINDINGS_PAGE, GTK_TYPE_LIST_VIEW);
  UNTIL (gtk_list_view_get_model (GTK_LIST_VIEW (list)) != NULL);
  adj_walk_settle (window);
  click_list (window, list, 10);
  adj_mouse_do ("key slash type --delay 20 expand");
  UNTIL (gtk_search_bar_get_search_mode (
      GTK_SEARCH_BAR (find_list (window, ADJ_TYPE_FINDINGS_PAGE, GTK_TYPE_SEARCH_BAR))));
  adj_mouse_do ("key Return");
  UNTIL (g_str_equal (get_selected_name (window), "expand") ||
         g_str_equal (get_selected_name (window), "mul_"));
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/quick-find/matches", test_matches);
  g_test_add_func ("/ui/quick-find/modules", test_modules);
  g_test_add_func ("/ui/quick-find/graphs", test_graphs);
  g_test_add_func ("/ui/quick-find/nodes", test_nodes);
  g_test_add_func ("/ui/quick-find/ledger", test_ledger);
  g_test_add_func ("/ui/quick-find/log", test_log);
  g_test_add_func ("/ui/quick-find/changes", test_changes);
  g_test_add_func ("/ui/quick-find/findings", test_findings);
  return g_test_run ();
}
