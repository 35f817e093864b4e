/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

#include "model/adj-document.h"

G_BEGIN_DECLS

/* A part of the window that shows something of a document: what canvas, inspector, sidebar and the
 * pages at the bottom have in common.  A subclass names in its init what it wants to hear of. */
#define ADJ_TYPE_PANEL (adj_panel_get_type ())
G_DECLARE_DERIVABLE_TYPE (AdjPanel, adj_panel, ADJ, PANEL, AdwBin)

typedef void (*AdjPanelUpdate) (AdjPanel *self);

struct _AdjPanelClass
{
  AdwBinClass parent_class;

  /* (nullable) Another document is there; not called when there is none any more. */
  AdjPanelUpdate update;
};

/* Calls @callback (self) for @signal of whatever document is shown; before there is one. */
void adj_panel_watch (AdjPanel *self, const char *signal, GCallback callback);
AdjDocument *adj_panel_get_document (gpointer self); /* (transfer none) (nullable) */
void adj_panel_set_document (gpointer self, AdjDocument *document);
/* Moves the focus to the tabs around when it is in @part, of which rows are about to go: GTK 4.8
 * loses it with them, and complains when the window is closed.  Whether it was there. */
gboolean adj_panel_leave (GtkWidget *part);

G_END_DECLS
