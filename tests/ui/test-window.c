/* SPDX-License-Identifier: MIT */

/* The real window on a display: open, switch, select, run, compare, damaged files. */

#include <gio/gio.h>
#include <glib/gstdio.h>

#include "canvas/adj-graph-view.h"
#include "inspect/adj-inspector.h"
#include "ir/adj-graph.h"
#include "panel/adj-difference-pane.h"
#include "panel/adj-difference-view.h"
#include "panel/adj-source-page.h"
#include "sidebar/adj-graph-row.h"
#include "sidebar/adj-sidebar.h"
#include "support/adj-test.h"
#include "support/planted-bundle.h"
#include "ui/adj-walk.h"

/* One for all windows: a second one would claim the same bus name. */
static AdjApplication *application;

typedef struct
{
  AdjWindow *window;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer name)
{
  fixture->window = name != NULL ? adj_walk_open_graph (application, name, "joint")
                                 : adj_walk_open_window (application, 1280, 900);
}

static void
tear_down (Fixture *fixture, gconstpointer name)
{
  adj_walk_close (fixture->window);
}

static gboolean
shows (Fixture *fixture, GType panel, const char *label)
{
  GtkWidget *root = adj_walk_find (GTK_WIDGET (fixture->window), panel, NULL);

  return adj_walk_find (root, GTK_TYPE_LABEL, label) != NULL;
}

static const char *
get_subtitle (Fixture *fixture)
{
  return adw_window_title_get_subtitle (
      ADW_WINDOW_TITLE (adj_walk_find (GTK_WIDGET (fixture->window), ADW_TYPE_WINDOW_TITLE, NULL)));
}

typedef struct
{
  GtkWidget *root;
  const char *label;
} Wanted;

static gboolean
is_shown (gpointer data)
{
  const Wanted *wanted = data;

  return adj_walk_find (wanted->root, GTK_TYPE_LABEL, wanted->label) != NULL;
}

/* (nullable): %NULL after a timeout */
static GtkWidget *
wait_for_label (GtkWidget *root, const char *label)
{
  Wanted wanted = { root, label };

  adj_wait_until (is_shown, &wanted, 20);
  return adj_walk_find (root, GTK_TYPE_LABEL, label);
}

static void
test_starts (Fixture *fixture, gconstpointer name)
{
  GtkWidget *root = GTK_WIDGET (fixture->window);
  GActionGroup *actions = G_ACTION_GROUP (fixture->window);

  g_assert_nonnull (adj_walk_find (root, GTK_TYPE_LABEL, "Open a Graph"));
  g_assert_nonnull (adj_walk_find (root, GTK_TYPE_LABEL, "gpt2.adjoint"));
  g_assert_true (g_action_group_get_action_enabled (actions, "open"));
  g_assert_false (g_action_group_get_action_enabled (actions, "run"));
  g_assert_false (g_action_group_get_action_enabled (actions, "fit"));
}

static gboolean
is_pasted (gpointer data)
{
  AdjDocument *document = data;

  return adj_document_get_scene (document) != NULL || adj_document_get_error (document) != NULL;
}

static void
test_pastes (Fixture *fixture, gconstpointer name)
{
  /* A graph without a run, as shown on a console. */
  static const char text[] = "class GraphModule(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[2, 3]\"):\n"
                             "        # adj: called under {autocast_cpu: bf16}\n"
                             "        relu: \"f32[2, 3]\" = torch.ops.aten.relu.default(x)\n"
                             "        sin: \"f32[2, 3]\" = torch.ops.aten.sin.default(relu)\n"
                             "        return (sin,)\n";
  GtkWidget *root = GTK_WIDGET (fixture->window);
  GdkClipboard *clipboard = gtk_widget_get_clipboard (root);
  AdjDocument *document = adj_window_get_document (fixture->window);

  gdk_clipboard_set_content (clipboard, NULL);
  gtk_widget_activate_action (root, "win.paste", NULL);
  g_assert_nonnull (wait_for_label (root, "There is no text to paste"));

  gdk_clipboard_set_text (clipboard, text);
  gtk_widget_activate_action (root, "win.paste", NULL);
  g_assert_true (adj_wait_until (is_pasted, document, 20));
  g_assert_no_error (adj_document_get_error (document));
  adj_walk_settle (fixture->window);
  g_assert_true (g_str_has_prefix (gtk_window_get_title (GTK_WINDOW (root)), "• Pasted Text"));
  g_assert_nonnull (strstr (get_subtitle (fixture), "autocast_cpu bf16"));
  g_assert_true (adj_walk_select (fixture->window, "sin"));
  g_assert_true (shows (fixture, ADJ_TYPE_INSPECTOR, "sin"));
  gdk_clipboard_set_content (clipboard, NULL);
}

