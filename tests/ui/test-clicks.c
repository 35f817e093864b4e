/* SPDX-License-Identifier: MIT */

/* Mouse clicks and keys in the window have the documented effect. */

#include <gio/gio.h>

#include "canvas/adj-legend.h"
#include "canvas/adj-minimap.h"
#include "canvas/graph-view-private.h"
#include "inspect/adj-inspector.h"
#include "ir/adj-graph.h"
#include "model/adj-link.h"
#include "panel/adj-source-page.h"
#include "support/adj-test.h"
#include "ui/adj-mouse.h"
#include "window/adj-file-list.h"

#define UNTIL ADJ_MOUSE_UNTIL

static AdjApplication *application;

static GtkNotebook *
get_panel (AdjWindow *window)
{
  /* The panel is closed until a page of it is requested. */
  adj_window_show_page (window, "source");
  adj_walk_settle (window);
  return GTK_NOTEBOOK (adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_NOTEBOOK));
}

/* The whole tab, which is larger than its label. */
static GtkWidget *
get_tab (GtkNotebook *panel, int page)
{
  return gtk_widget_get_parent (
      gtk_notebook_get_tab_label (panel, gtk_notebook_get_nth_page (panel, page)));
}

static void
test_tabs (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  GtkNotebook *panel = get_panel (window);
  const double heights[] = { 0.1, 0.25, 0.5, 0.9 };

  for (guint i = 0; i < G_N_ELEMENTS (heights); i++)
    for (int page = gtk_notebook_get_n_pages (panel) - 1; page >= 0; page--)
      {
        GtkWidget *tab = get_tab (panel, page);

        adj_mouse_click (tab, gtk_widget_get_width (tab) / 2.0,
                         gtk_widget_get_height (tab) * heights[i]);
        UNTIL (gtk_notebook_get_current_page (panel) == page);
      }
  adj_walk_close (window);
}

/* Home keys with several open tabs: the tab does not change. */
static void
test_home (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  AdjDocument *first = adj_window_get_document (window);
  g_autofree char *lstm = adj_test_data_path ("graphs/lstm.adjoint");
  static const char *const keys[] = { "key ctrl+Home", "key Home" };
  AdjGraphView *view;

  g_assert_true (adj_walk_open (window, lstm));
  adj_walk_settle (window);
  view = adj_window_get_view (window);
  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (GTK_WIDGET (view));
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      AdjCamera all, near = { 40, 40, 2 };

      adj_graph_view_set_camera (view, &near);
      adj_graph_view_fit (view);
      all = adj_graph_view_get_camera (view);
      adj_graph_view_set_camera (view, &near);
      adj_mouse_do (keys[i]);
      UNTIL (adj_graph_view_get_camera (view).zoom == all.zoom);
      g_assert_true (adj_window_get_document (window) != first);
    }
  adj_walk_close (window);
}

/* Names are on a single line. */
static void
test_open_menu (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  GtkWidget *button = adj_walk_find (GTK_WIDGET (window), ADW_TYPE_SPLIT_BUTTON, NULL);
  GtkWidget *popover = GTK_WIDGET (adw_split_button_get_popover (ADW_SPLIT_BUTTON (button)));
  GtkWidget *files;

  adj_mouse_click (button, gtk_widget_get_width (button) - 6, gtk_widget_get_height (button) / 2.0);
  UNTIL (gtk_widget_get_mapped (popover));
  adj_walk_settle (window);
  files = adj_walk_find (popover, ADJ_TYPE_FILE_LIST, NULL);
  g_assert_cmpint (gtk_widget_get_width (files), >=, 300);
  /* An open popover keeps the keyboard. */
  adj_mouse_do ("key Escape");
  UNTIL (!gtk_widget_get_mapped (popover));
  adj_walk_close (window);
}

static gboolean
is_clear_of (AdjWindow *window, const AdjRect *at, GType type)
{
  GtkWidget *view = GTK_WIDGET (adj_window_get_view (window));
  GtkWidget *cover = adj_walk_find_mapped (GTK_WIDGET (window), type);
  graphene_rect_t bounds, node = GRAPHENE_RECT_INIT (at->x, at->y, at->width, at->height);

  g_assert_nonnull (cover);
  g_assert_true (gtk_widget_compute_bounds (cover, view, &bounds));
  return !graphene_rect_intersection (&bounds, &node, NULL);
}

