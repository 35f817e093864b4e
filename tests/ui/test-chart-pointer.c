/* SPDX-License-Identifier: MIT */

/* The mouse on charts: the map of a difference, the curve of partitions, memory over time. */

#include <gio/gio.h>

#include "inspect/adj-histogram.h"
#include "ir/adj-graph.h"
#include "panel/adj-backward-chart.h"
#include "panel/adj-difference-pane.h"
#include "panel/adj-difference-view.h"
#include "panel/adj-memory-chart.h"
#include "stages/adj-pareto-chart.h"
#include "stages/adj-pareto-page.h"
#include "support/adj-test.h"
#include "support/planted-bundle.h"
#include "ui/adj-mouse.h"

#define UNTIL ADJ_MOUSE_UNTIL

static AdjApplication *application;

/* -- the map -- */

/* The position of an element on a map whose other dimensions are fixed. */
static AdjPoint
place_of (GtkWidget *view, const AdjDifferenceMap *map, gint64 row, gint64 column)
{
  float width = MIN (gtk_widget_get_width (view), adj_difference_map_get_n_columns (map) * 36);
  float height = MIN (gtk_widget_get_height (view), adj_difference_map_get_n_rows (map) * 36);

  return (AdjPoint){ (column + 0.5f) * width / adj_difference_map_get_n_columns (map),
                     (row + 0.5f) * height / adj_difference_map_get_n_rows (map) };
}

/* Makes the same map as the pane, with the same slice. */
static AdjDifferenceMap *
make_map (AdjDocument *document)
{
  AdjEvaluation *evaluation = adj_document_get_evaluation (document);
  AdjNodeId node = adj_document_get_selected (document);

  return adj_difference_map_new (adj_evaluation_get_value (evaluation, node),
                                 adj_evaluation_get_beside (evaluation, node));
}

/* Returns the first label of the pane that describes @element. */
static GtkWidget *
find_told (GtkWidget *pane, const AdjDifferenceMap *map, gint64 element)
{
  g_autofree char *text = adj_difference_map_describe (map, element);

  return adj_walk_find (pane, GTK_TYPE_LABEL, text);
}

static void
check_map (AdjWindow *window, GtkWidget *pane)
{
  GtkWidget *view = adj_walk_find (pane, ADJ_TYPE_DIFFERENCE_VIEW, NULL);
  g_autoptr (AdjDifferenceMap) map = make_map (adj_window_get_document (window));
  AdjPoint at = place_of (view, map, 2, 9);
  gint64 wanted = adj_difference_map_index (map, 2, 9);
  gint64 worst = adj_difference_view_get_element (ADJ_DIFFERENCE_VIEW (view));

  g_assert_cmpint (worst, !=, wanted);
  /* The element under the pointer is described but not chosen. */
  adj_mouse_move (view, at.x, at.y);
  UNTIL (find_told (pane, map, wanted) != NULL);
  g_assert_cmpint (adj_difference_view_get_element (ADJ_DIFFERENCE_VIEW (view)), ==, worst);
  adj_mouse_move (GTK_WIDGET (window), 2, 2);
  UNTIL (find_told (pane, map, worst) != NULL);

  adj_mouse_move (view, at.x, at.y);
  adj_mouse_do ("mousedown 1");
  UNTIL (adj_difference_view_get_element (ADJ_DIFFERENCE_VIEW (view)) == wanted);
  g_assert_true (gtk_widget_has_focus (view));
  at = place_of (view, map, 5, 30);
  adj_mouse_move (view, at.x, at.y);
  UNTIL (adj_difference_view_get_element (ADJ_DIFFERENCE_VIEW (view)) ==
         adj_difference_map_index (map, 5, 30));
  /* Outside of the map the nearest element is used. */
  adj_mouse_move (view, at.x, -30);
  UNTIL (adj_difference_view_get_element (ADJ_DIFFERENCE_VIEW (view)) ==
         adj_difference_map_index (map, 0, 30));
  adj_mouse_do ("mouseup 1");
}

/* The table of numbers begins at the element shown in the map, and the map follows the chosen
 * row. */