static void
test_lists_graphs (Fixture *fixture, gconstpointer name)
{
  static const struct
  {
    const char *title, *count;
  } rows[] = {
    { "Captured", "41" }, { "Joint Graph", "334" }, { "Forward", "144" }, { "Backward", "252" }
  };
  GtkWidget *root = adj_walk_find (GTK_WIDGET (fixture->window), ADJ_TYPE_SIDEBAR, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      GtkWidget *title = adj_walk_find (root, GTK_TYPE_LABEL, rows[i].title);

      g_assert_nonnull (title);
      g_assert_nonnull (adj_walk_find (gtk_widget_get_ancestor (title, ADJ_TYPE_GRAPH_ROW),
                                       GTK_TYPE_LABEL, rows[i].count));
    }
  g_assert_true (adj_walk_choose_graph (fixture->window, "backward"));
  adj_walk_settle (fixture->window);
  g_assert_nonnull (strstr (gtk_window_get_title (GTK_WINDOW (fixture->window)), "Backward"));
}

static void
test_selects (Fixture *fixture, gconstpointer name)
{
  AdjGraphView *view = adj_window_get_view (fixture->window);
  AdjDocument *document = adj_window_get_document (fixture->window);
  AdjNodeId selected;

  g_assert_true (adj_walk_select (fixture->window, "gelu"));
  selected = adj_graph_view_get_selected (view);
  g_assert_cmpuint (selected.index, ==, adj_document_get_selected (document).index);
  g_assert_true (shows (fixture, ADJ_TYPE_INSPECTOR, "gelu"));
  g_assert_true (shows (fixture, ADJ_TYPE_INSPECTOR, "read by backward"));
  g_assert_true (shows (fixture, ADJ_TYPE_INSPECTOR, "[2, 8, 64]  strides (512, 64, 1)"));
  g_assert_true (shows (fixture, ADJ_TYPE_INSPECTOR, "h.0.mlp"));
  g_assert_true (shows (fixture, ADJ_TYPE_INSPECTOR, "models.py:58"));
  g_assert_true (shows (fixture, ADJ_TYPE_INSPECTOR, "gelu_backward_1"));
  gtk_test_accessible_assert_role (view, GTK_ACCESSIBLE_ROLE_IMG);
  gtk_test_accessible_assert_property (view, GTK_ACCESSIBLE_PROPERTY_LABEL, "Graph canvas");

  /* A selection on the canvas is that of the document. */
  adj_graph_view_set_selected (view, (AdjNodeId){ selected.index + 1 });
  g_assert_cmpuint (adj_document_get_selected (document).index, ==, selected.index + 1);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.back", NULL);
  g_assert_cmpuint (adj_graph_view_get_selected (view).index, ==, selected.index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.select-node", "u", 3);
  g_assert_cmpuint (adj_graph_view_get_selected (view).index, ==, 3);
}

/* The source line named in PyTorch's trace, from the file beside the graphs. */
static void
test_shows_source (Fixture *fixture, gconstpointer name)
{
  g_autofree char *path = adj_test_data_path ("graphs/models.py");
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GtkWidget *page = adj_walk_find (GTK_WIDGET (fixture->window), ADJ_TYPE_SOURCE_PAGE, NULL);

  g_assert_nonnull (strstr (lines[57], "F.gelu"));
  adj_window_show_page (fixture->window, "source");
  /* The second request supersedes the first. */
  g_assert_true (adj_walk_select (fixture->window, "addmm"));
  g_assert_true (adj_walk_select (fixture->window, "gelu"));
  g_assert_nonnull (wait_for_label (page, lines[57]));
}

static void
test_zooms (Fixture *fixture, gconstpointer name)
{
  AdjGraphView *view = adj_window_get_view (fixture->window);
  GtkWidget *root = GTK_WIDGET (fixture->window);
  AdjRect bounds = adj_scene_get_bounds (adj_graph_view_get_scene (view)), seen;
  AdjCamera camera;

  gtk_widget_activate_action (root, "win.zoom-100", NULL);
  g_assert_cmpfloat_with_epsilon (adj_graph_view_get_camera (view).zoom, 1, 1e-4);
  gtk_widget_activate_action (root, "win.zoom-in", NULL);
  g_assert_cmpfloat_with_epsilon (adj_graph_view_get_camera (view).zoom, 1.25, 1e-4);
  gtk_widget_activate_action (root, "win.fit", NULL); /* fits, but not below a zoom at which names
                                                         are legible */
  gtk_widget_activate_action (root, "win.fit", NULL);
  camera = adj_graph_view_get_camera (view);
  seen = adj_camera_visible (&camera, gtk_widget_get_width (GTK_WIDGET (view)),
                             gtk_widget_get_height (GTK_WIDGET (view)));
  g_assert_cmpfloat (seen.y, <=, bounds.y);
  g_assert_cmpfloat (seen.y + seen.height, >=, bounds.y + bounds.height);
}

static void
test_compares (Fixture *fixture, gconstpointer name)
{
  AdjDocument *document = adj_window_get_document (fixture->window);
  AdjEvaluation *evaluation;

  g_assert_true (adj_walk_run (fixture->window, "win.run"));
  evaluation = adj_document_get_evaluation (document);
  g_assert_nonnull (evaluation);
  g_assert_null (adj_evaluation_get_comparison (evaluation));

  g_assert_true (adj_walk_run (fixture->window, "win.compare"));
  evaluation = adj_document_get_evaluation (document);
  g_assert_nonnull (adj_evaluation_get_comparison (evaluation));
  g_assert_cmpint (adj_evaluation_get_comparison (evaluation)->first, ==, -1);
  g_assert_nonnull (strstr (get_subtitle (fixture), "agrees with what was recorded"));
  g_assert_true (adj_walk_select (fixture->window, "addmm"));
  g_assert_true (shows (fixture, ADJ_TYPE_INSPECTOR, "Within tolerance") ||
                 shows (fixture, ADJ_TYPE_INSPECTOR, "Equal"));
  g_assert_true (shows (fixture, ADJ_TYPE_INSPECTOR, "Result of the Run"));
}

static gboolean
is_evaluated (gpointer data)
{
  return adj_document_get_evaluation (data) != NULL;
}

static void
test_chooses_inputs (Fixture *fixture, gconstpointer name)
{
  AdjDocument *document = adj_window_get_document (fixture->window);
  GtkWidget *root = GTK_WIDGET (fixture->window);
  GtkWidget *dialog;

  gtk_widget_activate_action (root, "win.inputs", "s", "random");
  adj_walk_settle (fixture->window);
  dialog = adj_walk_find_window ("Random Inputs");
  g_assert_nonnull (dialog);
  gtk_spin_button_set_value (
      GTK_SPIN_BUTTON (adw_message_dialog_get_extra_child (ADW_MESSAGE_DIALOG (dialog))), 7);
  adw_message_dialog_response (ADW_MESSAGE_DIALOG (dialog), "run");
  g_assert_true (adj_wait_until (is_evaluated, document, 60));
  g_assert_nonnull (strstr (get_subtitle (fixture), "random inputs, seed 7"));

  gtk_widget_activate_action (root, "win.float64", NULL);
  g_assert_null (adj_document_get_evaluation (document));
  g_assert_nonnull (strstr (get_subtitle (fixture), "seed 7 · float64"));
  gtk_widget_activate_action (root, "win.inputs", "s", "call-0");
  gtk_widget_activate_action (root, "win.float64", NULL);
  g_assert_null (strstr (get_subtitle (fixture), "seed"));
  g_assert_null (strstr (get_subtitle (fixture), "float64"));
}

static void
test_asks_where_to_export (Fixture *fixture, gconstpointer name)
{
  GtkWidget *dialog;

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.export", NULL);
  adj_walk_settle (fixture->window);
  dialog = adj_walk_find_window ("Export Picture");
  g_assert_nonnull (dialog);
  gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_CANCEL);
}