/* Each node that is selected elsewhere comes into view and is not covered, although the
 * inspector opens. */
static void
test_covers (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/llama.adjoint", "joint");
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *view = adj_window_get_view (window);
  const AdjScene *scene = adj_document_get_scene (document);
  const AdjGraph *graph = adj_document_get_graph (document)->graph;
  guint n_seen = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i += 7)
    {
      guint found = adj_scene_find_node (scene, (AdjNodeId){ i });
      const AdjSceneBox *box = found != ADJ_NO_BOX ? adj_scene_get_box (scene, found) : NULL;
      int width = gtk_widget_get_width (GTK_WIDGET (view));
      int height = gtk_widget_get_height (GTK_WIDGET (view));
      AdjRect at;

      if (box == NULL)
        continue;
      adj_document_set_selected (document, ADJ_NO_NODE);
      adj_walk_settle (window);
      /* Places the node below the overview. */
      adj_graph_view_set_camera (
          view, &(AdjCamera){ box->rect.x - width * 0.85f, box->rect.y - height * 0.6f, 1 });
      adj_document_set_selected (document, (AdjNodeId){ i });
      adj_walk_settle (window);
      at = adj_camera_rect_to_widget (&view->camera, &box->rect);
      g_test_message ("%s at %.0f, %.0f", adj_graph_get_node (graph, i)->name, at.x, at.y);
      g_assert_cmpfloat (at.x, >=, 0);
      g_assert_cmpfloat (at.y, >=, 0);
      g_assert_cmpfloat (at.x + at.width, <=, gtk_widget_get_width (GTK_WIDGET (view)));
      g_assert_cmpfloat (at.y + at.height, <=, gtk_widget_get_height (GTK_WIDGET (view)));
      g_assert_true (is_clear_of (window, &at, ADJ_TYPE_LEGEND));
      g_assert_true (is_clear_of (window, &at, ADJ_TYPE_MINIMAP));
      n_seen++;
    }
  g_assert_cmpuint (n_seen, >, 20);
  adj_walk_close (window);
}

/* A link opens the file at its node and brings it into view. */
static void
test_links (void)
{
  static const char *const nodes[] = { "mm", "mm_20", "mm_44", "t_60" };
  g_autofree char *path = adj_test_data_path ("graphs/llama.adjoint");
  g_autoptr (GFile) file = g_file_new_for_path (path);

  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    {
      AdjWindow *window = adj_walk_open_window (application, 1280, 800);
      g_autofree char *text = adj_link_make (file, "joint", nodes[i]);
      g_autoptr (GFile) link = g_file_new_for_uri (text);
      AdjGraphView *view;
      AdjNodeId node;
      AdjRect at;

      adj_window_open (window, link);
      UNTIL (adj_window_get_document (window) != NULL &&
             adj_document_get_scene (adj_window_get_document (window)) != NULL);
      adj_walk_settle (window);
      view = adj_window_get_view (window);
      node = adj_graph_view_get_selected (view);
      g_assert_cmpstr (adj_graph_get_node (adj_graph_view_get_graph (view), node.index)->name, ==,
                       nodes[i]);
      at = adj_camera_rect_to_widget (
          &view->camera,
          &adj_scene_get_box (view->scene, adj_scene_find_node (view->scene, node))->rect);
      g_test_message ("%s at %.0f, %.0f", nodes[i], at.x, at.y);
      g_assert_cmpfloat (at.x, >=, 0);
      g_assert_cmpfloat (at.y, >=, 0);
      g_assert_cmpfloat (at.x + at.width, <=, gtk_widget_get_width (GTK_WIDGET (view)));
      g_assert_cmpfloat (at.y + at.height, <=, gtk_widget_get_height (GTK_WIDGET (view)));
      adj_walk_close (window);
    }
}

