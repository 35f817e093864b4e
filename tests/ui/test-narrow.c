/* SPDX-License-Identifier: MIT */

/* The window on narrow screens: nothing is cut off, and everything is reachable. */

#include "canvas/adj-canvas-page.h"
#include "inspect/adj-inspector.h"
#include "sidebar/adj-sidebar.h"
#include "stages/adj-stage-bar.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

static const char *const pages[] = { "source",     "run",      "values",  "memory",
                                     "backward",   "text",     "changes", "contract",
                                     "partitions", "findings", "facts",   "log" };

/* Logs widgets that are wider than the window. */
static void
tell_wide (GtkWidget *widget, int width, guint depth)
{
  int minimum;

  gtk_widget_measure (widget, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, NULL, NULL, NULL);
  if (!gtk_widget_get_visible (widget) || minimum <= width)
    return;
  g_test_message ("%*s%s: %d", 2 * (int) depth, "", G_OBJECT_TYPE_NAME (widget), minimum);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    tell_wide (child, width, depth + 1);
}

static void
test_width (gconstpointer data)
{
  int width = GPOINTER_TO_INT (data);
  AdjWindow *window = adj_walk_open_window (application, width, 700);
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");
  g_autofree char *name = g_strdup_printf ("narrow-%d", width);
  GtkWidget *canvas;

  tell_wide (GTK_WIDGET (window), width, 0);
  g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (window)), <=, width);
  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  tell_wide (GTK_WIDGET (window), width, 0);
  g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (window)), <=, width);
  canvas = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_CANVAS_PAGE);
  g_assert_nonnull (canvas);
  g_assert_cmpint (gtk_widget_get_width (canvas), >=, MIN (width, 320));
  /* Without room beside the canvas the inspector covers it. */
  adj_document_set_selected (adj_window_get_document (window), ADJ_NO_NODE);
  adj_walk_settle (window);
  g_assert_true (adj_walk_select (window, "relu"));
  tell_wide (GTK_WIDGET (window), width, 0);
  g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (window)), <=, width);
  g_assert_nonnull (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_INSPECTOR));
  adj_walk_keep (window, name);
  adj_walk_close (window);
}

/* With any page open below, and from any former size, the canvas keeps its share, and the window
 * does not get wider. */
static void
test_panel (gconstpointer data)
{
  const int *size = data;
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");
  g_autofree char *name = g_strdup_printf ("panel-%dx%d", size[0], size[1]);

  g_assert_true (adj_walk_open (window, path));
  adj_window_show_page (window, "source");
  adj_walk_settle (window);
  gtk_window_set_default_size (GTK_WINDOW (window), size[0], size[1]);
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      GtkWidget *canvas, *panel;

      adj_window_show_page (window, pages[i]);
      adj_walk_settle (window);
      canvas = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_CANVAS_PAGE);
      panel = adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_NOTEBOOK);
      g_test_message ("%s: canvas %d, panel %d, window %d × %d", pages[i],
                      gtk_widget_get_height (canvas), gtk_widget_get_height (panel),
                      gtk_widget_get_width (GTK_WIDGET (window)),
                      gtk_widget_get_height (GTK_WIDGET (window)));
      tell_wide (GTK_WIDGET (window), size[0], 0);
      g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (window)), <=, size[0]);
      g_assert_cmpint (gtk_widget_get_height (GTK_WIDGET (window)), <=, size[1]);
      g_assert_cmpint (gtk_widget_get_height (canvas), >=,
                       MIN (gtk_widget_get_height (gtk_widget_get_parent (panel)) / 2, 320));
    }
  adj_walk_keep (window, name);
  adj_walk_close (window);
}

/* The part in view in a wide window stays in view in a narrow one. */
static void
test_comes_back (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  g_autofree char *path = adj_test_data_path ("graphs/gpt2.adjoint");
  const AdjScene *scene = adj_document_get_scene (adj_window_get_document (window));
  AdjRect bounds = adj_scene_get_bounds (scene);
  AdjGraphView *view = adj_window_get_view (window);

  /* The picture begins at x = 500. */
  g_assert_true (adj_walk_select (window, "gelu"));
  adj_graph_view_set_camera (view, &(AdjCamera){ bounds.x - 500, bounds.y, 1 });
  adj_walk_settle (window);
  adj_walk_close (window);

  window = adj_walk_open_window (application, 360, 700);
  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  view = adj_window_get_view (window);
  g_assert_cmpuint (adj_graph_view_count_visible (view), >, 0);
  g_assert_true (adj_node_id_is_valid (adj_graph_view_get_selected (view)));
  adj_walk_keep (window, "narrow-comes-back");
  adj_walk_close (window);
}

