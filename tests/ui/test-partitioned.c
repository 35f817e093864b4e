/* SPDX-License-Identifier: MIT */

/* What PyTorch's recorded pair looks like in a real window: tags, regions, what is saved and how
 * large it is, ghosts of what is computed again, memory, and where backward's inputs come from. */

#include <gio/gio.h>
#include <string.h>

#include "canvas/adj-graph-view.h"
#include "canvas/adj-highlight.h"
#include "inspect/adj-inspector.h"
#include "ir/adj-graph.h"
#include "model/adj-maker.h"
#include "panel/adj-memory-chart.h"
#include "panel/adj-source-page.h"
#include "report/adj-properties.h"
#include "report/adj-timeline.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

static const AdjGraph *
get_graph (AdjWindow *window)
{
  return adj_document_get_graph (adj_window_get_document (window))->graph;
}

static const char *
get_selected (AdjWindow *window)
{
  AdjNodeId id = adj_document_get_selected (adj_window_get_document (window));

  return adj_node_id_is_valid (id) ? adj_graph_get_node (get_graph (window), id.index)->name : "";
}

static void
assert_told (AdjWindow *window, GType panel, const char *label)
{
  GtkWidget *root = adj_walk_find (GTK_WIDGET (window), panel, NULL);

  if (adj_walk_find (root, GTK_TYPE_LABEL, label) == NULL)
    g_error ("%s does not say '%s'", g_type_name (panel), label);
}

/* -- the picture -- */

/* In sac's policy products are saved and the rest of each checkpoint is computed again. */
static void
test_tags (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/sac.adjoint", "forward+backward");

  g_assert_true (adj_walk_select (window, "addmm_2"));
  assert_told (window, ADJ_TYPE_INSPECTOR, "must-save");
  assert_told (window, ADJ_TYPE_INSPECTOR, "MUST_SAVE");
  assert_told (window, ADJ_TYPE_INSPECTOR, "checkpoint 3");
  g_assert_true (adj_walk_select (window, "masked_fill"));
  assert_told (window, ADJ_TYPE_INSPECTOR, "recomputed");
  assert_told (window, ADJ_TYPE_INSPECTOR, "PREFER_RECOMPUTE");
  adj_walk_close (window);
}

/* The pill on the line of each saved value says its bytes: 16 × 16 floats are one KiB. */
static void
test_bridges (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/sac.adjoint", "forward+backward");
  const AdjScene *scene = adj_document_get_scene (adj_window_get_document (window));
  AdjNodeId saved = adj_graph_find_node (get_graph (window), "addmm_2");
  const AdjSceneBox *from = adj_scene_get_box (scene, adj_scene_find_node (scene, saved));
  guint n_bridges = 0, n_here = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);
      float middle = box->rect.y + box->rect.height / 2;

      n_bridges += box->kind == ADJ_BOX_BRIDGE;
      n_here += box->kind == ADJ_BOX_BRIDGE && g_str_equal (box->title, "1 KiB") &&
                middle > from->rect.y && middle < from->rect.y + from->rect.height;
    }
  g_assert_cmpuint (n_bridges, >, 20);
  g_assert_cmpuint (n_here, ==, 1);
  adj_walk_close (window);
}

/* The node, its ghost and its gradient are one key apart. */
static void
test_ghosts (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/sac.adjoint", "forward+backward");
  GtkWidget *view = GTK_WIDGET (adj_window_get_view (window));
  const AdjScene *scene = adj_document_get_scene (adj_window_get_document (window));
  g_autoptr (AdjHighlight) light = NULL;
  AdjNodeId original, copy;

  g_assert_true (adj_walk_select (window, "masked_fill"));
  original = adj_document_get_selected (adj_window_get_document (window));
  assert_told (window, ADJ_TYPE_INSPECTOR, "Computed again");
  gtk_widget_activate_action (view, "canvas.counterpart", NULL);
  adj_walk_settle (window);
  copy = adj_document_get_selected (adj_window_get_document (window));
  g_assert_cmpuint (adj_scene_get_original (scene, copy).index, ==, original.index);
  g_assert_cmpint (adj_scene_get_box (scene, adj_scene_find_node (scene, copy))->role, ==,
                   ADJ_ROLE_RECOMPUTE_COPY);
  assert_told (window, ADJ_TYPE_INSPECTOR, "recompute copy");
  assert_told (window, ADJ_TYPE_INSPECTOR, "Computes again");
  assert_told (window, ADJ_TYPE_INSPECTOR, "masked_fill");
  /* The line that forward ran. */
  assert_told (window, ADJ_TYPE_SOURCE_PAGE, "forward, line 45");

  light = adj_highlight_new_for_node (scene, get_graph (window), copy);
  g_assert_true (adj_highlight_has_box (light, adj_scene_find_node (scene, original)));
  gtk_widget_activate_action (view, "canvas.counterpart", NULL);
  g_assert_true (adj_graph_is_backward (
      get_graph (window), adj_document_get_selected (adj_window_get_document (window)).index));
  gtk_widget_activate_action (view, "canvas.counterpart", NULL);
  g_assert_cmpstr (get_selected (window), ==, "masked_fill");
  adj_walk_close (window);
}

