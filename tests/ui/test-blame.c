/* SPDX-License-Identifier: MIT */

/* A failed trace or run selects the failed node. */

#include "adjoint.h"
#include "canvas/adj-graph-view.h"
#include "model/adj-stages.h"
#include "panel/adj-log-page.h"
#include "stages/adj-stage-bar.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"
#include "window/adj-document-page.h"

static AdjApplication *application;

/* Two hundred nodes, one of which, far from the first, sums over an invalid dimension. */
static AdjWindow *
open_broken (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "broken.txt", NULL);
  g_autoptr (GString) text =
      g_string_new ("class GraphModule(torch.nn.Module):\n"
                    "    def forward(self, x: \"f32[2, 3]\", y: \"f32[2, 3]\"):\n"
                    "        n0: \"f32[2, 3]\" = torch.ops.aten.sin.default(x)\n");

  for (guint i = 1; i < 200; i++)
    g_string_append_printf (text, "        n%u: \"f32[2, 3]\" = torch.ops.aten.sin.default(n%u)\n",
                            i, i - 1);
  g_string_append (text, "        total: \"f32[2]\" = "
                         "torch.ops.aten.sum.dim_IntList(n199, [7], True)\n"
                         "        return (total,)\n");
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  g_assert_true (adj_walk_select (window, "n0"));
  return window;
}

static void
assert_at (AdjWindow *window, const char *name)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *view = adj_window_get_view (window);
  AdjNodeId node = adj_graph_find_node (adj_document_get_graph (document)->graph, name);
  AdjScene *scene = adj_document_get_scene (document);
  AdjCamera camera = adj_graph_view_get_camera (view);
  AdjRect seen = adj_camera_visible (&camera, (float) gtk_widget_get_width (GTK_WIDGET (view)),
                                     (float) gtk_widget_get_height (GTK_WIDGET (view)));
  const AdjRect *box = &adj_scene_get_box (scene, adj_scene_find_node (scene, node))->rect;

  g_assert_cmpuint (adj_document_get_selected (document).index, ==, node.index);
  g_assert_cmpuint (adj_graph_view_get_selected (view).index, ==, node.index);
  g_assert_cmpfloat (box->x, >=, seen.x);
  g_assert_cmpfloat (box->y, >=, seen.y);
  g_assert_cmpfloat (box->x + box->width, <=, seen.x + seen.width);
  g_assert_cmpfloat (box->y + box->height, <=, seen.y + seen.height);
}

/* Returns the bar with the message; @button: (out): its button that goes to the node */
static GtkInfoBar *
find_bar (AdjWindow *window, const char *part, GtkWidget **button)
{
  GtkWidget *page = GTK_WIDGET (adj_window_get_view (window));
  GtkWidget *bar, *label;

  page = gtk_widget_get_ancestor (page, ADJ_TYPE_DOCUMENT_PAGE);
  bar = adj_walk_find (page, GTK_TYPE_INFO_BAR, NULL);
  label = adj_walk_find (bar, GTK_TYPE_LABEL, NULL);
  g_assert_nonnull (strstr (gtk_label_get_text (GTK_LABEL (label)), part));
  *button = adj_walk_find (bar, GTK_TYPE_LABEL, "Show Node");
  *button = *button != NULL ? gtk_widget_get_ancestor (*button, GTK_TYPE_BUTTON) : NULL;
  return GTK_INFO_BAR (bar);
}

static gboolean
is_blamed (gpointer document)
{
  guint graph;
  AdjNodeId node;

  return adj_document_get_problem (document, &graph, &node) != NULL && adj_task_count () == 0;
}

static void
assert_goes_there (AdjWindow *window)
{
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *button;

  g_assert_true (adj_wait_until (is_blamed, document, 20));
  adj_walk_settle (window);
  g_assert_true (adj_window_get_document (window) == document);
  assert_at (window, "total");
  g_assert_true (gtk_info_bar_get_revealed (find_bar (window, "dimension 7", &button)));
  g_assert_false (button != NULL && gtk_widget_get_visible (button));

  /* Selects another node, then returns by the button. */
  g_assert_true (adj_walk_select (window, "n0"));
  assert_at (window, "n0");
  find_bar (window, "dimension 7", &button);
  g_assert_nonnull (button);
  g_assert_true (gtk_widget_get_visible (button));
  g_signal_emit_by_name (button, "clicked");
  adj_walk_settle (window);
  assert_at (window, "total");
}

