/* SPDX-License-Identifier: MIT */

/* The strip of stages in a real window: tracing in place, options, scrubbing, the list of
 * changes. */

#include <gio/gio.h>
#include <string.h>

#include "canvas/graph-view-private.h"
#include "formats/adj-format.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "model/adj-stage-summaries.h"
#include "model/adj-stages.h"
#include "report/adj-stage-change.h"
#include "stages/adj-changes-page.h"
#include "stages/adj-stage-bar.h"
#include "stages/adj-stage-options.h"
#include "support/adj-test.h"
#include "ui/adj-mouse.h"

#define UNTIL ADJ_MOUSE_UNTIL

static AdjApplication *application;

static GtkWidget *
find_bar (AdjWindow *window)
{
  return adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_STAGE_BAR);
}

/* Returns the button of the step with this name. */
static GtkWidget *
find_step (AdjWindow *window, const char *name)
{
  GtkWidget *label = adj_walk_find (find_bar (window), GTK_TYPE_LABEL, name);

  g_assert_nonnull (label);
  return gtk_widget_get_ancestor (label, GTK_TYPE_TOGGLE_BUTTON);
}

static gboolean
shows (AdjWindow *window, const char *role)
{
  const AdjBundleGraph *graph = adj_document_get_graph (adj_window_get_document (window));

  return graph != NULL && g_str_equal (graph->role, role) &&
         !adj_document_is_busy (adj_window_get_document (window));
}

/* A file with one graph, the dynamo graph of mlp. */
static AdjWindow *
open_alone (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "alone.txt", NULL);
  g_autofree char *from = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (AdjBundle) bundle = adj_bundle_load (from, NULL, NULL);
  g_autofree char *text = adj_graph_print (adj_bundle_find_graph (bundle, "dynamo", NULL)->graph,
                                           ADJ_PRINT_DEFAULT, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  return window;
}

/* With a single stage the strip offers to trace, and the stages appear in the same tab. */
static void
test_traces_in_place (void)
{
  AdjWindow *window = open_alone ();
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *label = adj_walk_find (find_bar (window), GTK_TYPE_LABEL, "Trace");

  g_assert_nonnull (label);
  adj_mouse_click (label, 4, 4);
  UNTIL (shows (window, "joint"));
  g_assert_true (adj_window_get_document (window) == document);
  g_assert_nonnull (find_step (window, "partition"));
  g_assert_false (gtk_widget_get_mapped (label));
  g_assert_false (adj_document_is_unsaved (document));
  adj_walk_close (window);
}

/* So does the header, until there are stages. */
static void
test_traces_from_header (void)
{
  AdjWindow *window = open_alone ();
  GtkWidget *header = adj_walk_find_mapped (GTK_WIDGET (window), ADW_TYPE_HEADER_BAR);
  GtkWidget *label = adj_walk_find (header, GTK_TYPE_LABEL, "Trace");

  g_assert_nonnull (label);
  adj_walk_keep (window, "trace-in-header");
  adj_mouse_click (label, 4, 4);
  UNTIL (shows (window, "joint"));
  adj_walk_settle (window);
  g_assert_false (gtk_widget_get_mapped (label));
  adj_walk_close (window);
}

/* A budget is an option of the partition stage: earlier stages are kept. */
static void
test_options (void)
{
  AdjWindow *window = open_alone ();
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *options, *spin;
  const AdjGraph *joint, *forward;
  AdjRecording *recording;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.trace", NULL);
  UNTIL (shows (window, "joint"));
  adj_walk_settle (window);
  adj_mouse_click (find_step (window, "partition"), 10, 10);
  UNTIL (shows (window, ADJ_PAIR_ROLE));
  adj_walk_settle (window);
  recording = adj_stages_get_recording (document);
  joint =
      adj_recording_get_stage (recording, (guint) adj_recording_find (recording, "joint"))->graph;
  forward =
      adj_recording_get_stage (recording, (guint) adj_recording_find (recording, "forward"))->graph;
  options = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_STAGE_OPTIONS);
  g_assert_nonnull (options);
  spin = adj_walk_find_mapped (options, GTK_TYPE_SPIN_BUTTON);
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (spin), 0);
  UNTIL (adj_stages_get_recording (document) != recording && shows (window, ADJ_PAIR_ROLE));
  recording = adj_stages_get_recording (document);
  g_assert_true (
      adj_recording_get_stage (recording, (guint) adj_recording_find (recording, "joint"))->graph ==
      joint);
  g_assert_true (
      adj_recording_get_stage (recording, (guint) adj_recording_find (recording, "forward"))
          ->graph != forward);
  g_assert_cmpfloat (adj_document_get_trace (document)->partition.budget, ==, 0);
  adj_walk_close (window);
}

