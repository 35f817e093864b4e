/* SPDX-License-Identifier: MIT */

/* Selecting several nodes in a real window: on the canvas, in a table, by search; the
 * inspector's summary; undo and redo. */

#include <gio/gio.h>
#include <string.h>

#include "inspect/adj-inspector.h"
#include "ir/adj-graph.h"
#include "panel/adj-values-page.h"
#include "report/adj-selection-totals.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"
#include "window/adj-search-bar.h"

static AdjApplication *application;

typedef struct
{
  AdjWindow *window;
  AdjDocument *document;
  const AdjGraph *graph;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  fixture->document = adj_window_get_document (fixture->window);
  fixture->graph = adj_document_get_graph (fixture->document)->graph;
  /* Undoes the changes of the previous test. */
  adj_document_set_selected (fixture->document, ADJ_NO_NODE);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  adj_walk_close (fixture->window);
}

static AdjNodeId
find (Fixture *fixture, const char *name)
{
  AdjNodeId id = adj_graph_find_node (fixture->graph, name);

  g_assert_true (adj_node_id_is_valid (id));
  return id;
}

static void
assert_selected (Fixture *fixture, const char *names)
{
  g_autofree char *selected = adj_document_list_names (fixture->document);

  g_assert_cmpstr (selected, ==, names);
}

static gboolean
inspector_says (Fixture *fixture, const char *text)
{
  GtkWidget *root = adj_walk_find (GTK_WIDGET (fixture->window), ADJ_TYPE_INSPECTOR, NULL);

  adj_walk_settle (fixture->window);
  return adj_walk_find (root, GTK_TYPE_LABEL, text) != NULL;
}

static void
choose_three (Fixture *fixture)
{
  adj_document_set_selected (fixture->document, find (fixture, "addmm"));
  adj_document_choose_more (fixture->document, find (fixture, "relu"), FALSE);
  adj_document_choose_more (fixture->document, find (fixture, "gelu"), FALSE);
}

static void
test_adds (Fixture *fixture, gconstpointer data)
{
  choose_three (fixture);
  assert_selected (fixture, "addmm\nrelu\ngelu");
  g_assert_cmpuint (adj_document_get_selected (fixture->document).index, ==,
                    find (fixture, "gelu").index);
  g_assert_true (inspector_says (fixture, "3 nodes"));
  g_assert_true (inspector_says (fixture, "aten.relu.default"));

  /* A toggle (Ctrl) removes a selected node and keeps the others; adding (Shift) a selected node
   * focuses it. */
  adj_document_choose_more (fixture->document, find (fixture, "relu"), TRUE);
  assert_selected (fixture, "addmm\ngelu");
  adj_document_choose_more (fixture->document, find (fixture, "addmm"), FALSE);
  assert_selected (fixture, "gelu\naddmm");
  adj_document_choose_more (fixture->document, find (fixture, "gelu"), TRUE);
  assert_selected (fixture, "addmm");
  g_assert_null (adj_document_get_chosen (fixture->document));
  g_assert_true (inspector_says (fixture, "addmm"));

  /* A node shown by itself. */
  choose_three (fixture);
  adj_document_set_selected (fixture->document, find (fixture, "relu"));
  assert_selected (fixture, "relu");
}

static void
test_undoes (Fixture *fixture, gconstpointer data)
{
  GtkWidget *root = GTK_WIDGET (fixture->window);

  choose_three (fixture);
  adj_document_set_selected (fixture->document, find (fixture, "addmm"));
  gtk_widget_activate_action (root, "win.undo", NULL);
  assert_selected (fixture, "addmm\nrelu\ngelu");
  gtk_widget_activate_action (root, "win.undo", NULL);
  assert_selected (fixture, "addmm\nrelu");
  gtk_widget_activate_action (root, "win.redo", NULL);
  assert_selected (fixture, "addmm\nrelu\ngelu");
  /* Another graph has other nodes, so the selection is cleared. */
  g_assert_true (adj_walk_choose_graph (fixture->window, "forward"));
  g_assert_null (adj_document_get_chosen (fixture->document));
}

static void
test_canvas (Fixture *fixture, gconstpointer data)
{
  AdjGraphView *view = adj_window_get_view (fixture->window);
  const AdjScene *scene = adj_document_get_scene (fixture->document);
  guint n = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      n += (box->kind == ADJ_BOX_NODE || box->kind == ADJ_BOX_PILL) &&
           adj_node_id_is_valid (box->node);
    }
  gtk_widget_activate_action (GTK_WIDGET (view), "canvas.select-all", NULL);
  g_assert_cmpuint (adj_document_get_chosen (fixture->document)->len, ==, n);
  gtk_widget_activate_action (GTK_WIDGET (view), "canvas.clear", NULL);
  g_assert_null (adj_document_get_chosen (fixture->document));
  g_assert_false (adj_node_id_is_valid (adj_document_get_selected (fixture->document)));

  choose_three (fixture);
  g_assert_cmpuint (adj_graph_view_get_selected (view).index, ==, find (fixture, "gelu").index);
}

