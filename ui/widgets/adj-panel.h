/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

#include "model/adj-document.h"

G_BEGIN_DECLS

/* The base class of widgets that show a document: canvas, inspector, sidebar and the pages at the
 * bottom.  A subclass calls adj_panel_watch() in its init. */
#define ADJ_TYPE_PANEL (adj_panel_get_type ())
G_DECLARE_DERIVABLE_TYPE (AdjPanel, adj_panel, ADJ, PANEL, AdwBin)

typedef void (*AdjPanelUpdate) (AdjPanel *self);

struct _AdjPanelClass
{
  AdwBinClass parent_class;

  /* (nullable) Called when another document is set, but not when it is removed. */
  AdjPanelUpdate update;
};

/* Calls @callback (self) for @signal of the current document; to be called before one is set. */
void adj_panel_watch (AdjPanel *self, const char *signal, GCallback callback);
AdjDocument *adj_panel_get_document (gpointer self); /* (transfer none) (nullable) */
void adj_panel_set_document (gpointer self, AdjDocument *document);
/* Moves the focus to the surrounding tabs if it is in @part, whose rows are about to be removed:
 * GTK 4.8 loses the focus with them, and warns when the window is closed.  Returns whether it was
 * there. */
gboolean adj_panel_leave (GtkWidget *part);

G_END_DECLS