static AdjGraph *
get_stage_graph (AdjWindow *window, const char *name)
{
  AdjRecording *recording = adj_stages_get_recording (adj_window_get_document (window));

  return adj_recording_get_stage (recording, (guint) adj_recording_find (recording, name))->graph;
}

/* Decompositions are an option of the joint graph: the graph without writes is kept. */
static void
test_decompositions (void)
{
  AdjWindow *window = open_alone ();
  const AdjGraph *functional, *joint;
  GtkWidget *options;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.trace", NULL);
  UNTIL (shows (window, "joint"));
  adj_walk_settle (window);
  functional = get_stage_graph (window, "functionalize");
  joint = get_stage_graph (window, "joint");
  options = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_STAGE_OPTIONS);
  for (guint table = 1; table <= 2; table++)
    {
      const guint chosen = table % 2; /* the first one, then none */

      gtk_drop_down_set_selected (
          GTK_DROP_DOWN (adj_walk_find_mapped (options, GTK_TYPE_DROP_DOWN)), chosen);
      UNTIL (get_stage_graph (window, "joint") != joint && shows (window, "joint"));
      g_assert_true (get_stage_graph (window, "functionalize") == functional);
      g_assert_cmpint (adj_recording_find (
                           adj_stages_get_recording (adj_window_get_document (window)), "backward"),
                       >, 0);
      joint = get_stage_graph (window, "joint");
    }
  adj_walk_close (window);
}

/* Drags the pointer along the strip. */
static void
test_scrubs (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/torch-trace", "dynamo");
  GtkWidget *first = find_step (window, "captured"), *last = find_step (window, "partition");

  adj_mouse_move (first, 10, 10);
  adj_mouse_do ("mousedown 1");
  adj_mouse_move (find_step (window, "joint"), 10, 10);
  UNTIL (shows (window, "joint"));
  adj_mouse_move (last, 10, 10);
  UNTIL (shows (window, ADJ_PAIR_ROLE));
  adj_mouse_do ("mouseup 1");
  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (GTK_WIDGET (adj_window_get_view (window)));
  adj_mouse_do ("key bracketleft");
  UNTIL (shows (window, "joint"));
  adj_mouse_do ("key bracketright");
  UNTIL (shows (window, ADJ_PAIR_ROLE));
  adj_walk_close (window);
}

static AdjPoint
find_place (AdjWindow *window, const char *name)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjScene *scene = adj_document_get_scene (document);
  AdjCamera camera = adj_graph_view_get_camera (adj_window_get_view (window));
  AdjNodeId node = adj_graph_find_node (adj_document_get_graph (document)->graph, name);
  const AdjSceneBox *box = adj_scene_get_box (scene, adj_scene_find_node (scene, node));

  return adj_camera_to_widget (&camera, box->rect.x, box->rect.y);
}

/* The part in view keeps its position and size from stage to stage. */
static void
test_stays (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  AdjGraphView *view = adj_window_get_view (window);
  AdjScene *scene = adj_document_get_scene (adj_window_get_document (window));
  const AdjSceneBox *box;
  AdjPoint before, after;

  box = adj_scene_get_box (
      scene,
      adj_scene_find_node (
          scene, adj_graph_find_node (
                     adj_document_get_graph (adj_window_get_document (window))->graph, "addmm_1")));
  adj_graph_view_set_camera (
      view,
      &(AdjCamera){ box->rect.x - (float) gtk_widget_get_width (GTK_WIDGET (view)) / 2.4f,
                    box->rect.y - (float) gtk_widget_get_height (GTK_WIDGET (view)) / 2.4f, 1.2f });
  adj_walk_settle (window);
  before = find_place (window, "addmm_1");
  gtk_widget_activate_action (GTK_WIDGET (window), "win.next-stage", NULL);
  UNTIL (shows (window, ADJ_PAIR_ROLE));
  adj_walk_settle (window);
  after = find_place (window, "addmm_1");
  g_assert_cmpfloat (adj_graph_view_get_camera (view).zoom, ==, 1.2f);
  g_assert_cmpfloat (ABS (after.x - before.x), <, 2);
  g_assert_cmpfloat (ABS (after.y - before.y), <, 2);
  adj_walk_close (window);
}

