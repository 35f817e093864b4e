/* SPDX-License-Identifier: MIT */

/* A large graph from a log: folded at first, opened in place, searched through closed boxes, and
 * never shrunk to a thin line. */

#include <gio/gio.h>

#include "canvas/graph-view-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "model/adj-module-item.h"
#include "model/adj-search.h"
#include "support/adj-test.h"
#include "support/layered-graph.h"
#include "ui/adj-walk.h"

#define N_LAYERS 40
#define STACK "70 calls · 40 ×"

static AdjApplication *application;

static AdjWindow *
open_log (const AdjTestFolder *folder)
{
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (N_LAYERS, FALSE);
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);
  g_autofree char *path = g_build_filename (folder->path, "deep.txt", NULL);
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  return window;
}

static const AdjSceneBox *
find_group (AdjDocument *document, const char *path)
{
  const AdjScene *scene = adj_document_get_scene (document);

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    if (g_str_equal (adj_scene_get_box (scene, i)->path, path))
      return adj_scene_get_box (scene, i);
  g_error ("no %s", path);
}

static void
toggle (AdjWindow *window, const char *path)
{
  AdjDocument *document = adj_window_get_document (window);
  g_autofree char *copy = g_strdup (path);

  adj_graph_view_toggle_module (adj_window_get_view (window), copy);
  adj_wait_for (document);
  adj_walk_settle (window);
}

/* One stack; when it is opened and closed it stays at its place on the screen. */
static void
test_opens_in_place (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  AdjWindow *window = open_log (folder);
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *view = adj_window_get_view (window);
  const AdjSceneBox *box = find_group (document, STACK);
  AdjRect before, after;

  g_assert_cmpuint (adj_scene_get_n_boxes (adj_document_get_scene (document)), <, 40);
  g_assert_cmpint (box->fold, ==, ADJ_FOLD_CLOSED);
  before = adj_camera_rect_to_widget (&view->camera, &box->rect);
  toggle (window, STACK);
  box = find_group (document, STACK);
  g_assert_cmpint (box->fold, ==, ADJ_FOLD_OPEN);
  after = adj_camera_rect_to_widget (&view->camera, &box->rect);
  g_assert_cmpfloat_with_epsilon (before.y, after.y, 2);
  g_assert_cmpint (find_group (document, "70 calls · 7 of 40")->fold, ==, ADJ_FOLD_CLOSED);
  toggle (window, STACK);
  g_assert_cmpint (find_group (document, STACK)->fold, ==, ADJ_FOLD_CLOSED);
  adj_walk_close (window);
}

/* Search results do not depend on which boxes are open. */
static void
test_search (void)
{
  static const char *const queries[] = { "sin", "role:saved", "role:gradient op:mul", "7 of" };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  AdjWindow *window = open_log (folder);
  AdjDocument *document = adj_window_get_document (window);
  const AdjGraph *graph = adj_document_get_graph (document)->graph;
  guint n_found[G_N_ELEMENTS (queries)];

  for (guint q = 0; q < G_N_ELEMENTS (queries); q++)
    {
      g_autoptr (GArray) found =
          adj_search_run (graph, adj_document_get_scene (document), queries[q]);

      n_found[q] = found->len;
      g_assert_cmpuint (found->len, >, 0);
    }
  adj_document_set_fold_depth (document, 0);
  adj_wait_for (document);
  for (guint q = 0; q < G_N_ELEMENTS (queries); q++)
    {
      g_autoptr (GArray) found =
          adj_search_run (graph, adj_document_get_scene (document), queries[q]);

      g_assert_cmpuint (found->len, ==, n_found[q]);
    }
  adj_walk_close (window);
}

/* The opened picture is forty screens high: fit uses its width. */
static void
test_fit (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  AdjWindow *window = open_log (folder);
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *view = adj_window_get_view (window);
  AdjRect bounds;
  float wide;

  adj_document_set_fold_depth (document, 0);
  adj_wait_for (document);
  adj_walk_settle (window);
  bounds = adj_scene_get_bounds (adj_document_get_scene (document));
  g_assert_cmpfloat (bounds.height, >, 40000);
  adj_graph_view_fit (view);
  adj_walk_settle (window);
  g_assert_cmpfloat (view->camera.zoom * bounds.width, >,
                     gtk_widget_get_width (GTK_WIDGET (view)) / 2.0);
  /* Fit again shows the whole picture, up to the minimal zoom, and then the width. */
  wide = view->camera.zoom;
  adj_graph_view_fit (view);
  adj_walk_settle (window);
  g_assert_cmpfloat (view->camera.zoom, <, wide / 2);
  adj_graph_view_fit (view);
  adj_walk_settle (window);
  g_assert_cmpfloat (view->camera.zoom, ==, wide);
  adj_walk_close (window);
}

/* The sidebar lists the blocks with the numbers of their boxes. */
static void
test_sidebar (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  AdjWindow *window = open_log (folder);
  AdjDocument *document = adj_window_get_document (window);
  g_autoptr (GListModel) modules =
      adj_module_tree_new (adj_document_get_graph (document)->graph, NULL);
  g_autoptr (AdjModuleItem) item = g_list_model_get_item (modules, 6);
  const AdjSceneBox *box;
  g_autofree char *count = NULL;

  g_assert_cmpuint (g_list_model_get_n_items (modules), ==, N_LAYERS);
  g_assert_cmpstr (adj_module_item_get_path (item), ==, "70 calls · 7 of 40");
  g_assert_cmpstr (adj_module_item_get_title (item), ==, "7 of 40 · 70 calls");
  toggle (window, STACK);
  box = find_group (document, "70 calls · 7 of 40");
  count = g_strdup_printf ("%u of %u nodes", box->n_nodes, adj_module_item_get_n_nodes (item));
  g_assert_cmpstr (box->subtitle, ==, count);
  g_assert_cmpint (box->bytes, ==, adj_module_item_get_saved_bytes (item));
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/large/opens-in-place", test_opens_in_place);
  g_test_add_func ("/large/search", test_search);
  g_test_add_func ("/large/fit", test_fit);
  g_test_add_func ("/large/sidebar", test_sidebar);
  return g_test_run ();
}