static void
test_exports (Fixture *fixture, gconstpointer name)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "step.svg", NULL);
  g_autofree char *odd = g_build_filename (folder->path, "step.gif", NULL);
  AdjDocument *document = adj_window_get_document (fixture->window);
  GtkWidget *root = GTK_WIDGET (fixture->window);

  adj_document_export (document, path, NULL, ADJ_SCHEME_LIGHT);
  g_assert_nonnull (wait_for_label (root, "Exported step.svg"));
  g_assert_nonnull (adj_walk_find (root, GTK_TYPE_LABEL, "Show"));
  adj_document_export (document, odd, NULL, ADJ_SCHEME_LIGHT);
  g_assert_nonnull (wait_for_label (root, "step.gif could not be exported"));
}

/* The map of the difference shows the worst element; a node without a map shows numbers. */
static void
check_map (Fixture *fixture)
{
  GtkWidget *root = GTK_WIDGET (fixture->window);
  GtkWidget *pane = adj_walk_find (root, ADJ_TYPE_DIFFERENCE_PANE, NULL);
  AdjDifferenceView *view =
      ADJ_DIFFERENCE_VIEW (adj_walk_find (pane, ADJ_TYPE_DIFFERENCE_VIEW, NULL));
  AdjDocument *document = adj_window_get_document (fixture->window);
  const AdjValueComparison *comparison = adj_evaluation_find (
      adj_document_get_evaluation (document), adj_document_get_selected (document));

  adj_walk_settle (fixture->window);
  g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (view)));
  g_assert_cmpint (adj_difference_view_get_element (view), ==, comparison->difference.max_index);
  gtk_test_accessible_assert_role (view, GTK_ACCESSIBLE_ROLE_IMG);

  /* Returns from another element. */
  adj_difference_view_set_element (view, 0);
  adj_walk_click (pane, "Worst Element");
  g_assert_cmpint (adj_difference_view_get_element (view), ==, comparison->difference.max_index);

  /* Inputs do not differ, so there is no map. */
  g_assert_true (adj_walk_select (fixture->window, "primals_1"));
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (view)));
  adj_document_set_selected (document, ADJ_NO_NODE);
  g_assert_false (gtk_widget_get_visible (pane));
}

