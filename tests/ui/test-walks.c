/* SPDX-License-Identifier: MIT */

/* Typical sessions, with keys and clicks: a log from someone else, a student's model, budgets,
 * and graphs of thousands of unnamed nodes. */

#include "canvas/adj-beside-pane.h"
#include "inspect/adj-inspector.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "model/adj-maker.h"
#include "model/adj-provenance.h"
#include "model/adj-search.h"
#include "model/adj-stage-summaries.h"
#include "model/adj-stages.h"
#include "panel/adj-source-page.h"
#include "stages/adj-stage-options.h"
#include "support/adj-test.h"
#include "support/layered-graph.h"
#include "ui/adj-mouse.h"

#define UNTIL ADJ_MOUSE_UNTIL

static AdjApplication *application;

/* -- means -- */

/* Writes pictures of the current state, light and dark. */
static void
keep (AdjWindow *window, const char *name)
{
  static const struct
  {
    const char *suffix;
    AdwColorScheme scheme;
  } schemes[] = { { "dark", ADW_COLOR_SCHEME_FORCE_DARK },
                  { "light", ADW_COLOR_SCHEME_FORCE_LIGHT } };

  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++)
    {
      g_autofree char *file = g_strdup_printf ("walk-%s-%s", name, schemes[i].suffix);

      adw_style_manager_set_color_scheme (adw_style_manager_get_default (), schemes[i].scheme);
      adj_walk_keep (window, file);
    }
}

static AdjDocument *
get_document (AdjWindow *window)
{
  return adj_window_get_document (window);
}

static const AdjGraph *
get_graph (AdjWindow *window)
{
  return adj_document_get_graph (get_document (window))->graph;
}

static gboolean
is_at_step (AdjWindow *window, gint step)
{
  return adj_stages_get_current_step (get_document (window)) == step &&
         adj_document_get_status (get_document (window)) == NULL;
}

static const char *
get_selected (AdjWindow *window)
{
  AdjNodeId id = adj_document_get_selected (get_document (window));

  return adj_node_id_is_valid (id) ? adj_graph_get_node (get_graph (window), id.index)->name : "";
}

/* Moves the keyboard focus to the canvas. */
static void
focus_canvas (AdjWindow *window)
{
  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (GTK_WIDGET (adj_window_get_view (window)));
}

static GtkWidget *
find_told (AdjWindow *window, const char *text)
{
  return adj_walk_find (adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_INSPECTOR, NULL),
                        GTK_TYPE_LABEL, text);
}

/* -- a log -- */

/* Steps through every stage by keyboard, to the end and back. */
static void
step_through (AdjWindow *window)
{
  g_autoptr (GArray) steps = adj_stages_list_steps (get_document (window));

  g_assert_cmpuint (steps->len, >, 2);
  focus_canvas (window);
  for (gint i = adj_stages_get_current_step (get_document (window)); i > 0; i--)
    {
      adj_mouse_do ("key bracketleft");
      UNTIL (is_at_step (window, i - 1));
    }
  for (gint i = 1; i < (gint) steps->len; i++)
    {
      adj_mouse_do ("key bracketright");
      UNTIL (is_at_step (window, i));
    }
  for (gint i = (gint) steps->len - 2; i >= 0; i--)
    {
      adj_mouse_do ("key bracketleft");
      UNTIL (is_at_step (window, i));
    }
}

/* Whether @i is an input of backward that a forward call made. */
static gboolean
is_saved_call (AdjDocument *document, guint i, AdjMaker *maker)
{
  const AdjBundleGraph *forward;

  if (!adj_maker_find (document, (AdjNodeId){ i }, maker))
    return FALSE;
  forward = adj_graph_set_get (adj_document_get_graphs (document), maker->graph);
  return adj_graph_get_node (forward->graph, maker->node.index)->opcode == ADJ_OPCODE_CALL_FUNCTION;
}

/* A backward input is traced to the forward node that made it by graph structure, not by name. */
static void
assert_kin (AdjDocument *document, AdjNodeId node, const AdjMaker *maker)
{
  g_autoptr (GArray) kin = adj_provenance_find (document, node);
  gboolean found = FALSE;

  for (guint i = 0; i < kin->len; i++)
    found |= g_array_index (kin, AdjKin, i).graph == maker->graph &&
             g_array_index (kin, AdjKin, i).node.index == maker->node.index;
  g_assert_true (found);
}

