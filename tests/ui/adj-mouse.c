/* SPDX-License-Identifier: MIT */
/* A mouse for tests, driven through the X server. */

#include "ui/adj-mouse.h"

#include <gdk/x11/gdkx.h>

AdjApplication *
adj_mouse_begin (int *argc, char ***argv)
{
  AdjApplication *application = adj_walk_begin (argc, argv);
  g_autofree char *xdotool = g_find_program_in_path ("xdotool");

  if (application == NULL || (xdotool != NULL && GDK_IS_X11_DISPLAY (gdk_display_get_default ())))
    return application;
  g_test_skip ("there is no X server, or no xdotool");
  return NULL;
}

void
adj_mouse_do (const char *command)
{
  g_autofree char *line = g_strdup_printf ("xdotool %s", command);
  g_autoptr (GError) error = NULL;
  int status;

  g_spawn_command_line_sync (line, NULL, NULL, &status, &error);
  g_assert_no_error (error);
  g_spawn_check_wait_status (status, &error);
  g_assert_no_error (error);
}

static void
on_done (GPid pid, int status, gpointer done)
{
  g_assert_cmpint (status, ==, 0);
  g_spawn_close_pid (pid);
  *(gboolean *) done = TRUE;
}

void
adj_mouse_do_live (const char *command)
{
  g_autofree char *line = g_strdup_printf ("xdotool %s", command);
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  g_autoptr (GError) error = NULL;
  gboolean done = FALSE;
  GPid pid;

  g_spawn_async (NULL, words, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                 &pid, &error);
  g_assert_no_error (error);
  g_child_watch_add (pid, on_done, &done);
  ADJ_MOUSE_UNTIL (done);
}

void
adj_mouse_move (GtkWidget *widget, double x, double y)
{
  GtkNative *native = gtk_widget_get_native (widget);
  GdkSurface *surface = gtk_native_get_surface (native);
  double dx, dy, scale = gdk_surface_get_scale_factor (surface);
  g_autofree char *command = NULL;

  g_assert_true (gtk_widget_translate_coordinates (widget, GTK_WIDGET (native), x, y, &x, &y));
  gtk_native_get_surface_transform (native, &dx, &dy);
  command = g_strdup_printf ("mousemove --window %lu %.0f %.0f", gdk_x11_surface_get_xid (surface),
                             (x + dx) * scale, (y + dy) * scale);
  adj_mouse_do (command);
}

void
adj_mouse_focus (GtkWidget *window)
{
  GdkSurface *surface = gtk_native_get_surface (GTK_NATIVE (window));
  g_autofree char *command =
      g_strdup_printf ("windowfocus --sync %lu", gdk_x11_surface_get_xid (surface));

  adj_mouse_do (command);
  ADJ_MOUSE_UNTIL (gtk_window_is_active (GTK_WINDOW (window)));
}

void
adj_mouse_click (GtkWidget *widget, double x, double y)
{
  adj_mouse_move (widget, x, y);
  adj_mouse_do ("click 1");
}