/* Values are aligned with the longest key, although one text of the card spans both columns. */
static void
check_card (Fixture *fixture)
{
  GtkWidget *card = adj_walk_find (GTK_WIDGET (fixture->window), ADJ_TYPE_INSPECTOR, NULL);
  GtkWidget *key = adj_walk_find (card, GTK_TYPE_LABEL, "Peer's worst element");
  GtkWidget *value = adj_walk_find (card, GTK_TYPE_LABEL, "Differs");
  graphene_rect_t left, right;
  int width;

  g_assert_true (gtk_widget_compute_bounds (key, card, &left));
  g_assert_true (gtk_widget_compute_bounds (value, card, &right));
  gtk_widget_measure (key, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &width, NULL, NULL);
  g_assert_cmpfloat (right.origin.x - left.origin.x - width, <=, 12);
}

/* The other formula of gelu differs by about 1e-4 from that node on. */
static void
test_finds_difference (Fixture *fixture, gconstpointer name)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "planted.adjoint", NULL);
  g_autofree char *source = adj_test_data_path ("graphs/gpt2.adjoint");
  AdjDocument *document = adj_window_get_document (fixture->window);
  const AdjBundleGraph *graph;

  adj_planted_write (source, path, "0-0-joint", "approximate = 'tanh'", "approximate = 'none'");
  g_assert_true (adj_walk_open (fixture->window, path));
  g_assert_true (adj_walk_run (fixture->window, "win.compare"));
  graph = adj_document_get_graph (document);
  g_assert_cmpstr (
      adj_graph_get_node (graph->graph, adj_document_get_selected (document).index)->name, ==,
      "gelu");
  g_assert_nonnull (strstr (get_subtitle (fixture), "first difference: gelu, its inputs agree"));
  g_assert_true (shows (fixture, ADJ_TYPE_INSPECTOR, "Differs"));
  check_card (fixture);
  check_map (fixture);
}