/* Follows an input of backward to the forward node that made it and to its source line. */
static void
follow_input (AdjWindow *window, const char *name)
{
  AdjDocument *document = get_document (window);
  GtkWidget *link;
  AdjMaker maker;
  guint i = 0;

  g_assert_true (adj_walk_choose_graph (window, "backward"));
  while (!is_saved_call (document, i, &maker))
    g_assert_cmpuint (++i, <, adj_graph_get_n_nodes (get_graph (window)));
  adj_document_set_selected (document, (AdjNodeId){ i });
  adj_walk_settle (window);
  g_assert_nonnull (find_told (window, "Saved by Forward"));
  assert_kin (document, (AdjNodeId){ i }, &maker);
  keep (window, name);
  link = gtk_widget_get_next_sibling (find_told (window, "Made by"));
  adj_mouse_click (link, 8, 8);
  UNTIL (adj_document_get_graph_index (document) == maker.graph &&
         !adj_document_is_busy (document));
  adj_walk_settle (window);
  g_assert_cmpuint (adj_document_get_selected (document).index, ==, maker.node.index);
  focus_canvas (window);
  adj_mouse_do ("key Return");
  UNTIL (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_SOURCE_PAGE) != NULL);
}

static void
lay_beside (AdjWindow *window, const char *name)
{
  GtkWidget *pane;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-beside", NULL);
  UNTIL ((pane = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_BESIDE_PANE)) != NULL);
  UNTIL (adj_graph_view_get_scene (adj_beside_pane_get_view (ADJ_BESIDE_PANE (pane))) != NULL);
  keep (window, name);
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-beside", NULL);
  adj_walk_settle (window);
}

static gboolean
has_badge (AdjWindow *window)
{
  AdjStageSummaries *summaries = adj_stage_summaries_of (get_document (window));
  g_autoptr (GArray) steps = adj_stages_list_steps (get_document (window));

  for (guint i = 0; i < steps->len; i++)
    if (adj_stage_summaries_get (summaries, i)->check == ADJ_CHECK_EQUAL ||
        adj_stage_summaries_get (summaries, i)->check == ADJ_CHECK_WITHIN)
      return TRUE;
  return FALSE;
}

static void
test_log (gconstpointer data)
{
  const char *path = data;
  AdjWindow *window = adj_walk_open_window (application, 1400, 900);
  g_autofree char *kind = g_path_get_basename (path);
  g_autofree char *saved = g_strdup_printf ("log-saved-%s", kind);
  g_autofree char *beside = g_strdup_printf ("log-beside-%s", kind);
  g_autofree char *badge = g_strdup_printf ("log-badge-%s", kind);

  g_assert_true (adj_walk_open (window, path));
  UNTIL (!adj_document_is_busy (get_document (window)));
  step_through (window);
  follow_input (window, saved);
  lay_beside (window, beside);
  UNTIL (has_badge (window));
  keep (window, badge);
  adj_walk_close (window);
}

/* -- a student -- */

/* Opens the text of mlp's Dynamo graph. */
static AdjWindow *
open_text_of_mlp (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1400, 900);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "mlp.txt", NULL);
  g_autofree char *from = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (AdjBundle) bundle = adj_bundle_load (from, NULL, NULL);
  g_autofree char *text = adj_graph_print (adj_bundle_find_graph (bundle, "dynamo", NULL)->graph,
                                           ADJ_PRINT_DEFAULT, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  return window;
}

static void
press_until (AdjWindow *window, const char *key, const char *node)
{
  g_autofree char *command = g_strdup_printf ("key %s", key);

  for (guint i = 0; i < adj_graph_get_n_nodes (get_graph (window)); i++)
    {
      g_autofree char *before = g_strdup (get_selected (window));

      if (g_str_equal (before, node))
        return;
      adj_mouse_do (command);
      UNTIL (!g_str_equal (get_selected (window), before));
    }
  g_error ("%s never leads to %s", key, node);
}

/* Traces, steps to the joint graph, and goes call by call through a running backward: each call
 * has its values, its gradient rule and its forward node. */