static gboolean
is_selected_clear (gpointer data)
{
  AdjWindow *window = data;
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *view = GTK_WIDGET (adj_window_get_view (window));
  GtkWidget *inspector = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_INSPECTOR);
  const AdjScene *scene = adj_document_get_scene (document);
  guint box = adj_scene_find_node (scene, adj_document_get_selected (document));
  AdjCamera camera = adj_graph_view_get_camera (ADJ_GRAPH_VIEW (view));
  AdjRect at = adj_camera_rect_to_widget (&camera, &adj_scene_get_box (scene, box)->rect);
  graphene_rect_t cover;

  return inspector != NULL && gtk_widget_compute_bounds (inspector, view, &cover) && at.x >= 0 &&
         at.y >= 0 && at.x + at.width <= gtk_widget_get_width (view) &&
         at.y + at.height <= cover.origin.y;
}

/* The same with a selection, whose inspector covers the canvas, and a page open below; the node
 * is at any position of the wider window. */
static void
test_comes_back_selected (gconstpointer data)
{
  const int *place = data;
  AdjWindow *window = adj_walk_open_window (application, 1400, 900);
  g_autofree char *path = adj_test_data_path ("graphs/torch-trace");
  g_autofree char *name = g_strdup_printf ("narrow-selected-%d-%d", place[0], place[1]);
  AdjDocument *document;
  AdjGraphView *view;
  const AdjScene *scene;
  const AdjRect *rect;

  g_assert_true (adj_walk_open (window, path));
  document = adj_window_get_document (window);
  view = adj_window_get_view (window);
  g_assert_true (adj_walk_choose_graph (window, "joint"));
  adj_window_show_page (window, "source");
  adj_walk_settle (window);
  g_assert_true (adj_walk_select (window, "relu"));
  scene = adj_document_get_scene (document);
  rect =
      &adj_scene_get_box (scene, adj_scene_find_node (scene, adj_document_get_selected (document)))
           ->rect;
  adj_graph_view_set_camera (
      view, &(AdjCamera){ rect->x - (float) place[0], rect->y - (float) place[1], 1 });
  adj_walk_settle (window);
  adj_walk_close (window);

  window = adj_walk_open_window (application, 360, 740);
  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  g_assert_true (
      adj_node_id_is_valid (adj_document_get_selected (adj_window_get_document (window))));
  adj_wait_until (is_selected_clear, window, 20);
  adj_walk_settle (window);
  adj_walk_keep (window, name);
  g_assert_true (is_selected_clear (window));
  adj_walk_close (window);
}

/* The scrollbar of the strip is below it. */
static void
test_strip (void)
{
  AdjWindow *window = adj_walk_open_window (application, 500, 700);
  g_autofree char *path = adj_test_data_path ("graphs/torch-trace");
  GtkWidget *strip, *bar, *stages;
  graphene_rect_t at, beside;

  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  strip = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_STAGE_BAR);
  bar = adj_walk_find_mapped (strip, GTK_TYPE_SCROLLBAR);
  stages = gtk_widget_get_first_child (adj_walk_find_mapped (strip, GTK_TYPE_VIEWPORT));
  g_assert_nonnull (bar);
  g_assert_true (gtk_widget_compute_bounds (bar, strip, &at));
  g_assert_true (gtk_widget_compute_bounds (stages, strip, &beside));
  adj_walk_keep (window, "narrow-strip");
  g_assert_cmpfloat (at.origin.y, >=, beside.origin.y + beside.size.height);
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  static const int sizes[][2] = { { 360, 640 }, { 500, 700 }, { 800, 600 } };
  static const int places[][2] = { { 40, 200 }, { 300, 200 }, { 700, 200 }, { 300, 600 } };

  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_data_func ("/narrow/360", GINT_TO_POINTER (360), test_width);
  g_test_add_data_func ("/narrow/500", GINT_TO_POINTER (500), test_width);
  g_test_add_data_func ("/narrow/800", GINT_TO_POINTER (800), test_width);
  g_test_add_func ("/narrow/comes-back", test_comes_back);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      g_autofree char *name =
          g_strdup_printf ("/narrow/comes-back-selected-%d-%d", places[i][0], places[i][1]);

      g_test_add_data_func (name, places[i], test_comes_back_selected);
    }
  g_test_add_func ("/narrow/strip", test_strip);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *name = g_strdup_printf ("/narrow/panel-%dx%d", sizes[i][0], sizes[i][1]);

      g_test_add_data_func (name, sizes[i], test_panel);
    }
  return g_test_run ();
}
