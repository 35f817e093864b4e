/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

#include "canvas/adj-graph-view.h"
#include "model/adj-document.h"

G_BEGIN_DECLS

/* A window of documents in tabs; commands apply to the document of the current tab. */
#define ADJ_TYPE_WINDOW (adj_window_get_type ())
G_DECLARE_FINAL_TYPE (AdjWindow, adj_window, ADJ, WINDOW, AdwApplicationWindow)

GtkWidget *adj_window_new (AdwApplication *application);

/* "FILE" or "FILE#ID", or a link as in adj-link.h; FILE may be a folder.  Opens it in the tab that
 * has it, in a free tab, or in a new one. */
void adj_window_open (AdjWindow *self, GFile *file);
/* Opens the text of the clipboard: graphs, or a link. */
void adj_window_paste (AdjWindow *self);
void adj_window_new_tab (AdjWindow *self);
void adj_window_close_tab (AdjWindow *self);
AdjDocument *adj_window_get_document (AdjWindow *self); /* (transfer none) */
AdjGraphView *adj_window_get_view (AdjWindow *self);    /* (transfer none) */

/* "source", "values", "text" or "log"; opens the bottom panel. */
void adj_window_show_page (AdjWindow *self, const char *name);
void adj_window_focus_panel (AdjWindow *self);
/* Shows @chooser, one at a time; @chosen is called when a file was chosen. */
void adj_window_choose (AdjWindow *self,
                        GtkFileChooserNative *chooser,
                        void (*chosen) (AdjWindow *self, GFile *file));
/* Opens the files that were open when the last window closed. */
void adj_window_reopen (AdjWindow *self);
/* Compares the shown graph with graph @id of the document in tab @tab, from 0. */
void adj_window_compare_with (AdjWindow *self, guint tab, const char *id);
/* Shows the graph @id of the @tab-th tab beside the one of the chosen tab. */
void adj_window_lay_beside (AdjWindow *self, guint tab, const char *id);
/* Opens the palette of commands, graphs, modules and nodes. */
void adj_window_open_palette (AdjWindow *self);
void adj_window_show_shortcuts (AdjWindow *self);
void adj_window_show_preferences (AdjWindow *self);
void adj_window_find (AdjWindow *self);
void adj_window_find_step (AdjWindow *self, gint step);
/* Copies @text to the clipboard, and says so in a toast. */
void adj_window_copy (AdjWindow *self, const char *text);
/* Copies the text of the last problem, for bug reports. */
void adj_window_copy_details (AdjWindow *self);

G_END_DECLS