static void
check_numbers (AdjWindow *window, GtkWidget *pane)
{
  AdjDifferenceView *view =
      ADJ_DIFFERENCE_VIEW (adj_walk_find (pane, ADJ_TYPE_DIFFERENCE_VIEW, NULL));
  GtkWidget *table = adj_walk_find (pane, GTK_TYPE_COLUMN_VIEW, NULL);
  GtkWidget *label = adj_walk_find (pane, GTK_TYPE_LABEL, "Numbers");
  gint64 chosen = adj_difference_view_get_element (view);
  GtkSingleSelection *rows;
  guint row;

  adj_mouse_click (label, 2, 2);
  UNTIL (gtk_widget_get_mapped (table));
  rows = GTK_SINGLE_SELECTION (gtk_column_view_get_model (GTK_COLUMN_VIEW (table)));
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (rows)), ==, 2 * 8 * 64);
  g_assert_cmpuint (gtk_single_selection_get_selected (rows), ==, chosen);
  adj_walk_settle (window);
  /* Clicks below the column titles: on the chosen row, or on the one above it. */
  for (guint y = 40; y < 80 && gtk_single_selection_get_selected (rows) == chosen; y += 20)
    {
      adj_mouse_click (table, 30, y);
      adj_walk_settle (window);
    }
  UNTIL (gtk_single_selection_get_selected (rows) != chosen);
  row = gtk_single_selection_get_selected (rows);
  g_assert_cmpint (adj_difference_view_get_element (view), ==, row);
}

/* A node whose sides are equal has no map. */
static void
check_alone (AdjWindow *window, GtkWidget *pane)
{
  GtkWidget *table = adj_walk_find (pane, GTK_TYPE_COLUMN_VIEW, NULL);

  g_assert_true (adj_walk_select (window, "embedding"));
  g_assert_true (gtk_widget_get_mapped (table));
  g_assert_false (gtk_widget_get_mapped (adj_walk_find (pane, GTK_TYPE_LABEL, "Map")));
  g_assert_cmpuint (
      g_list_model_get_n_items (G_LIST_MODEL (gtk_column_view_get_model (GTK_COLUMN_VIEW (table)))),
      ==, 2 * 8 * 16);
  g_assert_true (adj_walk_select (window, "gelu"));
  g_assert_false (gtk_widget_get_mapped (table));
}

static void
test_map (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "planted.adjoint", NULL);
  g_autofree char *source = adj_test_data_path ("graphs/gpt2.adjoint");
  GtkWidget *histogram, *pane;

  adj_planted_write (source, path, "0-0-joint", "approximate = 'tanh'", "approximate = 'none'");
  g_assert_true (adj_walk_open (window, path));
  g_assert_true (adj_walk_run (window, "win.compare"));
  pane = adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_DIFFERENCE_PANE, NULL);
  check_map (window, pane);
  check_numbers (window, pane);

  /* The inspector shows both sides. */
  histogram = adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_HISTOGRAM, NULL);
  g_assert_true (
      g_str_has_prefix (gtk_widget_get_tooltip_text (histogram), "Distributions of both"));
  g_assert_nonnull (adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, "━ recorded"));
  check_alone (window, pane);
  adj_walk_close (window);
}

/* -- the curve -- */

static gboolean
is_dark (const guchar *pixel, guint limit)
{
  return pixel[3] > limit;
}

/* The legend's symbol for the file's plan matches the chart: wherever the symbol is painted, the
 * chart has that colour. */
static void
check_sign (GtkWidget *chart, graphene_point_t at)
{
  int width = gtk_widget_get_width (chart), height = gtk_widget_get_height (chart);
  cairo_surface_t *sign = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (chart);
  g_autoptr (GtkSnapshot) snapshot = gtk_snapshot_new ();
  g_autoptr (GskRenderNode) node = NULL;
  g_autoptr (GdkTexture) texture = NULL;
  g_autofree guchar *pixels = g_malloc ((gsize) width * height * 4);
  cairo_t *cr = cairo_create (sign);
  guint painted = 0, wrong = 0;

  adj_pareto_chart_draw_sign (cr, ADJ_PLAN_SHOWN, at.x, at.y, FALSE);
  cairo_destroy (cr);
  cairo_surface_flush (sign);
  gdk_paintable_snapshot (paintable, snapshot, width, height);
  node = gtk_snapshot_to_node (snapshot);
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (gtk_widget_get_native (chart)),
                                         node, &GRAPHENE_RECT_INIT (0, 0, width, height));
  gdk_texture_download (texture, pixels, (gsize) width * 4);
  for (int i = 0; i < width * height; i++)
    {
      const guchar *own = cairo_image_surface_get_data (sign) + i * 4;

      if (!is_dark (own, 250))
        continue;
      painted++;
      for (guint k = 0; k < 3; k++)
        wrong += ABS (own[k] - pixels[i * 4 + k]) > 8;
    }
  cairo_surface_destroy (sign);
  g_assert_cmpuint (painted, >, 20);
  g_assert_cmpuint (wrong, ==, 0);
}

