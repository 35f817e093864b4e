/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The mouse, moved by the X server's own means (xdotool): what arrives is what a hand would send.
 */

/* Whether there is an X server and xdotool. */
gboolean adj_mouse_init (void);

/* To a place in @widget. */
void adj_mouse_move (GtkWidget *widget, double x, double y);
/* A command of xdotool where the pointer is: "mousedown 1", "click --repeat 2 1 keyup ctrl". */
void adj_mouse_do (const char *command);
/* Goes there and presses and releases the left button. */
void adj_mouse_click (GtkWidget *widget, double x, double y);

G_END_DECLS