static AdjNodeId
find_node (AdjWindow *window, const char *name)
{
  return adj_graph_find_node (adj_document_get_graph (adj_window_get_document (window))->graph,
                              name);
}

/* Scrolls the corner of card @name to (@x, @y) of the canvas. */
static void
look_at (AdjWindow *window, const char *name, float x, float y, float zoom)
{
  AdjScene *scene = adj_document_get_scene (adj_window_get_document (window));
  const AdjRect *rect =
      &adj_scene_get_box (scene, adj_scene_find_node (scene, find_node (window, name)))->rect;

  adj_graph_view_set_camera (adj_window_get_view (window),
                             &(AdjCamera){ rect->x - x / zoom, rect->y - y / zoom, zoom });
  adj_walk_settle (window);
}

/* Goes to step @step, which shows @role, and expects @name at its former position. */
static void
step_around (AdjWindow *window, guint step, const char *role, const char *name)
{
  AdjPoint before = find_place (window, name), after;

  adj_stages_show_step (adj_window_get_document (window), step);
  UNTIL (shows (window, role));
  adj_walk_settle (window);
  after = find_place (window, name);
  g_test_message ("%s, %s: %.1f %.1f", role, name, after.x - before.x, after.y - before.y);
  g_assert_cmpfloat (ABS (after.x - before.x), <, 3);
  g_assert_cmpfloat (ABS (after.y - before.y), <, 3);
}

/* The selected card keeps its position, at the edge and in the middle, at any zoom, from the
 * partition to each half, between the halves, and back; without a selection, the card in the
 * middle. */
static void
test_halves (gconstpointer data)
{
  const char *const *names = data; /* file, then nodes: of forward, saved, of backward, … */
  AdjWindow *window = adj_walk_open_graph (application, names[0], "joint");
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *view = GTK_WIDGET (adj_window_get_view (window));

  for (guint i = 1; i <= 3; i++)
    {
      const char *role = i == 3 ? "backward" : "forward";

      adj_document_set_selected (document, find_node (window, names[i]));
      adj_walk_settle (window);
      look_at (window, names[i], 12, 30, 0.5f);
      step_around (window, 2, ADJ_PAIR_ROLE, names[i]);
      step_around (window, i == 3 ? 4 : 3, role, names[i]);
      if (i == 2)
        {
          step_around (window, 4, "backward", names[i]);
          step_around (window, 3, role, names[i]);
        }
      step_around (window, 2, ADJ_PAIR_ROLE, names[i]);
      g_assert_cmpuint (adj_document_get_selected (document).index, ==,
                        find_node (window, names[i]).index);
      step_around (window, 1, "joint", names[i]);
      g_assert_cmpfloat (adj_graph_view_get_camera (adj_window_get_view (window)).zoom, ==, 0.5f);
    }
  adj_document_set_selected (document, ADJ_NO_NODE);
  adj_walk_settle (window);
  look_at (window, names[2], (float) gtk_widget_get_width (view) / 2.0f - 60,
           (float) gtk_widget_get_height (view) / 2.0f - 20, 0.9f);
  step_around (window, 2, ADJ_PAIR_ROLE, names[2]);
  step_around (window, 3, "forward", names[2]);
  step_around (window, 4, "backward", names[2]);
  step_around (window, 3, "forward", names[2]);
  step_around (window, 2, ADJ_PAIR_ROLE, names[2]);
  adj_walk_close (window);
}

static const AdjStageSummary *
get_summary (AdjWindow *window)
{
  AdjDocument *document = adj_window_get_document (window);

  return adj_stage_summaries_get (adj_stage_summaries_of (document),
                                  (guint) adj_stages_get_current_step (document));
}