static void
test_table (Fixture *fixture, gconstpointer data)
{
  GtkWidget *page, *table;
  GtkSelectionModel *rows;
  g_autoptr (GtkBitset) two = gtk_bitset_new_range (3, 2);
  g_autoptr (GtkBitset) all = NULL;
  g_autoptr (GtkBitset) selected = NULL;

  g_assert_true (adj_walk_run (fixture->window, "win.run"));
  page = adj_walk_find (GTK_WIDGET (fixture->window), ADJ_TYPE_VALUES_PAGE, NULL);
  table = adj_walk_find (page, GTK_TYPE_COLUMN_VIEW, NULL);
  rows = gtk_column_view_get_model (GTK_COLUMN_VIEW (table));
  all = gtk_bitset_new_range (0, g_list_model_get_n_items (G_LIST_MODEL (rows)));

  gtk_selection_model_set_selection (rows, two, all);
  g_assert_cmpuint (adj_document_get_chosen (fixture->document)->len, ==, 2);
  adj_walk_settle (fixture->window);
  selected = gtk_selection_model_get_selection (rows);
  g_assert_cmpuint (gtk_bitset_get_size (selected), ==, 2);
  g_assert_true (inspector_says (fixture, "2 nodes"));

  choose_three (fixture);
  gtk_bitset_unref (g_steal_pointer (&selected));
  selected = gtk_selection_model_get_selection (rows);
  g_assert_cmpuint (gtk_bitset_get_size (selected), ==, 3);
  adj_document_set_selected (fixture->document, find (fixture, "relu"));
  gtk_bitset_unref (g_steal_pointer (&selected));
  selected = gtk_selection_model_get_selection (rows);
  g_assert_cmpuint (gtk_bitset_get_size (selected), ==, 1);
}

static gboolean
is_flow (gpointer data)
{
  return !adj_document_is_busy (data);
}

/* All results are selected; their flow combines the flows of each. */
static void
test_search (Fixture *fixture, gconstpointer data)
{
  GtkWidget *bar = adj_walk_find (GTK_WIDGET (fixture->window), ADJ_TYPE_SEARCH_BAR, NULL);
  GtkWidget *entry = adj_walk_find (bar, GTK_TYPE_SEARCH_ENTRY, NULL);
  const AdjScene *scene;

  adj_window_find (fixture->window);
  adj_walk_settle (fixture->window);
  gtk_editable_set_text (GTK_EDITABLE (entry), "name:elu op:elu.default");
  g_signal_emit_by_name (entry, "search-changed");
  adj_walk_click (bar, "Select All");
  assert_selected (fixture, "relu\ngelu");

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.flow", NULL);
  g_assert_true (adj_wait_until (is_flow, fixture->document, 60));
  scene = adj_document_get_scene (fixture->document);
  g_assert_cmpint (adj_document_get_arrangement (fixture->document)->view, ==, ADJ_VIEW_FLOW);
  g_assert_cmpuint (adj_scene_find_node (scene, find (fixture, "relu")), !=, ADJ_NO_BOX);
  g_assert_cmpuint (adj_scene_find_node (scene, find (fixture, "gelu")), !=, ADJ_NO_BOX);
}

static void
test_copies (Fixture *fixture, gconstpointer data)
{
  GtkWidget *root = GTK_WIDGET (fixture->window);
  g_autofree char *text = NULL;

  g_assert_false (
      g_action_group_get_action_enabled (G_ACTION_GROUP (fixture->window), "copy-names"));
  choose_three (fixture);
  gtk_widget_activate_action (root, "win.copy-names", NULL);
  text = adj_walk_read_clipboard (fixture->window);
  g_assert_cmpstr (text, ==, "addmm\nrelu\ngelu");
  gdk_clipboard_set_content (gtk_widget_get_clipboard (root), NULL);
}

/* addmm and relu are f32[8, 32]; sum_3 is f32[1, 32], and view_2 is a view of it. */
static void
test_properties (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  const char *names[] = { "addmm", "relu", "sum_3", "view_2" };
  g_autoptr (AdjSelectionTotals) totals = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      AdjNodeId id = find (fixture, names[i]);

      g_array_append_val (nodes, id.index);
    }
  totals =
      adj_selection_totals_new (fixture->graph, adj_document_get_scene (fixture->document), nodes);
  g_assert_cmpuint (totals->n, ==, 4);
  g_assert_cmpuint (totals->n_backward, ==, 2);
  g_assert_cmpuint (totals->n_unknown, ==, 0);
  g_assert_cmpint (totals->bytes, ==, 2 * 8 * 32 * 4 + 32 * 4);
  g_assert_cmpint (totals->ns, ==, -1);
  g_assert_cmpuint (totals->operators->len, ==, 4);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
#define ADD(path, test) g_test_add (path, Fixture, NULL, set_up, test, tear_down)
  ADD ("/ui/selection/adds", test_adds);
  ADD ("/ui/selection/undoes", test_undoes);
  ADD ("/ui/selection/canvas", test_canvas);
  ADD ("/ui/selection/table", test_table);
  ADD ("/ui/selection/search", test_search);
  ADD ("/ui/selection/copies", test_copies);
  ADD ("/ui/selection/facts", test_properties);
  return g_test_run ();
}
