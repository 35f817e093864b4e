/* SPDX-License-Identifier: MIT */

/* Context menus: the selection they make, their items, and the effect of each. */

#include "ir/adj-graph.h"
#include "model/adj-stages.h"
#include "panel/adj-values-page.h"
#include "sidebar/adj-sidebar.h"
#include "stages/adj-changes-page.h"
#include "stages/adj-findings-page.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"
#include "window/window-menus.h"

static AdjApplication *application;

typedef struct
{
  AdjWindow *window;
  AdjDocument *document;
  AdjGraphView *view;
  GtkWidget *canvas;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  fixture->document = adj_window_get_document (fixture->window);
  fixture->view = adj_window_get_view (fixture->window);
  fixture->canvas = GTK_WIDGET (fixture->view);
  adj_document_set_selected (fixture->document, ADJ_NO_NODE);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  adj_walk_close (fixture->window);
}

static AdjNodeId
find (Fixture *fixture, const char *name)
{
  AdjNodeId id = adj_graph_find_node (adj_document_get_graph (fixture->document)->graph, name);

  g_assert_true (adj_node_id_is_valid (id));
  return id;
}

/* The middle of a scene rectangle in canvas coordinates. */
static AdjPoint
place (Fixture *fixture, const AdjRect *rect)
{
  AdjCamera camera = adj_graph_view_get_camera (fixture->view);
  AdjRect on = adj_camera_rect_to_widget (&camera, rect);

  return (AdjPoint){ on.x + on.width / 2, on.y + on.height / 2 };
}

static const AdjSceneBox *
box_of (Fixture *fixture, const char *name)
{
  AdjScene *scene = adj_document_get_scene (fixture->document);

  return adj_scene_get_box (scene, adj_scene_find_node (scene, find (fixture, name)));
}

static void
look_at (Fixture *fixture, const AdjRect *rect)
{
  AdjCamera camera = { rect->x - 300, rect->y - 200, 1 };

  adj_graph_view_set_camera (fixture->view, &camera);
  adj_walk_settle (fixture->window);
}

static GtkWidget *
ask_at (Fixture *fixture, const AdjRect *rect)
{
  AdjPoint at;

  look_at (fixture, rect);
  at = place (fixture, rect);
  return adj_walk_ask_menu (fixture->canvas, at.x, at.y);
}

static void
test_node (Fixture *fixture, gconstpointer data)
{
  GtkWidget *menu = ask_at (fixture, &box_of (fixture, "gelu")->rect);
  const AdjGraph *graph = adj_document_get_graph (fixture->document)->graph;
  const AdjNode *made;

  g_assert_nonnull (menu);
  g_assert_cmpuint (adj_document_get_selected (fixture->document).index, ==,
                    find (fixture, "gelu").index);
  g_assert_true (adj_walk_menu_offers (menu, "Source of the Node"));
  g_assert_true (adj_walk_menu_offers (menu, "Flow of the Node"));
  g_assert_true (adj_walk_menu_offers (menu, "Copy Names of Selected Nodes"));
  g_assert_false (adj_walk_menu_offers (menu, "Fit All"));
  adj_walk_choose_item (menu, "Counterpart in the Other Direction");
  g_assert_false (gtk_widget_get_mapped (menu));
  g_assert_cmpuint (adj_document_get_selected (fixture->document).index, ==,
                    find (fixture, "gelu_backward_1").index);
  /* The keyboard focus stays where the menu was requested. */
  g_assert_true (gtk_root_get_focus (GTK_ROOT (fixture->window)) == fixture->canvas);

  menu = ask_at (fixture, &box_of (fixture, "native_layer_norm")->rect);
  made = adj_graph_get_node (graph, find (fixture, "native_layer_norm").index);
  adj_walk_choose_item (menu, "Select Users");
  g_assert_cmpuint (made->n_users, >, 1);
  g_assert_cmpuint (adj_document_get_chosen (fixture->document)->len, ==, made->n_users);
}

