/* SPDX-License-Identifier: MIT */

/* Two graphs side by side in a real window: they move and select together. */

#include <math.h>

#include "canvas/adj-beside-pane.h"
#include "canvas/adj-text-pair.h"
#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "support/planted-bundle.h"
#include "ui/adj-mouse.h"

static AdjApplication *application;

static gboolean
has_scene (gpointer pane)
{
  return adj_graph_view_get_scene (adj_beside_pane_get_view (pane)) != NULL;
}

static AdjBesidePane *
open_pane (AdjWindow *window)
{
  GtkWidget *pane;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-beside", NULL);
  adj_walk_settle (window);
  pane = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_BESIDE_PANE);
  g_assert_nonnull (pane);
  g_assert_true (adj_wait_until (has_scene, pane, 60));
  adj_walk_settle (window);
  return ADJ_BESIDE_PANE (pane);
}

static void
test_together (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/torch-trace", "forward");
  AdjBesidePane *pane = open_pane (window);
  AdjGraphView *first = adj_window_get_view (window), *second = adj_beside_pane_get_view (pane);
  AdjDocument *document = adj_window_get_document (window);
  AdjCamera camera;

  /* A selection in one is made in the other. */
  g_assert_true (adj_walk_select (window, "addmm"));
  g_assert_true (adj_node_id_is_valid (adj_graph_view_get_selected (second)));
  adj_document_set_selected (document, ADJ_NO_NODE);
  adj_walk_settle (window);
  g_assert_false (adj_node_id_is_valid (adj_graph_view_get_selected (second)));

  /* Zoom and position are synchronized in both directions. */
  camera = adj_graph_view_get_camera (first);
  camera.zoom = 0.9f;
  adj_graph_view_set_camera (first, &camera);
  adj_walk_settle (window);
  g_assert_cmpfloat (adj_graph_view_get_camera (second).zoom, ==, 0.9f);
  camera = adj_graph_view_get_camera (second);
  camera.y += 40;
  adj_graph_view_set_camera (second, &camera);
  g_assert_cmpfloat (fabsf (adj_graph_view_get_camera (first).zoom - 0.9f), <, 1e-6);
  adj_walk_close (window);
}

static GtkWidget *
open_text (AdjWindow *window, AdjBesidePane *pane)
{
  GtkWidget *switcher = adj_walk_find (GTK_WIDGET (pane), GTK_TYPE_STACK_SWITCHER, NULL);

  gtk_stack_set_visible_child_name (gtk_stack_switcher_get_stack (GTK_STACK_SWITCHER (switcher)),
                                    "text");
  adj_walk_settle (window);
  return adj_walk_find_mapped (GTK_WIDGET (pane), ADJ_TYPE_TEXT_PAIR);
}

static guint
count_lines (AdjTextPair *pair, guint side)
{
  return (guint) gtk_text_buffer_get_line_count (
      gtk_text_view_get_buffer (adj_text_pair_get_view (pair, side)));
}

/* The texts are aligned, equal lines side by side; clicking a line selects its nodes in both
 * graphs, and a node selected in a graph has its line marked. */