/* Expects as many discs as the strip counts. */
static void
assert_discs (AdjWindow *window)
{
  const AdjStageSummary *summary = get_summary (window);
  guint n[ADJ_CHANGE_CHANGED + 1] = { 0 };
  gsize length;
  const guint8 *kinds = g_bytes_get_data (adj_window_get_view (window)->changes, &length);

  for (gsize i = 0; i < length; i++)
    n[kinds[i]]++;
  g_assert_cmpuint (n[ADJ_CHANGE_ADDED], ==, summary->n_added);
  g_assert_cmpuint (n[ADJ_CHANGE_CHANGED], ==, summary->n_changed);
  g_assert_cmpuint (summary->n_added, >, 0);
  g_assert_cmpuint (summary->n_changed, >, 0);
}

/* Cards mark what the shown stage added and changed; if most of it is new there are no marks. */
static void
test_discs (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/torch-trace", "joint");
  AdjDocument *document = adj_window_get_document (window);

  UNTIL (get_summary (window)->counted);
  g_assert_cmpuint (get_summary (window)->n_added, >, 50);
  g_assert_null (adj_window_get_view (window)->changes);
  adj_document_set_graph_index (
      document, adj_graph_set_find (adj_document_get_graphs (document), "0-0-post_grad-2", NULL));
  UNTIL (shows (window, "post_grad") && adj_window_get_view (window)->changes != NULL);
  assert_discs (window);
  adj_walk_keep (window, "discs");
  adj_walk_close (window);
}

static GtkListView *
get_rows (AdjWindow *window)
{
  return GTK_LIST_VIEW (adj_walk_find_mapped (
      adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_CHANGES_PAGE), GTK_TYPE_LIST_VIEW));
}

static guint
count_rows (AdjWindow *window)
{
  return g_list_model_get_n_items (G_LIST_MODEL (gtk_list_view_get_model (get_rows (window))));
}

/* A summary sentence, then the list of replacements; typing keeps the rows that contain all
 * words. */
static void
test_changes (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  GtkWidget *page, *entry;
  guint n;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", "changes");
  adj_walk_settle (window);
  page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_CHANGES_PAGE);
  g_assert_true (g_str_has_prefix (
      gtk_label_get_text (GTK_LABEL (adj_walk_find_mapped (page, GTK_TYPE_LABEL))),
      "Forward and backward in one graph: "));
  {
    /* The counts in the strip. */
    const AdjStageSummary *summary = get_summary (window);
    g_autofree char *numbers = g_strdup_printf ("%u changed, %u came, %u went", summary->n_changed,
                                                summary->n_added, summary->n_removed);

    g_assert_nonnull (strstr (
        gtk_label_get_text (GTK_LABEL (adj_walk_find_mapped (page, GTK_TYPE_LABEL))), numbers));
  }
  n = count_rows (window);
  entry = adj_walk_find_mapped (page, GTK_TYPE_SEARCH_ENTRY);
  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (entry);
  adj_mouse_do ("type --delay 20 'relu became'");
  UNTIL (count_rows (window) == 1);
  g_assert_cmpuint (n, >, 5);
  adj_walk_close (window);
}

static guint
count_metadata (AdjWindow *window)
{
  GListModel *rows = G_LIST_MODEL (gtk_list_view_get_model (get_rows (window)));
  guint n = 0;

  for (guint i = 0; i < g_list_model_get_n_items (rows); i++)
    {
      g_autoptr (AdjStageChange) change = g_list_model_get_item (rows, i);

      n += adj_stage_change_is_metadata (change);
    }
  return n;
}

/* Metadata and the steps of a pass are a list of their own. */
static void
test_metadata (void)
{
  AdjWindow *window = open_alone ();
  GtkWidget *page, *label;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.trace", NULL);
  UNTIL (shows (window, "joint"));
  adj_walk_settle (window);
  page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_CHANGES_PAGE);
  g_assert_cmpuint (count_rows (window), >, 0);
  g_assert_cmpuint (count_metadata (window), ==, 0);
  label = adj_walk_find (page, GTK_TYPE_LABEL, "Metadata");
  g_assert_true (gtk_widget_get_mapped (label));
  adj_mouse_click (label, 4, 4);
  UNTIL (count_metadata (window) > 0);
  g_assert_cmpuint (count_metadata (window), ==, count_rows (window));
  adj_walk_keep (window, "changes-metadata");
  adj_mouse_click (label, 4, 4);
  UNTIL (count_metadata (window) == 0);
  g_assert_cmpuint (count_rows (window), >, 0);
  adj_walk_close (window);
}

