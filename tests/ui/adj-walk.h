/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/adj-wait.h"
#include "window/adj-application.h"
#include "window/adj-window.h"

G_BEGIN_DECLS

/* Driving a real window from inside the process, for tests and for screenshots. */

/* Whether there is a display; initialises GTK and libadwaita, animations off. */
gboolean adj_walk_init (void);
/* For the main() of a test: GLib's tests and the above.  The one application of all windows: a
 * second one would ask for the same place on the bus.  (nullable): skipped, there is no display */
AdjApplication *adj_walk_begin (int *argc, char ***argv);

/* A window on the screen, without an application loop. */
AdjWindow *adj_walk_open_window (AdjApplication *application, int width, int height);
/* Destroys it, and waits for what its threads still do. */
void adj_walk_close (AdjWindow *window);
/* Until nothing is left to lay out or paint. */
void adj_walk_settle (AdjWindow *window);
/* Opens and waits for the picture or the error. */
gboolean adj_walk_open (AdjWindow *window, const char *path);
/* Chooses the graph of that role ("joint") and waits for its picture. */
gboolean adj_walk_choose_graph (AdjWindow *window, const char *role);
/* A window on the graph of that role in a file below data/. */
AdjWindow *adj_walk_open_graph (AdjApplication *application, const char *name, const char *role);
gboolean adj_walk_select (AdjWindow *window, const char *node);
/* Activates an action and waits until the run is over. */
gboolean adj_walk_run (AdjWindow *window, const char *action);
/* The first widget of @type below @root whose label is @label (%NULL: any). */
GtkWidget *adj_walk_find (GtkWidget *root, GType type, const char *label);
/* The first one that is on the screen: of the chosen tab. */
GtkWidget *adj_walk_find_mapped (GtkWidget *root, GType type);
/* The row of a preferences group of that title. */
GtkWidget *adj_walk_find_row (GtkWidget *root, const char *title);
/* Presses the button that says so. */
void adj_walk_click (GtkWidget *root, const char *label);
/* A right click there; the menu that it opens.  (nullable) */
GtkWidget *adj_walk_ask_menu (GtkWidget *widget, double x, double y);
/* Whether @menu has an item of that label that can be activated now. */
gboolean adj_walk_menu_offers (GtkWidget *menu, const char *label);
/* Activates it, which closes the menu. */
void adj_walk_choose_item (GtkWidget *menu, const char *label);
/* What was copied.  (transfer full) */
char *adj_walk_read_clipboard (AdjWindow *window);
/* The window of that title.  (nullable) */
GtkWidget *adj_walk_find_window (const char *title);
/* Writes what a window and its popovers show, at the scale of the display. */
void adj_walk_shoot (GtkWidget *window, const char *path);
/* Settles, and writes @name.png into the folder that ADJ_SHOTS names; without it none. */
void adj_walk_keep (AdjWindow *window, const char *name);

G_END_DECLS