/* Whether @at is outside of the list of search results, a surface of its own above the canvas. */
static gboolean
is_clear_of_search (AdjWindow *window, const AdjRect *at)
{
  GtkWidget *view = GTK_WIDGET (adj_window_get_view (window));
  GtkWidget *entry = adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_SEARCH_ENTRY);
  GtkWidget *popover = gtk_widget_get_ancestor (entry, GTK_TYPE_POPOVER);
  GdkSurface *surface = gtk_native_get_surface (GTK_NATIVE (popover));
  double x, y, dx, dy;
  float left, top;

  g_assert_true (
      gtk_widget_translate_coordinates (view, GTK_WIDGET (window), at->x, at->y, &x, &y));
  gtk_native_get_surface_transform (GTK_NATIVE (window), &dx, &dy);
  left = (float) (gdk_popup_get_position_x (GDK_POPUP (surface)) - dx);
  top = (float) (gdk_popup_get_position_y (GDK_POPUP (surface)) - dy);
  return (float) x + at->width <= left ||
         (float) x >= left + (float) gdk_surface_get_width (surface) ||
         (float) y + at->height <= top ||
         (float) y >= top + (float) gdk_surface_get_height (surface);
}

/* Each result that is chosen is visible while the list stays open. */
static void
test_search_covers (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *view = adj_window_get_view (window);
  const AdjScene *scene = adj_document_get_scene (document);
  guint n_seen = 0;

  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (GTK_WIDGET (view));
  adj_walk_settle (window);
  adj_mouse_do ("key ctrl+f");
  UNTIL (adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_SEARCH_ENTRY) != NULL);
  adj_mouse_do ("type add");
  for (guint i = 0; i < 12; i++)
    {
      guint32 before = adj_document_get_selected (document).index;
      guint box;
      AdjRect at;

      adj_walk_settle (window);
      adj_mouse_do ("key Return");
      UNTIL (adj_document_get_selected (document).index != before);
      adj_walk_settle (window);
      box = adj_scene_find_node (scene, adj_document_get_selected (document));
      at = adj_camera_rect_to_widget (&view->camera, &adj_scene_get_box (scene, box)->rect);
      g_assert_true (is_clear_of_search (window, &at));
      n_seen +=
          at.x >= 0 && at.y >= 0 && at.y + at.height <= gtk_widget_get_height (GTK_WIDGET (view));
    }
  g_assert_cmpuint (n_seen, ==, 12);
  adj_mouse_do ("key Escape");
  UNTIL (adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_SEARCH_ENTRY) == NULL);
  adj_walk_close (window);
}

/* The node in the middle stays in view, and nothing is dimmed. */
static void
test_closes_all (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *view = adj_window_get_view (window);
  AdjScene *before = adj_document_get_scene (document);
  const AdjSceneBox *box;
  AdjRect at;

  g_assert_true (adj_walk_select (window, "gelu"));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.fold-all", NULL);
  UNTIL (adj_document_get_scene (document) != before && !adj_document_is_busy (document));
  adj_walk_settle (window);
  box = adj_scene_get_box (adj_document_get_scene (document),
                           adj_scene_find_node (adj_document_get_scene (document),
                                                adj_document_get_selected (document)));
  g_assert_cmpint (box->fold, ==, ADJ_FOLD_CLOSED);
  at = adj_camera_rect_to_widget (&view->camera, &box->rect);
  g_assert_cmpfloat (at.x + at.width, >, 0);
  g_assert_cmpfloat (at.y + at.height, >, 0);
  g_assert_cmpfloat (at.x, <, gtk_widget_get_width (GTK_WIDGET (view)));
  g_assert_cmpfloat (at.y, <, gtk_widget_get_height (GTK_WIDGET (view)));
  g_assert_null (view->highlight);
  adj_walk_close (window);
}

/* The same through the canvas menu, with the mouse: without a selection the node in the middle
 * stays too. */