static gboolean
has_row (AdjWindow *window, AdjChangeKind kind, const char *why)
{
  GListModel *rows = G_LIST_MODEL (gtk_list_view_get_model (get_rows (window)));
  gboolean found = FALSE;

  for (guint i = 0; i < g_list_model_get_n_items (rows); i++)
    {
      g_autoptr (AdjStageChange) change = g_list_model_get_item (rows, i);

      found |= adj_stage_change_get_kind (change) == kind &&
               g_str_has_prefix (adj_stage_change_get_why (change), why);
    }
  return found;
}

static gboolean
has_stage (AdjWindow *window, const char *name)
{
  AdjRecording *recording = adj_stages_get_recording (adj_window_get_document (window));

  return recording != NULL && adj_recording_find (recording, name) >= 0;
}

/* Tags of checkpoints are a stage between the joint graph and the partition; it tells what has
 * which tag, why, and which tags a rule replaced. */
static void
test_tags (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/sac.adjoint", "dynamo");
  AdjRecording *recording;
  gint tags;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.trace", NULL);
  UNTIL (has_stage (window, "tag") && find_bar (window) != NULL);
  adj_walk_settle (window);
  recording = adj_stages_get_recording (adj_window_get_document (window));
  tags = adj_recording_find (recording, "tag");
  g_assert_cmpint (tags, ==, adj_recording_find (recording, "joint") + 1);
  g_assert_cmpint (adj_stages_find_partitioned (recording), ==, tags - 1);
  adj_mouse_click (find_step (window, "tags"), 10, 10);
  UNTIL (shows (window, "tag") && get_summary (window)->counted);
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", "changes");
  adj_walk_settle (window);
  g_assert_cmpuint (get_summary (window)->n_added, ==, 0);
  g_assert_cmpuint (get_summary (window)->n_removed, ==, 0);
  g_assert_cmpuint (get_summary (window)->n_changed, >, 0);
  g_assert_true (has_row (window, ADJ_CHANGE_CHANGED, "MUST_SAVE, not PREFER_RECOMPUTE: "));
  g_assert_true (has_row (window, ADJ_CHANGE_NONE, "PREFER_RECOMPUTE by the checkpoint of region"));
  adj_walk_keep (window, "tags");
  adj_walk_close (window);
}

static gboolean
has_card (AdjWindow *window, guint32 node)
{
  return adj_scene_find_node (adj_document_get_scene (adj_window_get_document (window)),
                              (AdjNodeId){ node }) != ADJ_NO_BOX;
}

/* The number of nodes that have a card; each that changed must have one. */
static guint
count_cards (AdjWindow *window)
{
  const AdjGraph *graph = adj_document_get_graph (adj_window_get_document (window))->graph;
  gsize n_kinds;
  const guint8 *kinds = g_bytes_get_data (get_summary (window)->changes, &n_kinds);
  guint n = 0;

  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      n += has_card (window, i);
      g_assert_true (kinds[i] == ADJ_CHANGE_NONE || has_card (window, i) ||
                     adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_OUTPUT);
    }
  return n;
}

static gboolean
shows_only_changed (AdjWindow *window)
{
  AdjDocument *document = adj_window_get_document (window);

  return adj_document_get_arrangement (document)->only_changed && !adj_document_is_busy (document);
}

/* A key shows only what a stage changed with its neighbours, which are dimmed; it remains while
 * stepping.  A button shows all again, and so does undo. */