/* Items that do not apply are disabled. */
static void
test_sensitive (Fixture *fixture, gconstpointer data)
{
  GtkWidget *menu;

  g_assert_true (adj_walk_select (fixture->window, "gelu"));
  g_assert_true (g_action_group_get_action_enabled (adj_graph_view_get_actions (fixture->view),
                                                    "counterpart"));
  menu = ask_at (fixture, &box_of (fixture, "primals_1")->rect);
  g_assert_nonnull (menu);
  g_assert_nonnull (adj_walk_find (menu, GTK_TYPE_LABEL, "Previous User, or the Value"));
  g_assert_false (adj_walk_menu_offers (menu, "Previous User, or the Value"));
}

/* A menu on one of several selected nodes keeps the selection. */
static void
test_several (Fixture *fixture, gconstpointer data)
{
  adj_document_set_selected (fixture->document, find (fixture, "addmm"));
  adj_document_choose_more (fixture->document, find (fixture, "gelu"), FALSE);
  ask_at (fixture, &box_of (fixture, "gelu")->rect);
  g_assert_cmpuint (adj_document_get_chosen (fixture->document)->len, ==, 2);
  ask_at (fixture, &box_of (fixture, "addmm_2")->rect);
  g_assert_null (adj_document_get_chosen (fixture->document));
}

static const AdjSceneBox *
find_module (Fixture *fixture, const char *path)
{
  AdjScene *scene = adj_document_get_scene (fixture->document);

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_GROUP && g_str_equal (box->path, path) &&
          box->side == ADJ_SIDE_FORWARD)
        return box;
    }
  g_assert_not_reached ();
}

static gboolean
is_closed (gpointer data)
{
  return find_module (data, "h.0.mlp")->fold == ADJ_FOLD_CLOSED;
}

static void
test_module (Fixture *fixture, gconstpointer data)
{
  AdjRect title = find_module (fixture, "h.0.mlp")->rect;
  GtkWidget *menu;
  guint n;

  /* The title of the frame; nothing else is at that height. */
  title = (AdjRect){ title.x + 20, title.y + 10, 40, 4 };
  menu = ask_at (fixture, &title);
  g_assert_true (adj_walk_menu_offers (menu, "Open or Close the Module"));
  n = adj_document_get_chosen (fixture->document)->len;
  g_assert_cmpuint (n, >=, 4);
  for (guint i = 0; i < n; i++)
    {
      AdjNodeId node = { g_array_index (adj_document_get_chosen (fixture->document), guint32, i) };
      AdjScene *scene = adj_document_get_scene (fixture->document);

      g_assert_cmpint (adj_scene_get_box (scene, adj_scene_find_node (scene, node))->side, ==,
                       ADJ_SIDE_FORWARD);
    }
  adj_walk_choose_item (menu, "Open or Close the Module");
  g_assert_true (adj_wait_until (is_closed, fixture, 30));
}

/* A bridge selects the saved value and its readers. */
static void
test_bridge (Fixture *fixture, gconstpointer data)
{
  AdjScene *scene = adj_document_get_scene (fixture->document);
  const AdjGraph *graph = adj_document_get_graph (fixture->document)->graph;
  guint n_forward = 0, n_backward = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    if (adj_scene_get_box (scene, i)->kind == ADJ_BOX_BRIDGE)
      {
        GtkWidget *menu = ask_at (fixture, &adj_scene_get_box (scene, i)->rect);
        GArray *chosen = adj_document_get_chosen (fixture->document);

        g_assert_true (adj_walk_menu_offers (menu, "Flow of the Node"));
        g_assert_nonnull (chosen);
        for (guint k = 0; k < chosen->len; k++)
          if (adj_graph_is_backward (graph, g_array_index (chosen, guint32, k)))
            n_backward++;
          else
            n_forward++;
        break;
      }
  g_assert_cmpuint (n_forward, >=, 1);
  g_assert_cmpuint (n_backward, >=, 1);
  g_assert_false (
      adj_graph_is_backward (graph, adj_document_get_selected (fixture->document).index));
}