static void
test_student (void)
{
  AdjWindow *window = open_text_of_mlp ();
  AdjDocument *document = get_document (window);

  gtk_widget_activate_action (GTK_WIDGET (window), "win.trace", NULL);
  UNTIL (adj_document_get_graph (document) != NULL &&
         g_str_equal (adj_document_get_graph (document)->role, "joint") &&
         !adj_document_is_busy (document));
  adj_walk_settle (window);
  focus_canvas (window);
  adj_mouse_do ("key period");
  UNTIL (adj_document_get_evaluation (document) != NULL);
  press_until (window, "period", "relu");
  adj_walk_settle (window);
  g_assert_nonnull (find_told (window, "Save or Recompute?"));
  g_assert_nonnull (find_told (window, "0 if y ≤ 0, else g"));
  g_assert_nonnull (find_told (window, "Result of the Run"));
  keep (window, "student-forward");
  press_until (window, "period", "threshold_backward");
  adj_walk_settle (window);
  g_assert_nonnull (find_told (window, "0 if y ≤ 0, else g"));
  g_assert_nonnull (find_told (window, "Gradient of"));
  g_assert_nonnull (find_told (window, "Result of the Run"));
  keep (window, "student-backward");
  press_until (window, "comma", "relu");
  adj_walk_close (window);
}

/* -- budgets -- */

static gboolean
is_traced (AdjDocument *document, double budget)
{
  const AdjTraceChoice *choice = adj_document_get_trace (document);

  return choice != NULL && choice->partition.budget == budget && !adj_document_is_busy (document) &&
         adj_document_get_scene (document) != NULL;
}

/* Saved bytes grow with the budget, and the picture shows them. */
static void
test_budgets (void)
{
  static const double budgets[] = { 0, 0.25, 0.5, 0.75, 1 };
  AdjWindow *window = adj_walk_open_graph (application, "graphs/sac.adjoint", "dynamo");
  AdjDocument *document;
  gint64 saved = 0;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.trace", NULL);
  document = get_document (window); /* in its own tab */
  UNTIL (adj_document_get_trace (document) != NULL && adj_document_get_scene (document) != NULL &&
         !adj_document_is_busy (document));
  UNTIL (adj_walk_choose_graph (window, ADJ_PAIR_ROLE));
  for (guint i = 0; i < G_N_ELEMENTS (budgets); i++)
    {
      g_autofree char *name = g_strdup_printf ("sac-%g", budgets[i]);
      GtkWidget *options = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_STAGE_OPTIONS);

      gtk_spin_button_set_value (
          GTK_SPIN_BUTTON (adj_walk_find_mapped (options, GTK_TYPE_SPIN_BUTTON)), budgets[i]);
      UNTIL (is_traced (document, budgets[i]));
      adj_walk_settle (window);
      g_assert_cmpint (adj_scene_get_saved_bytes (adj_document_get_scene (document)), >=, saved);
      saved = adj_scene_get_saved_bytes (adj_document_get_scene (document));
      g_test_message ("budget %g: %" G_GINT64_FORMAT " bytes are saved", budgets[i], saved);
      keep (window, name);
    }
  adj_walk_close (window);
}

/* -- thousands of nodes -- */

/* The node in view stays in view when boxes around it open. */
static void
assert_in_view (AdjWindow *window, AdjNodeId node)
{
  AdjScene *scene = adj_document_get_scene (get_document (window));
  const AdjSceneBox *box = adj_scene_get_box (scene, adj_scene_find_node (scene, node));
  AdjRect seen;

  g_assert_true (adj_graph_view_get_visible (adj_window_get_view (window), &seen));
  g_assert_cmpfloat (box->rect.x + box->rect.width / 2, >=, seen.x);
  g_assert_cmpfloat (box->rect.x + box->rect.width / 2, <=, seen.x + seen.width);
  g_assert_cmpfloat (box->rect.y + box->rect.height / 2, >=, seen.y);
  g_assert_cmpfloat (box->rect.y + box->rect.height / 2, <=, seen.y + seen.height);
}

static void
test_large (gconstpointer data)
{
  guint n_layers = GPOINTER_TO_UINT (data), n_closed;
  AdjWindow *window = adj_walk_open_window (application, 1400, 900);
  AdjDocument *document = get_document (window);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "deep.txt", NULL);
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (n_layers, FALSE);
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);
  g_autofree char *closed = g_strdup_printf ("large-%u-closed", n_layers);
  g_autofree char *open = g_strdup_printf ("large-%u-open", n_layers);
  g_autoptr (GArray) found = NULL;
  AdjNodeId node;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_true (adj_walk_open (window, path));
  UNTIL (!adj_document_is_busy (document));
  n_closed = adj_scene_get_n_boxes (adj_document_get_scene (document));
  g_assert_cmpuint (n_closed, <, adj_graph_get_n_nodes (graph) / 20);
  keep (window, closed);

  found = adj_search_run (get_graph (window), adj_document_get_scene (document), "op:sin");
  g_assert_cmpuint (found->len, >=, n_layers);
  node = g_array_index (found, AdjNodeId, found->len / 2);
  adj_document_set_selected (document, node);
  adj_walk_settle (window);
  focus_canvas (window);
  adj_mouse_do ("key space");
  UNTIL (adj_scene_get_n_boxes (adj_document_get_scene (document)) > n_closed &&
         !adj_document_is_busy (document));
  g_assert_cmpuint (adj_document_get_selected (document).index, ==, node.index);
  adj_walk_settle (window);
  assert_in_view (window, node);
  keep (window, open);
  adj_walk_close (window);
}