/* -- memory -- */

static void
test_memory (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/sac.adjoint", "forward+backward");
  g_autoptr (AdjTimeline) timeline = NULL;
  g_autofree char *bytes = NULL, *expected = NULL;
  GtkWidget *chart;

  adj_window_show_page (window, "memory");
  adj_walk_settle (window);
  chart = adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_MEMORY_CHART, NULL);
  timeline = adj_timeline_new ((AdjGraph *) get_graph (window));
  g_assert_cmpuint (timeline->turn, <, timeline->n_steps);
  bytes = adj_properties_bytes ((gint64) timeline->live[timeline->peak]);
  expected = g_strdup_printf ("peak of %s with inputs at step %u of %u, %s", bytes,
                              timeline->peak + 1, timeline->n_steps,
                              adj_graph_get_node (timeline->graph, timeline->peak)->name);
  for (guint i = 0; i < timeline->n_steps; i++)
    g_assert_cmpint (timeline->live[i], <=, timeline->live[timeline->peak]);
  gtk_test_accessible_assert_property (chart, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, expected);
  adj_walk_close (window);
}

/* -- derivatives -- */

/* The rule of relu as mathematics, and the node that it made; that one says of what it is. */
static void
test_derivative (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");

  g_assert_true (adj_walk_select (window, "relu"));
  adj_walk_settle (window);
  assert_told (window, ADJ_TYPE_INSPECTOR, "Derivative");
  assert_told (window, ADJ_TYPE_INSPECTOR, "0 if y ≤ 0, else g");
  assert_told (window, ADJ_TYPE_INSPECTOR, "Its gradient");
  adj_walk_keep (window, "derivative");
  g_assert_true (adj_walk_select (window, "threshold_backward"));
  adj_walk_settle (window);
  assert_told (window, ADJ_TYPE_INSPECTOR, "Gradient of");
  adj_walk_close (window);
}

/* -- where inputs of backward come from -- */

/* What PyTorch saves keeps its name. */
static void
test_makers (void)
{
  static const char *const captures[] = { "mlp",  "gpt2", "gpt2-inductor", "llama",
                                          "lstm", "unet", "sac",           "resnet-block" };

  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *name = g_strdup_printf ("graphs/%s.adjoint", captures[i]);
      AdjWindow *window = adj_walk_open_graph (application, name, "backward");
      AdjDocument *document = adj_window_get_document (window);
      const AdjGraph *backward = get_graph (window);
      guint n = 0;

      for (guint k = 0; k < adj_graph_get_n_inputs (backward); k++)
        {
          AdjNodeId id = adj_graph_get_input (backward, k);
          const AdjNode *input = adj_graph_get_node (backward, id.index);
          gboolean is_tangent = g_str_has_prefix (input->name, "tangents_");
          const AdjBundleGraph *forward;
          AdjMaker maker;

          g_assert_cmpint (adj_maker_find (document, id, &maker), ==, !is_tangent);
          if (is_tangent)
            continue;
          forward = adj_graph_set_get (adj_document_get_graphs (document), maker.graph);
          g_assert_cmpstr (forward->role, ==, "forward");
          g_assert_cmpstr (adj_graph_get_node (forward->graph, maker.node.index)->name, ==,
                           input->name);
          n++;
        }
      g_assert_cmpuint (n, >, 0);
      adj_walk_close (window);
    }
}

static gboolean
shows_forward (gpointer window)
{
  return g_str_equal (adj_document_get_graph (adj_window_get_document (window))->role, "forward");
}