static GtkSingleSelection *
get_plans (AdjWindow *window)
{
  GtkWidget *page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_PAGE);

  return GTK_SINGLE_SELECTION (gtk_column_view_get_model (
      GTK_COLUMN_VIEW (adj_walk_find_mapped (page, GTK_TYPE_COLUMN_VIEW))));
}

/* (transfer full): the last plan, which recomputes most. */
static AdjPlanItem *
get_last (GtkSingleSelection *plans, guint *position)
{
  *position = g_list_model_get_n_items (G_LIST_MODEL (plans)) - 1;
  return g_list_model_get_item (G_LIST_MODEL (plans), *position);
}

static guint
find_shown (GtkSingleSelection *plans)
{
  for (guint i = 0;; i++)
    {
      g_autoptr (AdjPlanItem) item = g_list_model_get_item (G_LIST_MODEL (plans), i);

      if (adj_plan_item_get (item)->is_shown)
        return i;
    }
}

/* Finds a position without a point. */
static graphene_point_t
find_space (GtkWidget *chart, guint n)
{
  for (float x = 100;; x += 10)
    {
      graphene_point_t at = { x, 60 };
      float nearest = 1000, dx, dy;

      for (guint i = 0; i < n; i++)
        {
          graphene_point_t point = adj_pareto_chart_get_place (ADJ_PARETO_CHART (chart), i);

          nearest = MIN (nearest, graphene_point_distance (&at, &point, &dx, &dy));
        }
      if (nearest > 25)
        return at;
    }
}

static void
test_curve (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  AdjDocument *before = adj_window_get_document (window);
  g_autoptr (AdjPlanItem) last = NULL;
  GtkSingleSelection *plans;
  GtkWidget *chart;
  graphene_point_t at, space;
  guint position;

  adj_window_show_page (window, "partitions");
  UNTIL (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_CHART) != NULL);
  adj_walk_settle (window);
  chart = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_CHART);
  plans = get_plans (window);
  last = get_last (plans, &position);
  check_sign (chart, adj_pareto_chart_get_place (ADJ_PARETO_CHART (chart), find_shown (plans)));

  /* A point near the pointer is described. */
  at = adj_pareto_chart_get_place (ADJ_PARETO_CHART (chart), position);
  adj_mouse_move (chart, at.x + 3, at.y - 3);
  UNTIL (adj_pareto_chart_get_subject (ADJ_PARETO_CHART (chart)) == position);
  g_assert_cmpuint (gtk_single_selection_get_selected (plans), ==, GTK_INVALID_LIST_POSITION);
  space = find_space (chart, position + 1);
  adj_mouse_move (chart, space.x, space.y);
  UNTIL (adj_pareto_chart_get_subject (ADJ_PARETO_CHART (chart)) != position);

  /* A click on a point makes the graphs of its plan. */
  adj_mouse_click (chart, space.x, space.y);
  adj_walk_settle (window);
  g_assert_true (adj_window_get_document (window) == before);
  adj_mouse_click (chart, at.x, at.y);
  UNTIL (adj_window_get_document (window) != before);
  UNTIL (!adj_document_is_busy (adj_window_get_document (window)));
  adj_walk_close (window);
}

/* -- memory -- */