static void
test_trace (void)
{
  AdjWindow *window = open_broken ();
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *button;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.trace", NULL);
  adj_walk_settle (window);
  /* The text does not say which inputs require a gradient. */
  adw_message_dialog_response (
      ADW_MESSAGE_DIALOG (adj_walk_find_window ("Which Inputs Require a Gradient?")), "parameters");
  g_assert_true (adj_wait_until (is_blamed, document, 20));
  adj_walk_settle (window);
  /* The tab of the failed trace is closed. */
  g_assert_true (adj_window_get_document (window) == document);
  g_assert_cmpint (adw_tab_view_get_n_pages (
                       ADW_TAB_VIEW (adj_walk_find (GTK_WIDGET (window), ADW_TYPE_TAB_VIEW, NULL))),
                   ==, 1);
  assert_goes_there (window);

  /* A closed bar does not return. */
  gtk_info_bar_response (find_bar (window, "dimension 7", &button), GTK_RESPONSE_CLOSE);
  adj_walk_settle (window);
  g_assert_false (is_blamed (document));
  g_assert_false (gtk_info_bar_get_revealed (find_bar (window, "", &button)));
  adj_walk_close (window);
}

static void
test_run (void)
{
  AdjWindow *window = open_broken ();

  g_assert_true (adj_walk_run (window, "win.run"));
  assert_goes_there (window);
  adj_walk_close (window);
}

/* Writes a recording of a pipeline whose last stage failed at "total". */
static char *
write_recording (const AdjTestFolder *folder)
{
  static const char text[] = "class GraphModule(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[2, 3]\"):\n"
                             "        n0: \"f32[2, 3]\" = torch.ops.aten.sin.default(x)\n"
                             "        total: \"f32[2]\" = "
                             "torch.ops.aten.sum.dim_IntList(n0, [7], True)\n"
                             "        return (total,)\n";
  char *path = g_build_filename (folder->path, "failed.adjoint", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  const AdjPipelineOptions options = { .steps = "dce,cse,joint" };
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjBundle) bundle = NULL;

  g_assert_no_error (error);
  g_assert_true (adj_pipeline_run (graph, "user", &options, &result, NULL, &error));
  bundle = adj_pipeline_result_to_bundle (&result, NULL, NULL);
  adj_format_for_path (path, NULL)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
  return path;
}

static GtkWidget *
find_stage (AdjWindow *window, const char *name)
{
  GtkWidget *label = adj_walk_find (adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_STAGE_BAR, NULL),
                                    GTK_TYPE_LABEL, name);

  return gtk_widget_get_ancestor (label, GTK_TYPE_TOGGLE_BUTTON);
}

/* The failed stage is chosen, the bar and the log give the reason, and the blamed node of the
 * previous stage is selected. */
static void
assert_failed (AdjWindow *window)
{
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *log = adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_LOG_PAGE, NULL);
  GtkWidget *button, *failed = find_stage (window, "joint");

  g_assert_true (gtk_widget_get_mapped (log));
  g_assert_nonnull (
      adj_walk_find (log, GTK_TYPE_LABEL,
                     adj_recording_get_stage (adj_stages_get_recording (document), 3)->failure));
  g_assert_true (gtk_widget_is_sensitive (failed));
  g_assert_true (gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (failed)));
  g_assert_true (gtk_info_bar_get_revealed (find_bar (window, "dimension 7", &button)));
  g_assert_cmpstr (adj_document_get_graph (document)->role, ==, "cse");
  assert_at (window, "total");
}

static void
test_stage (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = write_recording (folder);
  GtkWidget *button;

  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  assert_failed (window);

  /* Chooses another stage, then returns by the failed (red) one. */
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (find_stage (window, "dce")), TRUE);
  adj_walk_settle (window);
  g_assert_false (gtk_info_bar_get_revealed (find_bar (window, "", &button)));
  g_assert_false (gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (find_stage (window, "joint"))));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", "text");
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (find_stage (window, "joint")), TRUE);
  adj_walk_settle (window);
  assert_failed (window);
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/blame/trace", test_trace);
  g_test_add_func ("/ui/blame/run", test_run);
  g_test_add_func ("/ui/blame/stage", test_stage);
  return g_test_run ();
}
