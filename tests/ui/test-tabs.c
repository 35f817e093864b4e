/* SPDX-License-Identifier: MIT */

/* Several documents in one window: independent tabs. */

#include <gio/gio.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "model/adj-saved-view.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

static AdwTabView *
get_tabs (AdjWindow *window)
{
  return ADW_TAB_VIEW (adj_walk_find (GTK_WIDGET (window), ADW_TYPE_TAB_VIEW, NULL));
}

static void
test_keeps_apart (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *mlp = adj_test_data_path ("graphs/mlp.adjoint");
  g_autofree char *lstm = adj_test_data_path ("graphs/lstm.adjoint");
  AdjDocument *first, *second;

  /* The first file uses the empty tab, the second one a new tab. */
  g_assert_true (adj_walk_open (window, mlp));
  first = adj_window_get_document (window);
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (window)), ==, 1);
  g_assert_true (adj_walk_open (window, lstm));
  second = adj_window_get_document (window);
  g_assert_true (first != second);
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (window)), ==, 2);

  adj_document_set_selected (second, (AdjNodeId){ 4 });
  g_assert_false (adj_node_id_is_valid (adj_document_get_selected (first)));
  adw_tab_view_select_previous_page (get_tabs (window));
  g_assert_true (adj_window_get_document (window) == first);
  g_assert_true (g_str_has_prefix (gtk_window_get_title (GTK_WINDOW (window)), "mlp.adjoint"));
  g_assert_false (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "fit-selection"));

  /* A file that is already open is shown, not opened again. */
  g_assert_true (adj_walk_open (window, lstm));
  g_assert_true (adj_window_get_document (window) == second);
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (window)), ==, 2);
  adj_walk_close (window);
}

static void
test_hides_parts_of_one (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *mlp = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (GVariant) shown = NULL;

  g_assert_true (adj_walk_open (window, mlp));
  g_action_group_activate_action (G_ACTION_GROUP (window), "show-sidebar", NULL);
  shown = g_action_group_get_action_state (G_ACTION_GROUP (window), "show-sidebar");
  g_assert_false (g_variant_get_boolean (shown));
  g_action_group_activate_action (G_ACTION_GROUP (window), "new-tab", NULL);
  g_clear_pointer (&shown, g_variant_unref);
  shown = g_action_group_get_action_state (G_ACTION_GROUP (window), "show-sidebar");
  g_assert_true (g_variant_get_boolean (shown));
  adj_walk_close (window);
}

/* A file that is closed and opened again has its former view. */
static gboolean
is_saved (gpointer path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (AdjSavedView) saved = adj_saved_view_load (file);

  return saved != NULL && g_strcmp0 (saved->selected, "gelu") == 0;
}

static void
test_comes_back (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *mlp = adj_test_data_path ("graphs/mlp.adjoint");
  AdjDocument *document;
  AdjCamera camera, again;

  g_assert_true (adj_walk_open (window, mlp));
  g_assert_true (adj_walk_choose_graph (window, "forward"));
  adj_walk_settle (window);
  adj_document_set_coloring (adj_window_get_document (window), ADJ_COLOR_BY_BYTES);
  g_assert_true (adj_walk_select (window, "gelu"));
  /* Changes after the view was saved are saved too. */
  g_assert_true (adj_wait_until (is_saved, mlp, 60));
  camera = (AdjCamera){ 11, 22, 0.75f };
  adj_graph_view_set_camera (adj_window_get_view (window), &camera);
  camera = adj_graph_view_get_camera (adj_window_get_view (window));
  adj_walk_close (window);

  window = adj_walk_open_window (application, 1280, 800);
  g_assert_true (adj_walk_open (window, mlp));
  adj_walk_settle (window);
  document = adj_window_get_document (window);
  g_assert_cmpstr (adj_document_get_graph (document)->role, ==, "forward");
  g_assert_cmpint (adj_document_get_arrangement (document)->coloring, ==, ADJ_COLOR_BY_BYTES);
  g_assert_cmpstr (adj_graph_get_node (adj_document_get_graph (document)->graph,
                                       adj_document_get_selected (document).index)
                       ->name,
                   ==, "gelu");
  again = adj_graph_view_get_camera (adj_window_get_view (window));
  g_assert_cmpfloat (again.x, ==, camera.x);
  g_assert_cmpfloat (again.y, ==, camera.y);
  g_assert_cmpfloat (again.zoom, ==, camera.zoom);
  adj_walk_close (window);
}

static void
on_gone (gpointer gone, GObject *where)
{
  *(gboolean *) gone = TRUE;
}

static void
test_closes (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *mlp = adj_test_data_path ("graphs/mlp.adjoint");
  gboolean document_gone = FALSE;

  g_assert_true (adj_walk_open (window, mlp));
  g_object_weak_ref (G_OBJECT (adj_window_get_document (window)), on_gone, &document_gone);
  g_action_group_activate_action (G_ACTION_GROUP (window), "new-tab", NULL);
  adj_walk_settle (window);
  adw_tab_view_select_previous_page (get_tabs (window));
  g_action_group_activate_action (G_ACTION_GROUP (window), "run", NULL);
  g_action_group_activate_action (G_ACTION_GROUP (window), "close-tab", NULL);
  for (guint i = 0; i < 50 && !document_gone; i++)
    adj_walk_settle (window);
  g_assert_true (document_gone);
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (window)), ==, 1);
  g_assert_cmpstr (gtk_window_get_title (GTK_WINDOW (window)), ==, "Adjoint");
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/tabs/keeps-apart", test_keeps_apart);
  g_test_add_func ("/ui/tabs/hides-parts-of-one", test_hides_parts_of_one);
  g_test_add_func ("/ui/tabs/comes-back", test_comes_back);
  g_test_add_func ("/ui/tabs/closes", test_closes);
  return g_test_run ();
}