static void
test_memory (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *chart;
  graphene_point_t at;
  guint n;

  adj_document_set_selected (document, ADJ_NO_NODE);
  adj_window_show_page (window, "memory");
  adj_walk_settle (window);
  chart = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_MEMORY_CHART);
  n = adj_graph_get_n_nodes (adj_document_get_graph (document)->graph);
  adj_mouse_move (chart, gtk_widget_get_width (chart) * 0.5, 40);
  /* The tensors alive at that step are highlighted on the canvas. */
  UNTIL (adj_document_get_lit (document) != NULL);
  adj_mouse_move (GTK_WIDGET (window), 2, 2);
  UNTIL (adj_document_get_lit (document) == NULL);
  at = adj_memory_chart_get_place (ADJ_MEMORY_CHART (chart), n / 2);
  adj_mouse_click (chart, at.x, at.y);
  UNTIL (adj_node_id_is_valid (adj_document_get_selected (document)));
  g_assert_cmpuint (adj_document_get_selected (document).index, ==, n / 2);
  adj_walk_close (window);
}

/* -- the orders of a backward -- */

static const char *
selected_name (AdjDocument *document)
{
  AdjNodeId node = adj_document_get_selected (document);

  return adj_node_id_is_valid (node)
             ? adj_graph_get_node (adj_document_get_graph (document)->graph, node.index)->name
             : "";
}

static gboolean
says (GtkWidget *chart, const char *text)
{
  g_autofree char *all = adj_backward_chart_describe (ADJ_BACKWARD_CHART (chart));

  return strstr (all, text) != NULL;
}

/* The gutter above the first step of the lower lane: a click sets a breakpoint, another one
 * removes it, and neither goes to the node. */
static void
check_gutter (AdjWindow *window, GtkWidget *chart)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjStepping *stepping = adj_document_get_stepping (document);
  const AdjNodeId selected = adj_document_get_selected (document);

  adj_mouse_move (chart, 16, 90);
  UNTIL (says (chart, "Click: a breakpoint at NllLossBackward0 (NodeCall 1)"));
  adj_mouse_click (chart, 16, 90);
  UNTIL (adj_stepping_has_breakpoint (stepping, 0));
  UNTIL (says (chart, "Click: no breakpoint at NllLossBackward0 (NodeCall 1) any more"));
  adj_walk_settle (window);
  adj_walk_keep (window, "backward-gutter");
  adj_mouse_click (chart, 16, 90);
  UNTIL (!adj_stepping_has_breakpoint (stepping, 0));
  g_assert_cmpuint (adj_document_get_selected (document).index, ==, selected.index);
}

/* Keys go to the first step that accumulates and to its node; the pointer goes to a step and to
 * a bar. */
static void
test_backward (void)
{
  AdjWindow *window =
      adj_walk_open_graph (application, "graphs/mlp-ddp.adjoint", "compiled_autograd");
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *chart;
  double width;

  adj_document_set_selected (document, ADJ_NO_NODE);
  adj_window_show_page (window, "backward");
  adj_walk_settle (window);
  chart = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_BACKWARD_CHART);
  width = gtk_widget_get_width (chart);
  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (chart);
  adj_mouse_do ("key Home Return");
  UNTIL (g_str_equal (selected_name (document), "accumulate_grad__5"));
  adj_mouse_do ("key Right Return");
  UNTIL (g_str_equal (selected_name (document), "call_hook_5"));
  adj_mouse_do ("key Left Left Return");
  UNTIL (g_str_equal (selected_name (document), "t"));

  /* The first step of the lower lane, and the first input that is freed. */
  UNTIL (!adj_document_is_busy (document));
  adj_walk_settle (window);
  adj_mouse_click (chart, 16, 100);
  UNTIL (g_str_equal (selected_name (document), "nll_loss_backward"));
  UNTIL (!adj_document_is_busy (document));
  adj_walk_settle (window);
  adj_mouse_click (chart, width / 2, gtk_widget_get_height (chart) - 6 - 19 * 7 + 2);
  UNTIL (g_str_equal (selected_name (document), "getitem"));
  UNTIL (says (chart, "stolen: freed after nll_loss_backward"));
  check_gutter (window, chart);
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/chart-pointer/map", test_map);
  g_test_add_func ("/ui/chart-pointer/curve", test_curve);
  g_test_add_func ("/ui/chart-pointer/memory", test_memory);
  g_test_add_func ("/ui/chart-pointer/backward", test_backward);
  return g_test_run ();
}