static void
test_only_changed (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/torch-trace", "joint");
  AdjDocument *document = adj_window_get_document (window);
  guint all, only;

  adj_document_set_graph_index (
      document, adj_graph_set_find (adj_document_get_graphs (document), "0-0-post_grad-2", NULL));
  UNTIL (shows (window, "post_grad") && get_summary (window)->counted);
  adj_walk_settle (window);
  all = count_cards (window);
  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (GTK_WIDGET (adj_window_get_view (window)));
  adj_mouse_do ("key o");
  UNTIL (shows_only_changed (window));
  adj_walk_settle (window);
  only = count_cards (window);
  g_assert_cmpuint (only, >, get_summary (window)->n_added + get_summary (window)->n_changed);
  g_assert_cmpuint (only, <, all);
  g_assert_cmpuint (adj_graph_view_get_lit (adj_window_get_view (window))->len, ==,
                    get_summary (window)->n_added + get_summary (window)->n_changed);
  adj_walk_keep (window, "only-changed");
  adj_mouse_do ("key bracketleft");
  UNTIL (!shows (window, "post_grad") && shows_only_changed (window));
  adj_mouse_do ("key bracketright");
  UNTIL (shows (window, "post_grad") && shows_only_changed (window));
  adj_walk_settle (window);
  g_assert_cmpuint (count_cards (window), ==, only);

  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", "changes");
  adj_walk_settle (window);
  adj_mouse_click (
      adj_walk_find_mapped (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_CHANGES_PAGE),
                            GTK_TYPE_TOGGLE_BUTTON),
      8, 8);
  UNTIL (!shows_only_changed (window) && !adj_document_is_busy (document));
  g_assert_cmpuint (count_cards (window), ==, all);
  gtk_widget_activate_action (GTK_WIDGET (window), "win.undo", NULL);
  UNTIL (shows_only_changed (window));
  g_assert_cmpuint (count_cards (window), ==, only);
  adj_walk_close (window);
}

/* If the desktop enables animations, a switch is animated from the former picture. */
static void
test_morphs (void)
{
  AdjWindow *window = open_alone ();
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *view = adj_window_get_view (window);
  const char *shots = g_getenv ("ADJ_SHOTS");
  g_autofree char *path = shots != NULL ? g_build_filename (shots, "morph.png", NULL) : NULL;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.trace", NULL);
  UNTIL (shows (window, "joint"));
  adj_walk_settle (window);
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", TRUE, NULL);
  adj_stages_step (document, -1);
  UNTIL (shows (window, "functionalize"));
  UNTIL (view->morph == NULL);
  adj_stages_step (document, 1);
  UNTIL (view->morph != NULL);
  g_assert_true (adj_morph_get_before (view->morph) != adj_graph_view_get_scene (view));
  /* A frame may take longer than the animation. */
  UNTIL (view->morph == NULL || adj_morph_get_progress (view->morph) > 0);
  if (path != NULL && view->morph != NULL)
    adj_walk_shoot (GTK_WIDGET (window), path);
  UNTIL (view->morph == NULL);
  /* A third step during the animation of the second. */
  adj_stages_step (document, -1);
  UNTIL (view->morph != NULL);
  adj_stages_step (document, 1);
  UNTIL (shows (window, "joint") && view->morph == NULL);
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, NULL);
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  static const char *const mlp[] = { "graphs/mlp.adjoint", "addmm", "relu", "gelu_backward" };
  static const char *const gpt2[] = { "graphs/gpt2.adjoint", "addmm", "addmm_2", "gelu_backward" };

  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/strip/traces-in-place", test_traces_in_place);
  g_test_add_func ("/strip/traces-from-header", test_traces_from_header);
  g_test_add_func ("/strip/options", test_options);
  g_test_add_func ("/strip/decompositions", test_decompositions);
  g_test_add_func ("/strip/scrubs", test_scrubs);
  g_test_add_func ("/strip/stays", test_stays);
  g_test_add_data_func ("/strip/halves/mlp", mlp, test_halves);
  g_test_add_data_func ("/strip/halves/gpt2", gpt2, test_halves);
  g_test_add_func ("/strip/discs", test_discs);
  g_test_add_func ("/strip/changes", test_changes);
  g_test_add_func ("/strip/metadata", test_metadata);
  g_test_add_func ("/strip/tags", test_tags);
  g_test_add_func ("/strip/only-changed", test_only_changed);
  g_test_add_func ("/strip/morphs", test_morphs);
  return g_test_run ();
}