static void
test_survives_damage (Fixture *fixture, gconstpointer name)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "damaged.adjoint", NULL);
  g_autofree char *source = adj_test_data_path ("graphs/mlp.adjoint");
  GtkWidget *root = GTK_WIDGET (fixture->window);
  g_autofree char *contents = NULL;
  gsize length;

  contents = adj_test_read_file (source, &length);
  contents[length / 3] ^= 0x55;
  g_assert_true (g_file_set_contents (path, contents, (gssize) (length - 200), NULL));
  g_assert_true (adj_walk_open (fixture->window, path));
  adj_walk_settle (fixture->window);
  g_assert_nonnull (adj_document_get_error (adj_window_get_document (fixture->window)));
  g_assert_nonnull (adj_walk_find (root, GTK_TYPE_LABEL, "This File Cannot Be Shown"));
  g_assert_true (
      g_action_group_get_action_enabled (G_ACTION_GROUP (fixture->window), "copy-details"));
  gtk_widget_activate_action (root, "win.copy-details", NULL);

  g_assert_true (adj_walk_open (fixture->window, source));
  g_assert_null (adj_document_get_error (adj_window_get_document (fixture->window)));
  g_assert_true (adj_walk_choose_graph (fixture->window, "forward"));
}

static void
test_switches_views (Fixture *fixture, gconstpointer name)
{
  AdjDocument *document = adj_window_get_document (fixture->window);
  AdjScene *before = adj_scene_ref (adj_document_get_scene (document));
  GtkWidget *root = GTK_WIDGET (fixture->window);

  gtk_widget_activate_action (root, "win.view", "s", "stacked");
  adj_wait_for (document);
  g_assert_true (adj_document_get_scene (document) != before);
  g_assert_cmpint (adj_document_get_arrangement (document)->view, ==, ADJ_VIEW_STACKED);
  gtk_widget_activate_action (root, "win.show-page", "s", "text");
  adj_walk_settle (fixture->window);
  g_assert_true (g_action_group_has_action (G_ACTION_GROUP (fixture->window), "show-help-overlay"));
  adj_scene_unref (before);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
#define ADD(path, file, test) g_test_add (path, Fixture, file, set_up, test, tear_down)
  ADD ("/ui/window/starts", NULL, test_starts);
  ADD ("/ui/window/pastes", NULL, test_pastes);
  ADD ("/ui/window/lists-graphs", "graphs/gpt2.adjoint", test_lists_graphs);
  ADD ("/ui/window/selects", "graphs/gpt2.adjoint", test_selects);
  ADD ("/ui/window/shows-source", "graphs/gpt2.adjoint", test_shows_source);
  ADD ("/ui/window/zooms", "graphs/gpt2.adjoint", test_zooms);
  ADD ("/ui/window/compares", "graphs/gpt2.adjoint", test_compares);
  ADD ("/ui/window/chooses-inputs", "graphs/mlp.adjoint", test_chooses_inputs);
  ADD ("/ui/window/asks-where-to-export", "graphs/mlp.adjoint", test_asks_where_to_export);
  ADD ("/ui/window/exports", "graphs/mlp.adjoint", test_exports);
  ADD ("/ui/window/finds-difference", NULL, test_finds_difference);
  ADD ("/ui/window/survives-damage", "graphs/mlp.adjoint", test_survives_damage);
  ADD ("/ui/window/switches-views", "graphs/mlp.adjoint", test_switches_views);
  return g_test_run ();
}
