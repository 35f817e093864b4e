/* SPDX-License-Identifier: MIT */

/* The saved bytes of a plan are the same number on the partitions page, and in title, picture
 * and modules once the plan is opened from there. */

#include <string.h>

#include "model/adj-module-item.h"
#include "report/adj-properties.h"
#include "stages/adj-pareto-page.h"
#include "support/adj-test.h"
#include "ui/adj-mouse.h"

#define UNTIL ADJ_MOUSE_UNTIL

static AdjApplication *application;

static const char *
get_subtitle (AdjWindow *window)
{
  GtkWidget *title = adj_walk_find (GTK_WIDGET (window), ADW_TYPE_WINDOW_TITLE, NULL);

  return adw_window_title_get_subtitle (ADW_WINDOW_TITLE (title));
}

static gint64
sum_modules (AdjDocument *document)
{
  g_autoptr (GListModel) items =
      adj_module_tree_new (adj_document_get_graph (document)->graph, NULL);
  gint64 sum = 0;

  for (guint i = 0; i < g_list_model_get_n_items (items); i++)
    {
      g_autoptr (AdjModuleItem) item = g_list_model_get_item (items, i);

      sum += adj_module_item_get_saved_bytes (item);
    }
  return sum;
}

static gboolean
has_header (const AdjScene *scene, const char *saved)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_HEADER && g_str_has_prefix (box->subtitle, saved))
        return TRUE;
    }
  return FALSE;
}

/* Expects title, picture and modules to show @saved. */
static void
assert_saved (AdjWindow *window, const char *saved)
{
  AdjDocument *document = adj_window_get_document (window);
  g_autofree char *of_scene =
      adj_properties_bytes (adj_scene_get_saved_bytes (adj_document_get_scene (document)));
  g_autofree char *of_modules = adj_properties_bytes (sum_modules (document));
  g_autofree char *told = g_strdup_printf (" %s of forward saved for backward", saved);

  g_assert_nonnull (strstr (get_subtitle (window), told));
  g_assert_true (has_header (adj_document_get_scene (document), saved));
  g_assert_cmpstr (of_scene, ==, saved);
  g_assert_cmpstr (of_modules, ==, saved);
}

static GtkWidget *
find_in_plans (AdjWindow *window, const char *text)
{
  GtkWidget *page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_PARETO_PAGE);

  return page != NULL ? adj_walk_find (page, GTK_TYPE_LABEL, text) : NULL;
}

/* Whether the row of the page that contains @label also contains @text. */
static gboolean
is_beside (GtkWidget *label, const char *text)
{
  GtkWidget *row = label;

  while (g_strcmp0 (gtk_widget_get_css_name (row), "row") != 0)
    row = gtk_widget_get_parent (row);
  return adj_walk_find (row, GTK_TYPE_LABEL, text) != NULL;
}

static void
click_tab (AdjWindow *window, const char *title)
{
  GtkWidget *panel, *label;

  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_grab_focus (GTK_WIDGET (adj_window_get_view (window)));
  adj_mouse_do ("key ctrl+F10");
  UNTIL ((panel = adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_NOTEBOOK)) != NULL);
  adj_walk_settle (window);
  label = adj_walk_find (panel, GTK_TYPE_LABEL, title);
  adj_mouse_click (label, 6, 4);
}

static void
test_plans (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/sac.adjoint", "forward+backward");
  AdjDocument *first = adj_window_get_document (window);
  GtkWidget *other;

  assert_saved (window, "23.5 KiB");
  click_tab (window, "Partitions");
  UNTIL (find_in_plans (window, "shown") != NULL);
  adj_walk_settle (window);
  g_assert_true (is_beside (find_in_plans (window, "shown"), "23.5 KiB"));

  other = find_in_plans (window, "22.5 KiB");
  g_assert_nonnull (other);
  adj_mouse_move (other, 8, 6);
  adj_mouse_do ("click --repeat 2 --delay 60 1");
  UNTIL (adj_window_get_document (window) != first &&
         adj_document_get_scene (adj_window_get_document (window)) != NULL &&
         !adj_document_is_busy (adj_window_get_document (window)));
  adj_walk_settle (window);
  assert_saved (window, "22.5 KiB");
  adj_walk_keep (window, "one-number");
  adj_walk_close (window);
}

/* A graph without a backward shows no saved bytes. */
static void
test_captured (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/sac.adjoint", "dynamo");

  g_assert_null (adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, "nodes · saved"));
  adj_walk_choose_graph (window, "joint");
  adj_walk_settle (window);
  g_assert_nonnull (adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, "nodes · read"));
  adj_walk_choose_graph (window, "forward+backward");
  adj_walk_settle (window);
  g_assert_nonnull (adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, "nodes · saved"));
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/one-number/plans", test_plans);
  g_test_add_func ("/one-number/captured", test_captured);
  return g_test_run ();
}
