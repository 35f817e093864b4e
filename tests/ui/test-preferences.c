/* SPDX-License-Identifier: MIT */

/* Each preference has the documented effect. */

#include <gio/gio.h>

#include "support/adj-test.h"
#include "ui/adj-walk.h"
#include "window/adj-preferences.h"
#include "window/adj-settings.h"

static AdjApplication *application;
static GSettings *settings;

static AdjWindow *
open_window (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");

  g_assert_true (adj_walk_open (window, path));
  adj_walk_settle (window);
  return window;
}

static AdjLayoutView
get_view (AdjWindow *window)
{
  return adj_document_get_arrangement (adj_window_get_document (window))->view;
}

static void
choose (GtkWidget *preferences, const char *title, guint index)
{
  adw_combo_row_set_selected (ADW_COMBO_ROW (adj_walk_find_row (preferences, title)), index);
}

/* A choice in the window takes effect at once. */
static void
test_style (void)
{
  AdjWindow *window = open_window ();
  GtkWidget *preferences;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.preferences", NULL);
  adj_walk_settle (window);
  preferences = adj_walk_find_window ("Preferences");
  g_assert_nonnull (preferences);
  choose (preferences, "Style", 2);
  g_assert_true (adw_style_manager_get_dark (adw_style_manager_get_default ()));
  choose (preferences, "Style", 1);
  g_assert_false (adw_style_manager_get_dark (adw_style_manager_get_default ()));
  choose (preferences, "First View", 1);
  gtk_window_destroy (GTK_WINDOW (preferences));
  {
    g_autofree char *style = g_settings_get_string (settings, "style");
    g_autofree char *view = g_settings_get_string (settings, "first-view");

    g_assert_cmpstr (style, ==, "light");
    g_assert_cmpstr (view, ==, "stacked");
  }
  g_settings_reset (settings, "style");
  g_settings_reset (settings, "first-view");
  adj_walk_close (window);
}

static void
test_views (void)
{
  AdjWindow *window;

  /* Views are not restored: each opening is like the first. */
  g_settings_set_boolean (settings, "restore-views", FALSE);
  g_settings_set_string (settings, "first-view", "stacked");
  window = open_window ();
  g_assert_cmpint (get_view (window), ==, ADJ_VIEW_STACKED);
  gtk_widget_activate_action (GTK_WIDGET (window), "win.view", "s", "mirror");
  g_assert_cmpint (get_view (window), ==, ADJ_VIEW_MIRROR);
  adj_walk_close (window);
  window = open_window ();
  g_assert_cmpint (get_view (window), ==, ADJ_VIEW_STACKED);
  adj_walk_close (window);

  g_settings_set_boolean (settings, "restore-views", TRUE);
  window = open_window ();
  gtk_widget_activate_action (GTK_WIDGET (window), "win.view", "s", "mirror");
  adj_walk_close (window);
  window = open_window ();
  g_assert_cmpint (get_view (window), ==, ADJ_VIEW_MIRROR);
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  int result;

  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  settings = adj_settings_new ();
  g_assert_nonnull (settings);
  g_test_add_func ("/ui/preferences/style", test_style);
  g_test_add_func ("/ui/preferences/views", test_views);
  result = g_test_run ();
  g_object_unref (settings);
  return result;
}
