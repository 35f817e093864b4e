/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/adj-wait.h"
#include "window/adj-application.h"
#include "window/adj-window.h"

G_BEGIN_DECLS

/* Drives a real window from inside the process, for tests and screenshots. */

/* Initializes GTK and libadwaita without animations; %FALSE: there is no display. */
gboolean adj_walk_init (void);
/* (nullable): for main() of a test: initializes GLib's tests and the above, and returns the
 * single application of all windows, because a second one would claim the same bus name.  %NULL:
 * skip, there is no display. */
AdjApplication *adj_walk_begin (int *argc, char ***argv);

/* Opens a window without an application loop. */
AdjWindow *adj_walk_open_window (AdjApplication *application, int width, int height);
/* Destroys the window and waits until its threads have ended. */
void adj_walk_close (AdjWindow *window);
/* Runs the main loop until layout and painting are finished. */
void adj_walk_settle (AdjWindow *window);
/* Opens a file and waits for the picture or the error. */
gboolean adj_walk_open (AdjWindow *window, const char *path);
/* Chooses the graph with this role ("joint") and waits for its picture. */
gboolean adj_walk_choose_graph (AdjWindow *window, const char *role);
/* Opens a window on the graph with this role in a file below data/. */
AdjWindow *adj_walk_open_graph (AdjApplication *application, const char *name, const char *role);
gboolean adj_walk_select (AdjWindow *window, const char *node);
/* Activates an action and waits until the run has ended. */
gboolean adj_walk_run (AdjWindow *window, const char *action);
/* Returns the first widget of @type below @root with the label @label (%NULL: any). */
GtkWidget *adj_walk_find (GtkWidget *root, GType type, const char *label);
/* Like adj_walk_find() for mapped widgets, such as those of the chosen tab. */
GtkWidget *adj_walk_find_mapped (GtkWidget *root, GType type);
/* Returns the preferences row with this title. */
GtkWidget *adj_walk_find_row (GtkWidget *root, const char *title);
/* Clicks the button with this label. */
void adj_walk_click (GtkWidget *root, const char *label);
/* Clicks with the right button and returns the menu that opens.  (nullable) */
GtkWidget *adj_walk_ask_menu (GtkWidget *widget, double x, double y);
/* Whether @menu has an enabled item with this label. */
gboolean adj_walk_menu_offers (GtkWidget *menu, const char *label);
/* Activates the item with this label, which closes the menu. */
void adj_walk_choose_item (GtkWidget *menu, const char *label);
/* (transfer full): the text of the clipboard. */
char *adj_walk_read_clipboard (AdjWindow *window);
/* (nullable): the window with this title. */
GtkWidget *adj_walk_find_window (const char *title);
/* Writes a picture of a window and its popovers at the scale of the display. */
void adj_walk_shoot (GtkWidget *window, const char *path);
/* Settles and writes @name.png to the folder in ADJ_SHOTS, if set. */
void adj_walk_keep (AdjWindow *window, const char *name);

G_END_DECLS