static void
test_canvas (Fixture *fixture, gconstpointer data)
{
  GtkWidget *menu = adj_walk_ask_menu (fixture->canvas, 2, 2);

  g_assert_true (adj_walk_menu_offers (menu, "Fit All"));
  g_assert_true (adj_walk_menu_offers (menu, "Select All Nodes"));
  g_assert_false (adj_walk_menu_offers (menu, "Source of the Node"));
  g_assert_false (adj_node_id_is_valid (adj_document_get_selected (fixture->document)));
}

/* The position of the row with this label. */
static AdjPoint
row_of (GtkWidget *list, const char *label)
{
  GtkWidget *row = adj_walk_find (list, GTK_TYPE_LABEL, label);
  double x, y;

  g_assert_nonnull (row);
  gtk_widget_translate_coordinates (row, list, gtk_widget_get_width (row) / 2.0,
                                    gtk_widget_get_height (row) / 2.0, &x, &y);
  return (AdjPoint){ (float) x, (float) y };
}

static gboolean
shows_backward (gpointer data)
{
  const AdjBundleGraph *graph = adj_document_get_graph (((Fixture *) data)->document);

  return graph != NULL && g_str_equal (graph->role, "backward");
}

static void
test_rows (Fixture *fixture, gconstpointer data)
{
  GtkWidget *root = GTK_WIDGET (fixture->window);
  GtkWidget *sidebar = adj_walk_find_mapped (root, ADJ_TYPE_SIDEBAR);
  GtkWidget *graphs = adj_walk_find (sidebar, GTK_TYPE_LIST_BOX, NULL);
  GtkWidget *modules = adj_walk_find (sidebar, GTK_TYPE_LIST_VIEW, NULL);
  GtkWidget *table, *menu;
  AdjPoint at = row_of (modules, "h.0  Block");

  menu = adj_walk_ask_menu (modules, at.x, at.y);
  g_assert_true (adj_walk_menu_offers (menu, "Open or Close the Module"));
  g_assert_cmpuint (adj_document_get_chosen (fixture->document)->len, >, 40);

  g_assert_true (adj_walk_run (fixture->window, "win.run"));
  table =
      adj_walk_find (adj_walk_find_mapped (root, ADJ_TYPE_VALUES_PAGE), GTK_TYPE_COLUMN_VIEW, NULL);
  adj_document_set_selected (fixture->document, find (fixture, "gelu"));
  adj_walk_settle (fixture->window);
  at = row_of (table, "gelu");
  menu = adj_walk_ask_menu (table, at.x, at.y);
  g_assert_true (adj_walk_menu_offers (menu, "Counterpart in the Other Direction"));
  adj_walk_choose_item (menu, "Counterpart in the Other Direction");
  g_assert_cmpuint (adj_document_get_selected (fixture->document).index, ==,
                    find (fixture, "gelu_backward_1").index);

  at = row_of (graphs, "Backward");
  menu = adj_walk_ask_menu (graphs, at.x, at.y);
  adj_walk_choose_item (menu, "Show Graph");
  g_assert_true (adj_wait_until (shows_backward, fixture, 60));
}

/* -- rows of nodes -- */

/* Traces a forward graph with two equal calls, and shows the stage that merges them. */
static AdjWindow *
open_twice (const AdjTestFolder *folder)
{
  static const char text[] =
      "class Twice(torch.nn.Module):\n"
      "    def forward(self, primals_1: \"f32[2, 3]\"):\n"
      "        sin: \"f32[2, 3]\" = torch.ops.aten.sin.default(primals_1)\n"
      "        sin_1: \"f32[2, 3]\" = torch.ops.aten.sin.default(primals_1)\n"
      "        add: \"f32[2, 3]\" = torch.ops.aten.add.Tensor(sin, sin_1)\n"
      "        return (add,)\n";
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  g_autofree char *path = g_build_filename (folder->path, "twice.txt", NULL);
  AdjDocument *document;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_true (adj_walk_open (window, path));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.trace", NULL);
  document = adj_window_get_document (window);
  adj_wait_for (document);
  adj_stages_show (document,
                   (guint) adj_recording_find (adj_stages_get_recording (document), "cse"));
  adj_wait_for (document);
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", "changes");
  adj_walk_settle (window);
  return window;
}