static void
test_texts (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/torch-trace", "forward");
  AdjBesidePane *pane = open_pane (window);
  AdjTextPair *pair = ADJ_TEXT_PAIR (open_text (window, pane));
  AdjDocument *document = adj_window_get_document (window);
  GtkTextView *view = adj_text_pair_get_view (pair, 0);
  GtkAdjustment *left = gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (view));
  GtkAdjustment *right =
      gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (adj_text_pair_get_view (pair, 1)));
  GtkTextIter at;
  int x, y, bx, by;

  g_assert_cmpuint (adj_text_pair_get_n_lines (pair), >, 50);
  g_assert_cmpuint (count_lines (pair, 0), ==, count_lines (pair, 1));
  g_assert_true (adj_walk_select (window, "addmm"));
  g_assert_cmpint (adj_text_pair_get_selected (pair), >, 0);
  adj_walk_settle (window);
  g_assert_cmpfloat (gtk_adjustment_get_value (left), ==, gtk_adjustment_get_value (right));

  x = 40;
  y = gtk_widget_get_height (GTK_WIDGET (view)) * 3 / 4;
  gtk_text_view_window_to_buffer_coords (view, GTK_TEXT_WINDOW_WIDGET, x, y, &bx, &by);
  gtk_text_view_get_line_at_y (view, &at, by, NULL);
  g_assert_cmpint (gtk_text_iter_get_line (&at), !=, adj_text_pair_get_selected (pair));
  adj_mouse_click (GTK_WIDGET (view), x, y);
  ADJ_MOUSE_UNTIL (adj_text_pair_get_selected (pair) == gtk_text_iter_get_line (&at));
  g_assert_cmpuint (adj_document_get_selected (document).index, !=,
                    adj_graph_find_node (adj_document_get_graph (document)->graph, "addmm").index);
  adj_walk_close (window);
}

/* When it opens it shows the same region as the canvas; no selected part leaves the view. */
static void
test_opens_in_step (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/torch-trace", "forward");
  AdjGraphView *first = adj_window_get_view (window), *second;
  AdjDocument *document = adj_window_get_document (window);
  AdjCamera camera;
  AdjRect bounds;

  adj_document_set_selected (document, ADJ_NO_NODE);
  adj_walk_settle (window);
  bounds = adj_scene_get_bounds (adj_document_get_scene (document));
  camera = adj_graph_view_get_camera (first);
  camera.x = bounds.x + bounds.width / 2 -
             (float) gtk_widget_get_width (GTK_WIDGET (first)) / camera.zoom / 2;
  adj_graph_view_set_camera (first, &camera);
  second = adj_beside_pane_get_view (open_pane (window));
  g_assert_cmpfloat (adj_graph_view_get_camera (second).zoom, ==,
                     adj_graph_view_get_camera (first).zoom);
  g_assert_cmpuint (adj_graph_view_count_visible (first), >, 0);
  g_assert_cmpuint (adj_graph_view_count_visible (second), >, 0);
  adj_walk_close (window);
}

static void
press_run (AdjWindow *window)
{
  AdjDocument *document = adj_window_get_document (window);

  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (GTK_WIDGET (adj_window_get_view (window)));
  adj_mouse_do ("key F5");
  ADJ_MOUSE_UNTIL (adj_document_get_evaluation (document) != NULL);
  adj_walk_settle (window);
}

/* The line below the difference, if it is shown.  (nullable) */
static const char *
find_values (GtkWidget *root)
{
  if (GTK_IS_LABEL (root) && gtk_widget_get_mapped (root) &&
      g_str_has_prefix (gtk_label_get_text (GTK_LABEL (root)), "Left: "))
    return gtk_label_get_text (GTK_LABEL (root));
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      const char *found = find_values (child);

      if (found != NULL)
        return found;
    }
  return NULL;
}

/* Then the values that both sides computed, if they were run. */
static void
check_values (AdjWindow *window, AdjBesidePane *pane)
{
  GtkWidget *root = GTK_WIDGET (pane);

  g_assert_null (find_values (root));
  press_run (window);
  g_assert_nonnull (find_values (root));
  g_assert_true (g_str_has_suffix (find_values (root), "Right: not run"));
  g_assert_true (adj_walk_choose_graph (window, "user"));
  press_run (window);
  g_assert_true (adj_walk_choose_graph (window, "other"));
  g_assert_true (adj_walk_select (window, "gelu"));
  adj_walk_settle (window);
  g_assert_nonnull (strstr (find_values (root), "Right: computed "));
}

