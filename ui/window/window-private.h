/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/adj-document-page.h"
#include "window/adj-command-palette.h"
#include "window/adj-search-bar.h"
#include "window/adj-window.h"

G_BEGIN_DECLS

#define ADJ_UNSAVED_SIGN "• " /* before a title */

struct _AdjWindow
{
  AdwApplicationWindow parent_instance;

  GSettings *settings;           /* (owned) (nullable) */
  AdjDocument *document;         /* (owned) (nullable): of the current tab */
  GSignalGroup *signals;         /* of @document */
  GtkFileChooserNative *chooser; /* (owned) (nullable): while it is open */
  void (*chosen) (AdjWindow *self, GFile *file);
  gboolean has_part; /* only a part is exported: */
  AdjRect part;
  AdwTabPage *closing; /* (unowned) (nullable): closes when its document is saved */
  gboolean closes;     /* … and then the other tabs, and the window */

  GtkWidget *content;
  AdwWindowTitle *title;
  AdwSplitButton *run_button;
  GtkWidget *trace_box; /* shown while there is one stage */
  AdwButtonContent *run_content;
  GMenu *inputs_menu;
  GMenu *compare_menu;
  GMenu *beside_menu;
  GtkMenuButton *find_button;
  AdjSearchBar *search_bar;
  AdjCommandPalette *palette; /* (owned): a popover below the title */
  GtkPopover *context_menu;   /* (owned): its parent is the widget that asked for it */
  AdwToastOverlay *toasts;
  AdwTabView *tabs;
  GtkRevealer *status_revealer;
  GtkProgressBar *progress;
  GtkLabel *status;
  GtkButton *modules_button; /* shown while a layout takes long */
};

/* -- window-tabs.c -- */

void adj_window_watch_tabs (AdjWindow *self);
AdjDocumentPage *adj_window_get_page (AdjWindow *self); /* (nullable): of the current tab */
AdjDocumentPage *adj_window_add_tab (AdjWindow *self);
/* The page of the current tab if it is free, else of a new one. */
AdjDocumentPage *adj_window_get_room (AdjWindow *self);
/* Selects the tab of @file.  (nullable): %NULL: it has none */
AdjDocumentPage *adj_window_find_open (AdjWindow *self, GFile *file);
AdjDocument *adj_window_get_nth_document (AdjWindow *self, int n); /* (nullable) */

/* -- window-saving.c -- */

/* Whether @tab may be closed; else asks what to do with the graphs that are in no file, and closes
 * it afterwards. */
gboolean adj_window_may_close (AdjWindow *self, AdwTabPage *tab);
/* The same for all tabs, one after the other; closes the window at the end. */
gboolean adj_window_may_close_all (AdjWindow *self);
/* The document of a tab was saved, or not (@written). */
void adj_window_on_saved (AdjWindow *self, AdwTabPage *tab, gboolean written);

/* -- window-status.c: what the window shows of the document of the chosen tab -- */

void adj_window_watch_document (AdjWindow *self);
/* Updates everything for another document. */
void adj_window_update_all (AdjWindow *self);
/* Show toasts. */
void adj_window_remark (AdjWindow *self, const char *text);
void adj_window_announce_export (AdjWindow *self, GFile *file);

G_END_DECLS
