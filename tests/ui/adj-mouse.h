/* SPDX-License-Identifier: MIT */
#pragma once

#include "ui/adj-walk.h"

G_BEGIN_DECLS

/* The mouse, moved by the X server's own means (xdotool): what arrives is what a hand would send.
 */

/* As adj_walk_begin(); (nullable): skipped, there is no X server or no xdotool. */
AdjApplication *adj_mouse_begin (int *argc, char ***argv);

/* To a place in @widget. */
void adj_mouse_move (GtkWidget *widget, double x, double y);
/* A command of xdotool where the pointer is: "mousedown 1", "click --repeat 2 1 keyup ctrl". */
void adj_mouse_do (const char *command);
/* Runs the main loop until it holds, and fails when it never does: on a machine that is busy all
 * takes long. */
#define ADJ_MOUSE_UNTIL(condition)                                                                 \
  G_STMT_START                                                                                     \
  {                                                                                                \
    for (gint64 end = g_get_monotonic_time () + 60 * G_TIME_SPAN_SECOND;                           \
         !(condition) && g_get_monotonic_time () < end;)                                           \
      if (!g_main_context_iteration (NULL, FALSE))                                                 \
        g_usleep (2000);                                                                           \
    g_assert_true (condition);                                                                     \
  }                                                                                                \
  G_STMT_END

/* Does the same while the window goes on: what @command does in time reaches it in time. */
void adj_mouse_do_live (const char *command);
/* Keys go to @window: nobody manages windows in a test. */
void adj_mouse_focus (GtkWidget *window);
/* Goes there and presses and releases the left button. */
void adj_mouse_click (GtkWidget *widget, double x, double y);

G_END_DECLS