/* For a node that differs, the differing argument is shown first. */
static void
test_argument (void)
{
  static const char *const ids[] = { "0-0-user", "0-0-other" }, *const roles[] = { "user",
                                                                                   "other" };
  static const char *const forms[] = { "tanh", "none" };
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  AdjRegion region = { .id = "0-0", .rank = -1, .num_fwd_outputs = -1, .n_graphs = 2 };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "two.adjoint", NULL);
  g_autoptr (AdjBundle) bundle = NULL;
  AdjWindow *window;
  AdjBesidePane *pane;

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *text = g_strdup_printf (
          "class G(torch.nn.Module):\n    def forward(self, x: \"f32[4][1]cpu\"):\n"
          "        gelu: \"f32[4][1]cpu\" = torch.ops.aten.gelu.default(x, approximate = '%s')\n"
          "        return (gelu,)\n",
          forms[i]);
      g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
      AdjBundleGraph entry = { .id = ids[i], .role = roles[i], .graph = graph, .rank = -1 };

      g_assert_true (adj_bundle_builder_add_graph (builder, &entry, NULL));
    }
  g_assert_true (adj_bundle_builder_add_region (builder, &region, ids, NULL));
  bundle = adj_bundle_builder_end (builder, NULL);
  g_assert_true (adj_format_for_path (path, NULL)->save (bundle, path, NULL, NULL, NULL));
  window = adj_walk_open_window (application, 1280, 800);
  g_assert_true (adj_walk_open (window, path));
  g_assert_true (adj_walk_choose_graph (window, "other"));
  adj_walk_settle (window);
  pane = open_pane (window);
  g_assert_true (adj_walk_select (window, "gelu"));
  g_assert_nonnull (
      adj_walk_find (GTK_WIDGET (pane), GTK_TYPE_LABEL, "approximate: 'tanh' → 'none'"));
  check_values (window, pane);
  adj_walk_close (window);
}

/* Whether the node's card, or the closed module that contains it, is in view. */
static gboolean
is_in_view (AdjGraphView *view, AdjNodeId node)
{
  const AdjScene *scene = adj_graph_view_get_scene (view);
  AdjCamera camera = adj_graph_view_get_camera (view);
  AdjRect at = adj_camera_rect_to_widget (
      &camera, &adj_scene_get_box (scene, adj_scene_find_node (scene, node))->rect);

  return at.x >= 0 && at.y >= 0 &&
         at.x + at.width <= (float) gtk_widget_get_width (GTK_WIDGET (view)) &&
         at.y + at.height <= (float) gtk_widget_get_height (GTK_WIDGET (view));
}

static void
check_shown (AdjWindow *window, AdjBesidePane *pane)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *view = adj_window_get_view (window), *other = adj_beside_pane_get_view (pane);
  AdjNodeId gelu = adj_graph_find_node (adj_document_get_graph (document)->graph, "gelu");
  const AdjScene *scene = adj_document_get_scene (document);

  ADJ_MOUSE_UNTIL (adj_document_get_selected (document).index == gelu.index);
  g_assert_cmpint (adj_scene_get_box (scene, adj_scene_find_node (scene, gelu))->fold, ==,
                   ADJ_FOLD_CLOSED);
  ADJ_MOUSE_UNTIL (is_in_view (view, gelu));
  ADJ_MOUSE_UNTIL (is_in_view (other, adj_graph_view_get_selected (other)));
  adj_walk_settle (window);
  g_assert_true (is_in_view (view, gelu));
  g_assert_true (is_in_view (other, adj_graph_view_get_selected (other)));
  g_assert_nonnull (
      adj_walk_find (GTK_WIDGET (pane), GTK_TYPE_LABEL, "approximate: 'tanh' → 'none'"));
}

/* The first differing node is in a closed module: the left side shows the module, the right side
 * the node, after a run and after the step to the next difference. */