/* -- narrow windows -- */

/* Steps through and reads a log in a narrow window, which never gets wider. */
static void
test_narrow (gconstpointer data)
{
  int width = GPOINTER_TO_INT (data);
  AdjWindow *window = adj_walk_open_window (application, width, 740);
  AdjDocument *document = get_document (window);
  g_autofree char *path = adj_test_data_path ("graphs/torch-trace");
  g_autofree char *first = g_strdup_printf ("narrow-%d", width);
  g_autofree char *next = g_strdup_printf ("narrow-%d-next", width);
  g_autofree char *inspected = g_strdup_printf ("narrow-%d-node", width);
  gint step;

  g_assert_true (adj_walk_open (window, path));
  UNTIL (!adj_document_is_busy (document));
  keep (window, first);
  focus_canvas (window);
  step = adj_stages_get_current_step (document);
  adj_mouse_do ("key bracketright");
  UNTIL (is_at_step (window, step + 1) && !adj_document_is_busy (document));
  keep (window, next);
  g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (window)), <=, width);
  adj_document_set_selected (document, adj_graph_find_node (get_graph (window), "relu"));
  adj_walk_settle (window);
  g_assert_nonnull (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_INSPECTOR));
  keep (window, inspected);
  g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (window)), <=, width);
  adj_walk_close (window);
}

/* -- keys alone -- */

static void
type (const char *keys)
{
  g_autofree char *command = g_strdup_printf ("key %s", keys);

  adj_mouse_do (command);
}

/* Finds, follows, steps, plays and compares by keyboard only. */
static void
test_keys (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  AdjDocument *document = get_document (window);
  gint step = adj_stages_get_current_step (document);

  focus_canvas (window);
  type ("ctrl+f");
  adj_walk_settle (window);
  adj_mouse_do ("type gelu");
  UNTIL (g_str_equal (get_selected (window), "gelu") ||
         (type ("Return"), adj_walk_settle (window), g_str_equal (get_selected (window), "gelu")));
  type ("Escape");
  type ("F6");
  adj_walk_settle (window);
  type ("m");
  UNTIL (g_str_equal (get_selected (window), "gelu_backward"));
  type ("Return");
  UNTIL (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_SOURCE_PAGE) != NULL);
  type ("F6");
  adj_walk_settle (window);
  type ("bracketright");
  UNTIL (is_at_step (window, step + 1));
  g_assert_cmpstr (get_selected (window), ==, "gelu_backward");
  type ("bracketleft");
  UNTIL (is_at_step (window, step));
  g_assert_cmpstr (get_selected (window), ==, "gelu_backward");
  type ("period");
  UNTIL (adj_document_get_evaluation (document) != NULL);
  adj_walk_settle (window);
  keep (window, "keys-played");
  type ("ctrl+b");
  UNTIL (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_BESIDE_PANE) != NULL);
  keep (window, "keys-beside");
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  g_autofree char *sample = NULL, *newest = NULL;

  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  sample = adj_test_data_path ("graphs/torch-trace");
  newest = g_test_build_filename (G_TEST_DIST, "formats", "data", "trace-2.15.log", NULL);
  g_test_add_data_func ("/walks/log", sample, test_log);
  g_test_add_data_func ("/walks/newest-log", newest, test_log);
  g_test_add_func ("/walks/student", test_student);
  g_test_add_func ("/walks/budgets", test_budgets);
  g_test_add_data_func ("/walks/7000", GUINT_TO_POINTER (46), test_large);
  g_test_add_data_func ("/walks/100000", GUINT_TO_POINTER (650), test_large);
  g_test_add_data_func ("/walks/narrow/360", GINT_TO_POINTER (360), test_narrow);
  g_test_add_data_func ("/walks/narrow/500", GINT_TO_POINTER (500), test_narrow);
  g_test_add_data_func ("/walks/narrow/800", GINT_TO_POINTER (800), test_narrow);
  g_test_add_func ("/walks/keys", test_keys);
  return g_test_run ();
}
