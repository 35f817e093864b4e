/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/adj-walk.h"

G_BEGIN_DECLS

/* Mouse and keyboard driven through the X server (xdotool), so that events arrive as from real
 * devices. */

/* Like adj_walk_begin(); (nullable): %NULL: skip, there is no X server or no xdotool. */
AdjApplication *adj_mouse_begin (int *argc, char ***argv);

/* Moves the pointer to a position in @widget. */
void adj_mouse_move (GtkWidget *widget, double x, double y);
/* Runs an xdotool command at the pointer: "mousedown 1", "click --repeat 2 1 keyup ctrl". */
void adj_mouse_do (const char *command);
/* Runs the main loop until @condition holds; fails the test after a timeout that is long enough
 * for a busy machine. */
#define ADJ_MOUSE_UNTIL(condition)                                                                 \
  G_STMT_START                                                                                     \
  {                                                                                                \
    for (gint64 end = g_get_monotonic_time () + ADJ_WAIT_SECONDS * G_TIME_SPAN_SECOND;             \
         !(condition) && g_get_monotonic_time () < end;)                                           \
      if (!g_main_context_iteration (NULL, FALSE))                                                 \
        g_usleep (2000);                                                                           \
    g_assert_true (condition);                                                                     \
  }                                                                                                \
  G_STMT_END

/* Like adj_mouse_do(), while the main loop runs, so that the timing of @command reaches the
 * window. */
void adj_mouse_do_live (const char *command);
/* Sends keys to @window, because tests run without a window manager. */
void adj_mouse_focus (GtkWidget *window);
/* Moves the pointer to a position and clicks the left button. */
void adj_mouse_click (GtkWidget *widget, double x, double y);

G_END_DECLS
