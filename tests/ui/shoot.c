/* SPDX-License-Identifier: MIT */

/* A scripted walk through the real window that writes a picture of each stop. */

#include <glib/gstdio.h>
#include <stdlib.h>

#include "ui/adj-planted.h"
#include "ui/adj-walk.h"

static const char *out, *suffix;

static void
shoot (AdjWindow *window, const char *name)
{
  g_autofree char *file = g_strdup_printf ("%s-%s.png", name, suffix);
  g_autofree char *path = g_build_filename (out, file, NULL);

  adj_walk_settle (window);
  adj_walk_shoot (window, path);
  g_print ("%s\n", path);
}

static void
zoom_to_selection (AdjWindow *window)
{
  gtk_widget_activate_action (GTK_WIDGET (window), "win.fit-selection", NULL);
  adj_walk_settle (window);
}

static void
show_graph (AdjWindow *window, const char *file)
{
  if (!adj_walk_open (window, file) || !adj_walk_choose_graph (window, "joint"))
    {
      const GError *error = adj_document_get_error (adj_window_get_document (window));

      g_printerr ("%s: %s\n", file, error != NULL ? error->message : "no picture in time");
      exit (1);
    }
  adj_walk_settle (window);
}

static void
show_damaged (AdjWindow *window, const char *file)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "damaged.adjoint", NULL);
  g_autofree char *contents = NULL;
  gsize length;

  if (g_file_get_contents (file, &contents, &length, NULL) &&
      g_file_set_contents (path, contents, (gssize) (length / 2), NULL))
    adj_walk_open (window, path);
  g_remove (path);
}

/* A file in which one argument was changed after PyTorch ran it. */
static void
show_difference (AdjWindow *window, const char *file)
{
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "planted.adjoint", NULL);

  adj_planted_write (file, path, "0-0-joint", "approximate = 'tanh'", "approximate = 'none'");
  gtk_widget_activate_action (GTK_WIDGET (window), "win.unfold-all", NULL);
  show_graph (window, path);
  adj_walk_run (window, "win.compare");
  zoom_to_selection (window);
  g_remove (path);
}

int
main (int argc, char *argv[])
{
  g_autoptr (AdjApplication) application = NULL;
  AdjWindow *window;
  gboolean dark;

  if (argc != 6 || !adj_walk_init ())
    {
      g_printerr ("usage: shoot GRAPH FOLDER light|dark SUFFIX NODE, with a display\n");
      return 2;
    }
  out = argv[2];
  g_mkdir_with_parents (out, 0755);
  suffix = argv[4];
  dark = g_str_equal (argv[3], "dark");
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (),
                                      dark ? ADW_COLOR_SCHEME_FORCE_DARK
                                           : ADW_COLOR_SCHEME_FORCE_LIGHT);
  application = adj_application_new (G_APPLICATION_NON_UNIQUE);
  g_application_register (G_APPLICATION (application), NULL, NULL);

  window = adj_walk_open_window (application, 1440, 900);
  shoot (window, "start");
  show_graph (window, argv[1]);
  shoot (window, "joint");
  gtk_widget_activate_action (GTK_WIDGET (window), "win.fit", NULL);
  shoot (window, "overview");
  adj_walk_select (window, argv[5]);
  zoom_to_selection (window);
  shoot (window, "node");
  adj_window_show_page (window, "text");
  shoot (window, "text");
  adj_walk_run (window, "win.compare");
  shoot (window, "compared");
  gtk_widget_activate_action (GTK_WIDGET (window), "win.fold-all", NULL);
  adj_walk_settle (window);
  gtk_widget_activate_action (GTK_WIDGET (window), "win.fit", NULL);
  adj_window_show_page (window, "log");
  shoot (window, "folded");
  if (g_str_has_suffix (argv[1], "gpt2.adjoint"))
    {
      show_difference (window, argv[1]);
      shoot (window, "difference");
    }
  show_damaged (window, argv[1]);
  shoot (window, "problem");

  gtk_window_destroy (GTK_WINDOW (window));
  return 0;
}