static void
test_difference_in_module (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  g_autofree char *source = adj_test_data_path ("graphs/gpt2.adjoint");
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "planted.adjoint", NULL);
  const AdjCamera away = { 0, 0, 0.7f };
  AdjBesidePane *pane;

  adj_planted_write (source, path, "0-0-joint", "approximate = 'tanh'", "approximate = 'none'");
  g_assert_true (adj_walk_open (window, path));
  g_assert_true (adj_walk_choose_graph (window, "joint"));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.fold-all", NULL);
  adj_wait_for (adj_window_get_document (window));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.lay-beside", "(us)", 0, "0-0-joint");
  adj_walk_settle (window);
  pane = ADJ_BESIDE_PANE (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_BESIDE_PANE));
  g_assert_true (adj_wait_until (has_scene, pane, 60));
  g_assert_true (adj_walk_run (window, "win.compare"));
  check_shown (window, pane);
  adj_document_set_selected (adj_window_get_document (window), ADJ_NO_NODE);
  adj_graph_view_set_camera (adj_window_get_view (window), &away);
  adj_walk_settle (window);
  gtk_widget_activate_action (GTK_WIDGET (window), "win.next-change", NULL);
  check_shown (window, pane);
  adj_walk_keep (window, "difference-in-module");
  adj_walk_close (window);
}

static const char *
get_choice (AdjBesidePane *pane)
{
  GtkWidget *choice = adj_walk_find_mapped (GTK_WIDGET (pane), GTK_TYPE_DROP_DOWN);

  return gtk_string_object_get_string (
      GTK_STRING_OBJECT (gtk_drop_down_get_selected_item (GTK_DROP_DOWN (choice))));
}

/* The pane names its content: a graph of the other file, or one of this file by its title. */
static void
test_two_files (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  g_autofree char *path = adj_test_data_path ("graphs/gpt2-inductor.adjoint");
  GtkDropDown *choice;
  AdjBesidePane *pane;
  int least;

  g_assert_true (adj_walk_open (window, path));
  g_assert_true (adj_walk_choose_graph (window, "joint"));
  adj_walk_settle (window);
  gtk_widget_activate_action (GTK_WIDGET (window), "win.lay-beside", "(us)", 0, "0-0-joint");
  adj_walk_settle (window);
  pane = ADJ_BESIDE_PANE (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_BESIDE_PANE));
  g_assert_true (adj_wait_until (has_scene, pane, 60));
  adj_walk_keep (window, "two-files");
  g_assert_cmpint (ABS (gtk_widget_get_width (GTK_WIDGET (pane)) -
                        gtk_widget_get_width (GTK_WIDGET (adj_window_get_view (window)))),
                   <, 100); /* the right view has more widgets above it */
  g_assert_cmpstr (get_choice (pane), ==, "gpt2.adjoint: Joint Graph (0-0-joint)");
  /* A long name does not make the window wider. */
  gtk_widget_measure (GTK_WIDGET (pane), GTK_ORIENTATION_HORIZONTAL, -1, &least, NULL, NULL, NULL);
  g_assert_cmpint (least, <, 360);
  choice = GTK_DROP_DOWN (adj_walk_find_mapped (GTK_WIDGET (pane), GTK_TYPE_DROP_DOWN));
  gtk_drop_down_set_selected (choice, 0);
  adj_walk_settle (window);
  g_assert_cmpstr (get_choice (pane), ==, "The stage before");
  gtk_drop_down_set_selected (choice, 3);
  g_assert_cmpstr (get_choice (pane), ==, "Joint Graph (0-0-joint)");
  gtk_drop_down_set_selected (choice,
                              g_list_model_get_n_items (gtk_drop_down_get_model (choice)) - 1);
  adj_walk_settle (window);
  g_assert_cmpstr (get_choice (pane), ==, "gpt2.adjoint: Joint Graph (0-0-joint)");
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/beside/together", test_together);
  g_test_add_func ("/beside/argument", test_argument);
  g_test_add_func ("/beside/difference-in-module", test_difference_in_module);
  g_test_add_func ("/beside/two-files", test_two_files);
  g_test_add_func ("/beside/texts", test_texts);
  g_test_add_func ("/beside/opens-in-step", test_opens_in_step);
  return g_test_run ();
}