static void
test_closes_all_by_mouse (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/sac.adjoint", "joint");
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *view = adj_window_get_view (window);
  AdjScene *before = adj_document_get_scene (document);
  int width = gtk_widget_get_width (GTK_WIDGET (view));
  int height = gtk_widget_get_height (GTK_WIDGET (view));
  GtkWidget *menu, *item;
  guint n_seen = 0;

  adj_mouse_focus (GTK_WIDGET (window));
  adj_mouse_move (GTK_WIDGET (view), 8, height - 70);
  adj_mouse_do ("click 3");
  UNTIL ((menu = adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_POPOVER_MENU)) != NULL);
  UNTIL ((item = adj_walk_find (menu, GTK_TYPE_LABEL, "Close All Modules")) != NULL &&
         gtk_widget_get_mapped (item));
  adj_walk_settle (window);
  adj_mouse_click (item, 6, 6);
  UNTIL (adj_document_get_scene (document) != before && !adj_document_is_busy (document));
  adj_walk_settle (window);
  for (guint i = 0; i < adj_scene_get_n_boxes (adj_document_get_scene (document)); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (adj_document_get_scene (document), i);
      AdjRect at = adj_camera_rect_to_widget (&view->camera, &box->rect);

      n_seen += box->fold == ADJ_FOLD_CLOSED && at.x + at.width > 0 && at.x < width &&
                at.y + at.height > 0 && at.y < height;
    }
  g_assert_cmpuint (n_seen, >=, 2);
  g_assert_null (view->highlight);
  adj_walk_close (window);
}

/* -- narrow -- */

static void
click_node (AdjWindow *window, const char *name)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *view = adj_window_get_view (window);
  const AdjScene *scene = adj_document_get_scene (document);
  AdjNodeId node = adj_graph_find_node (adj_document_get_graph (document)->graph, name);
  const AdjSceneBox *box = adj_scene_get_box (scene, adj_scene_find_node (scene, node));
  AdjRect at = adj_camera_rect_to_widget (&view->camera, &box->rect);

  adj_mouse_click (GTK_WIDGET (view), at.x + at.width / 2, at.y + at.height / 2);
  UNTIL (adj_document_get_selected (document).index == node.index);
}

static gboolean
is_clear (AdjWindow *window)
{
  AdjDocument *document = adj_window_get_document (window);
  AdjGraphView *view = adj_window_get_view (window);
  const AdjScene *scene = adj_document_get_scene (document);
  guint box = adj_scene_find_node (scene, adj_document_get_selected (document));
  AdjRect at = adj_camera_rect_to_widget (&view->camera, &adj_scene_get_box (scene, box)->rect);

  return adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_INSPECTOR) != NULL && at.x >= 0 &&
         at.y >= 0 && at.x + at.width <= gtk_widget_get_width (GTK_WIDGET (view)) &&
         is_clear_of (window, &at, ADJ_TYPE_INSPECTOR);
}

/* In a narrow window the inspector opens below the clicked node, and the next node can be
 * clicked meanwhile. */
static void
test_narrow (gconstpointer data)
{
  AdjWindow *window = adj_walk_open_window (application, GPOINTER_TO_INT (data), 740);
  AdjDocument *document = adj_window_get_document (window);
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");

  g_assert_true (adj_walk_open (window, path));
  g_assert_true (adj_walk_choose_graph (window, "joint"));
  adj_document_set_selected (document, ADJ_NO_NODE);
  adj_walk_settle (window);
  adj_mouse_focus (GTK_WIDGET (window));
  click_node (window, "tanh");
  UNTIL (is_clear (window));
  adj_walk_settle (window);
  g_assert_true (is_clear (window));
  click_node (window, "gelu");
  UNTIL (is_clear (window));
  g_assert_cmpint (gtk_widget_get_width (GTK_WIDGET (window)), <=, GPOINTER_TO_INT (data));
  adj_walk_close (window);
}

/* The panel stays closed until one of its pages, or the panel, is requested. */
static void
test_panel (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  GtkWidget *view = GTK_WIDGET (adj_window_get_view (window));

  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (view);
  g_assert_true (adj_walk_select (window, "tanh"));
  adj_walk_settle (window);
  g_assert_null (adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_NOTEBOOK));
  adj_mouse_do ("key ctrl+F10");
  UNTIL (adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_NOTEBOOK) != NULL);
  adj_mouse_do ("key ctrl+F10");
  UNTIL (adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_NOTEBOOK) == NULL);
  adj_mouse_do ("key Return");
  UNTIL (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_SOURCE_PAGE) != NULL);
  adj_walk_close (window);
}