/* A click of the first button, as the gesture of the canvas sees it. */
static void
click (AdjGraphView *view, float x, float y)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (GTK_WIDGET (view));

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (!GTK_IS_GESTURE_CLICK (controller) ||
          gtk_gesture_single_get_button (GTK_GESTURE_SINGLE (controller)) != GDK_BUTTON_PRIMARY)
        continue;
      g_signal_emit_by_name (controller, "pressed", 1, (double) x, (double) y);
      g_signal_emit_by_name (controller, "released", 1, (double) x, (double) y);
      return;
    }
  g_assert_not_reached ();
}

static void
check_at_maker (AdjWindow *window)
{
  g_assert_true (adj_wait_until (shows_forward, window, 20));
  adj_walk_settle (window);
  g_assert_cmpstr (get_selected (window), ==, "addmm_2");
  assert_told (window, ADJ_TYPE_SOURCE_PAGE, "forward, line 48");
}

static void
test_goes_to_maker (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/sac.adjoint", "backward");
  AdjGraphView *view = adj_window_get_view (window);
  const AdjScene *scene;
  AdjCamera camera;
  AdjRect chip;

  /* What forward made it of is told before one goes there. */
  g_assert_true (adj_walk_select (window, "addmm_2"));
  assert_told (window, ADJ_TYPE_INSPECTOR, "Saved by Forward");
  assert_told (window, ADJ_TYPE_INSPECTOR, "models.py:48");
  assert_told (window, ADJ_TYPE_SOURCE_PAGE, "forward, line 48");

  scene = adj_graph_view_get_scene (view);
  camera = adj_graph_view_get_camera (view);
  chip = adj_camera_rect_to_widget (
      &camera,
      &adj_scene_get_box (scene, adj_scene_find_node (scene, adj_graph_view_get_selected (view)))
           ->rect);
  click (view, chip.x + chip.width / 2, chip.y + chip.height / 2);
  check_at_maker (window);

  /* Back, and by keys. */
  g_assert_true (adj_walk_choose_graph (window, "backward"));
  g_assert_true (adj_walk_select (window, "addmm_2"));
  gtk_widget_activate_action (GTK_WIDGET (view), "canvas.counterpart", NULL);
  check_at_maker (window);
  g_assert_true (adj_walk_choose_graph (window, "backward"));
  g_assert_true (adj_walk_select (window, "addmm_2"));
  gtk_widget_activate_action (GTK_WIDGET (view), "canvas.source", NULL);
  check_at_maker (window);
  adj_walk_close (window);
}

static guint
find_chip (const AdjScene *scene, const char *title)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    if (adj_scene_get_box (scene, i)->kind == ADJ_BOX_CHIP &&
        g_str_equal (adj_scene_get_box (scene, i)->title, title))
      return i;
  g_error ("no chip says %s", title);
}

/* The name of a card far away leads there. */
static void
test_goes_to_named (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/lstm.adjoint", "joint");
  AdjGraphView *view = adj_window_get_view (window);
  const AdjScene *scene;
  AdjCamera camera;
  AdjRect chip, card;

  g_assert_true (adj_walk_select (window, "addmm_8"));
  scene = adj_graph_view_get_scene (view);
  camera = adj_graph_view_get_camera (view);
  chip = adj_camera_rect_to_widget (
      &camera, &adj_scene_get_box (scene, find_chip (scene, "embedding ↑"))->rect);
  click (view, chip.x + chip.width / 2, chip.y + chip.height / 2);
  adj_walk_settle (window);
  g_assert_cmpstr (get_selected (window), ==, "embedding");
  camera = adj_graph_view_get_camera (view);
  card = adj_camera_rect_to_widget (
      &camera,
      &adj_scene_get_box (scene, adj_scene_find_node (scene, adj_graph_view_get_selected (view)))
           ->rect);
  g_assert_cmpfloat (card.x, >=, 0);
  g_assert_cmpfloat (card.y, >=, 0);
  g_assert_cmpfloat (card.y + card.height, <=, (float) gtk_widget_get_height (GTK_WIDGET (view)));
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/partitioned/tags", test_tags);
  g_test_add_func ("/ui/partitioned/bridges", test_bridges);
  g_test_add_func ("/ui/partitioned/ghosts", test_ghosts);
  g_test_add_func ("/ui/partitioned/memory", test_memory);
  g_test_add_func ("/ui/partitioned/derivative", test_derivative);
  g_test_add_func ("/ui/partitioned/makers", test_makers);
  g_test_add_func ("/ui/partitioned/goes-to-maker", test_goes_to_maker);
  g_test_add_func ("/ui/partitioned/goes-to-named", test_goes_to_named);
  return g_test_run ();
}