static gboolean
shows_sin (gpointer document)
{
  AdjNodeId node = adj_document_get_selected (document);

  return adj_node_id_is_valid (node) &&
         g_str_equal (
             adj_graph_get_node (adj_document_get_graph (document)->graph, node.index)->name,
             "sin_1");
}

/* A node of the shown graph is selected; for a removed node the graph that contained it is
 * shown. */
static void
test_changes (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  AdjWindow *window = open_twice (folder);
  AdjDocument *document = adj_window_get_document (window);
  const AdjBundleGraph *shown = adj_document_get_graph (document);
  GtkWidget *page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_CHANGES_PAGE);
  GtkWidget *rows = adj_walk_find (page, GTK_TYPE_LIST_VIEW, NULL);
  AdjPoint at = row_of (rows, "add");
  GtkWidget *menu = adj_walk_ask_menu (rows, at.x, at.y);
  g_autofree char *names = NULL;

  g_assert_true (adj_walk_menu_offers (menu, "Copy Names of Selected Nodes"));
  g_assert_cmpuint (adj_document_get_selected (document).index, ==,
                    adj_graph_find_node (shown->graph, "add").index);
  gtk_popover_popdown (GTK_POPOVER (menu));

  at = row_of (rows, "sin_1");
  menu = adj_walk_ask_menu (rows, at.x, at.y);
  g_assert_false (adj_walk_menu_offers (menu, "Copy Names of Selected Nodes"));
  adj_walk_choose_item (menu, "Copy Names");
  names = adj_walk_read_clipboard (window);
  g_assert_cmpstr (names, ==, "sin_1");
  g_assert_true (adj_document_get_graph (document) == shown);
  menu = adj_walk_ask_menu (rows, at.x, at.y);
  adj_walk_choose_item (menu, "Show in Its Graph");
  g_assert_true (adj_wait_until (shows_sin, document, 60));
  g_assert_true (adj_document_get_graph (document) != shown);
  adj_walk_close (window);
}

static gboolean
has_row (gpointer page)
{
  return adj_walk_find (page, GTK_TYPE_LABEL, "2.0 to 2.6") != NULL;
}

static void
test_findings (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "aot", "errors", "overlap-written.txt", NULL);
  GtkWidget *page, *rows, *menu;
  AdjPoint at;

  g_assert_true (adj_walk_open (window, path));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-page", "s", "findings");
  page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_FINDINGS_PAGE);
  g_assert_true (adj_wait_until (has_row, page, 20));
  adj_walk_settle (window);
  rows = adj_walk_find (page, GTK_TYPE_LIST_VIEW, NULL);
  at = row_of (rows, "2.0 to 2.6");
  menu = adj_walk_ask_menu (rows, at.x, at.y);
  g_assert_true (adj_walk_menu_offers (menu, "Copy Names of Selected Nodes"));
  g_assert_cmpuint (adj_document_get_chosen (adj_window_get_document (window))->len, ==, 2);
  gtk_popover_popdown (GTK_POPOVER (menu));
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add ("/ui/menus/node", Fixture, NULL, set_up, test_node, tear_down);
  g_test_add ("/ui/menus/sensitive", Fixture, NULL, set_up, test_sensitive, tear_down);
  g_test_add ("/ui/menus/several", Fixture, NULL, set_up, test_several, tear_down);
  g_test_add ("/ui/menus/module", Fixture, NULL, set_up, test_module, tear_down);
  g_test_add ("/ui/menus/bridge", Fixture, NULL, set_up, test_bridge, tear_down);
  g_test_add ("/ui/menus/canvas", Fixture, NULL, set_up, test_canvas, tear_down);
  g_test_add ("/ui/menus/rows", Fixture, NULL, set_up, test_rows, tear_down);
  g_test_add_func ("/ui/menus/changes", test_changes);
  g_test_add_func ("/ui/menus/findings", test_findings);
  return g_test_run ();
}
