/* SPDX-License-Identifier: MIT */

/* Opaque objects in a real window: cards, the thread of effects and navigation along it, state
 * before and after a run. */

#include <string.h>

#include "builtin-programs.h"
#include "canvas/graph-view-private.h"
#include "formats/adj-format.h"
#include "inspect/adj-inspector.h"
#include "ir/adj-graph.h"
#include "session/adj-program.h"
#include "support/adj-test.h"
#include "ui/adj-mouse.h"

#define UNTIL ADJ_MOUSE_UNTIL

static AdjApplication *application;

/* Opens a window on the graph with this role that @program is traced to. */
static AdjWindow *
open_program (const char *program, const char *role)
{
  AdjWindow *window = adj_walk_open_window (application, 1400, 980);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *name = g_strdup_printf ("%s.adjoint", program);
  g_autofree char *path = g_build_filename (folder->path, name, NULL);
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (GError) error = NULL;

  adj_program_record (adj_builtin_program_find (program), NULL, &result, &error);
  g_assert_no_error (error);
  bundle = adj_pipeline_result_to_bundle (&result, NULL, NULL);
  adj_format_find ("adjoint", NULL)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (adj_walk_open (window, path));
  g_assert_true (adj_walk_choose_graph (window, role));
  adj_walk_settle (window);
  return window;
}

static const AdjSceneBox *
find_box (AdjWindow *window, const char *node)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjNodeId id = adj_graph_find_node (adj_document_get_graph (document)->graph, node);
  const AdjScene *scene = adj_document_get_scene (document);

  return adj_scene_get_box (scene, adj_scene_find_node (scene, id));
}

/* Counts the segments of the thread, or the highlighted ones. */
static guint
count_thread (AdjWindow *window, gboolean lit)
{
  AdjGraphView *view = adj_window_get_view (window);
  guint n = 0;

  for (guint i = 0; i < adj_scene_get_n_edges (view->scene); i++)
    n += adj_scene_get_edge (view->scene, i)->kind == ADJ_EDGE_EFFECT &&
         (!lit || (view->highlight != NULL && adj_highlight_has_edge (view->highlight, i)));
  return n;
}

static void
test_cards (void)
{
  AdjWindow *window = open_program ("queue", "cse");
  const AdjSceneBox *queue = find_box (window, "arg1_1"), *push = find_box (window, "with_effects");

  g_assert_true (queue->kind == ADJ_BOX_NODE && queue->object && queue->role == ADJ_ROLE_OBJECT);
  g_assert_cmpstr (queue->title, ==, "_TensorQueue");
  g_assert_true (push->object && push->role == ADJ_ROLE_OBJECT);
  g_assert_cmpstr (push->title, ==, "_TensorQueue.push");
  g_assert_false (find_box (window, "mul")->object);
  g_assert_cmpstr (find_box (window, "arg0_1")->title, ==, "token arg0_1");
  /* The thread enters five calls and leaves the last. */
  g_assert_cmpuint (count_thread (window, FALSE), ==, 6);
  adj_walk_keep (window, "objects");
  adj_walk_close (window);
}

static const char *
get_selected (AdjWindow *window)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjNodeId id = adj_document_get_selected (document);

  return adj_node_id_is_valid (id)
             ? adj_graph_get_node (adj_document_get_graph (document)->graph, id.index)->name
             : "";
}

static void
assert_goes (AdjWindow *window, const char *key, const char *node)
{
  g_autofree char *command = g_strdup_printf ("key %s", key);

  adj_mouse_do (command);
  UNTIL (g_str_equal (get_selected (window), node));
}

static GtkWidget *
find_text (AdjWindow *window, const char *text)
{
  return adj_walk_find (adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_INSPECTOR, NULL),
                        GTK_TYPE_LABEL, text);
}

/* Letter keys move along the thread, which is highlighted as a whole. */
static void
test_thread (void)
{
  AdjWindow *window = open_program ("queue", "cse");

  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (GTK_WIDGET (adj_window_get_view (window)));
  assert_goes (window, "x", "with_effects");
  assert_goes (window, "x", "with_effects_1");
  assert_goes (window, "x", "with_effects_2");
  g_assert_cmpuint (count_thread (window, TRUE), ==, 6);
  g_assert_nonnull (find_text (window, "_TensorQueue.push"));
  g_assert_nonnull (find_text (window, "_TensorQueue.size"));
  adj_walk_keep (window, "objects-thread");
  assert_goes (window, "X", "with_effects_1");
  assert_goes (window, "X", "with_effects");
  g_assert_true (adj_walk_select (window, "mul"));
  adj_walk_settle (window);
  g_assert_cmpuint (count_thread (window, TRUE), ==, 0);
  assert_goes (window, "X", "with_effects_4");
  adj_walk_close (window);
}

/* Expects the @n labels below the label @first, each of which begins a line. */
static void
assert_lines (AdjWindow *window, const char *first, const char *const *lines, guint n)
{
  GtkWidget *label = find_text (window, first);

  g_assert_nonnull (label);
  for (guint i = 0; i < n; i++)
    {
      label = gtk_widget_get_next_sibling (label);
      g_assert_nonnull (label);
      g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (label)), ==, lines[i]);
    }
}

/* The run changed that entry of the state: old and new value, each on its own line. */
static void
assert_changed (AdjWindow *window, const char *entry)
{
  GtkWidget *key = find_text (window, entry), *old, *new;

  g_assert_nonnull (key);
  g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (gtk_widget_get_next_sibling (key))), ==,
                   "before the run");
  old = gtk_widget_get_next_sibling (gtk_widget_get_next_sibling (key));
  g_assert_true (gtk_widget_has_css_class (old, "monospace"));
  assert_lines (window, gtk_label_get_text (GTK_LABEL (old)),
                (const char *const[]){ entry, "after it" }, 2);
  new =
      gtk_widget_get_next_sibling (gtk_widget_get_next_sibling (gtk_widget_get_next_sibling (old)));
  g_assert_true (gtk_widget_has_css_class (new, "monospace"));
  g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (old)), !=, gtk_label_get_text (GTK_LABEL (new)));
}

/* The state of a lookup table: its rows and the number of look-ups of each. */
static void
test_state (void)
{
  AdjWindow *window = open_program ("lookup-table", "joint");

  g_assert_true (adj_walk_select (window, "primals_2"));
  adj_walk_settle (window);
  g_assert_nonnull (find_text (window, "Adjoint::LookupTable"));
  g_assert_true (adj_walk_run (window, "win.run"));
  adj_walk_settle (window);
  assert_changed (window, "rows");
  assert_changed (window, "hits");
  assert_lines (window, "Methods",
                (const char *const[]){ "4", "lookup(Tensor index) -> Tensor\n"
                                            "update(Tensor index, Tensor rows) -> ()\n"
                                            "hits() -> Tensor\nrows() -> Tensor" },
                2);
  adj_walk_keep (window, "objects-state");
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/object-cards/cards", test_cards);
  g_test_add_func ("/object-cards/thread", test_thread);
  g_test_add_func ("/object-cards/state", test_state);
  return g_test_run ();
}