/* The middle of a tall picture stays in view when the canvas gets lower and higher again. */
static void
test_panel_below (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  AdjGraphView *view = adj_window_get_view (window);
  AdjRect bounds = adj_scene_get_bounds (view->scene);
  AdjCamera before = { bounds.x, bounds.y + bounds.height / 2, 0.8f };
  float height = gtk_widget_get_height (GTK_WIDGET (view));

  adj_document_set_selected (adj_window_get_document (window), ADJ_NO_NODE);
  adj_walk_settle (window);
  adj_graph_view_set_camera (view, &before);
  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (GTK_WIDGET (view));
  adj_mouse_do ("key ctrl+F10");
  UNTIL (gtk_widget_get_height (GTK_WIDGET (view)) < height - 50);
  adj_walk_settle (window);
  g_assert_cmpfloat_with_epsilon (view->camera.y + gtk_widget_get_height (GTK_WIDGET (view)) /
                                                       2.0f / view->camera.zoom,
                                  before.y + height / 2 / before.zoom, 2);
  adj_mouse_do ("key ctrl+F10");
  UNTIL (gtk_widget_get_height (GTK_WIDGET (view)) > height - 2);
  adj_walk_settle (window);
  g_assert_cmpfloat_with_epsilon (view->camera.y, before.y, 2);
  adj_walk_close (window);
}

static gboolean
has_column (GtkWidget *table, const char *title)
{
  GListModel *columns = gtk_column_view_get_columns (GTK_COLUMN_VIEW (table));

  for (guint i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (columns, i);

      if (g_strcmp0 (gtk_column_view_column_get_title (column), title) == 0)
        return TRUE;
    }
  return FALSE;
}

/* Without a comparison there are no columns for its numbers; they appear with it. */
static void
test_columns (void)
{
  static const char *const pages[] = { "values", "run" };
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  AdjDocument *document = adj_window_get_document (window);

  adj_mouse_focus (GTK_WIDGET (window));
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    {
      GtkWidget *table;

      gtk_widget_grab_focus (GTK_WIDGET (adj_window_get_view (window)));
      adj_mouse_do ("key F5");
      UNTIL (adj_document_get_evaluation (document) != NULL &&
             adj_evaluation_get_comparison (adj_document_get_evaluation (document)) == NULL);
      adj_window_show_page (window, pages[i]);
      adj_walk_settle (window);
      table = adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_COLUMN_VIEW);
      g_assert_nonnull (table);
      g_assert_false (has_column (table, "Max abs"));
      g_assert_false (has_column (table, "Status"));
      gtk_widget_grab_focus (GTK_WIDGET (adj_window_get_view (window)));
      adj_mouse_do ("key shift+F5");
      UNTIL (has_column (table, "Max abs"));
      g_assert_true (has_column (table, "Status"));
    }
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  /* Runs first, because the state of the panel is saved. */
  g_test_add_data_func ("/clicks/narrow-360", GINT_TO_POINTER (360), test_narrow);
  g_test_add_data_func ("/clicks/narrow-500", GINT_TO_POINTER (500), test_narrow);
  g_test_add_data_func ("/clicks/narrow-700", GINT_TO_POINTER (700), test_narrow);
  g_test_add_func ("/clicks/panel-keeps-the-middle", test_panel_below);
  g_test_add_func ("/clicks/panel-when-needed", test_panel);
  g_test_add_func ("/clicks/no-columns-of-nothing", test_columns);
  g_test_add_func ("/clicks/tabs-over-their-whole-height", test_tabs);
  g_test_add_func ("/clicks/home-fits", test_home);
  g_test_add_func ("/clicks/open-menu", test_open_menu);
  g_test_add_func ("/clicks/what-is-selected-is-covered-by-nothing", test_covers);
  g_test_add_func ("/clicks/links-show-their-node", test_links);
  g_test_add_func ("/clicks/what-is-found-is-not-under-the-list", test_search_covers);
  g_test_add_func ("/clicks/close-all-stays", test_closes_all);
  g_test_add_func ("/clicks/close-all-by-mouse", test_closes_all_by_mouse);
  return g_test_run ();
}
