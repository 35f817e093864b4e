/* SPDX-License-Identifier: MIT */
#pragma once

#include "canvas/adj-graph-view.h"
#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* A tab: one document with its sidebar, canvas, inspector and the pages at the bottom; without a
 * document, the start page. */
#define ADJ_TYPE_DOCUMENT_PAGE (adj_document_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjDocumentPage, adj_document_page, ADJ, DOCUMENT_PAGE, AdwBin)

/* @settings: (nullable): keeps the state of the panel at the bottom */
GtkWidget *adj_document_page_new (GSettings *settings);

AdjDocument *adj_document_page_get_document (AdjDocumentPage *self); /* (transfer none) */
AdjGraphView *adj_document_page_get_view (AdjDocumentPage *self);    /* (transfer none) */
/* @id: (nullable): of the graph to begin with; %NULL: restores the last view */
void adj_document_page_open (AdjDocumentPage *self, GFile *file, const char *id);
/* Opens the place of @link, whatever the last view was. */
void adj_document_page_open_link (AdjDocumentPage *self, const AdjLink *link);
/* The present view of the document.  (transfer full) (nullable): %NULL: there is no picture */
AdjSavedView *adj_document_page_make_view (AdjDocumentPage *self);
/* Whether nothing is open in it, or nothing that could be shown. */
gboolean adj_document_page_is_free (AdjDocumentPage *self);

/* "source", "values" …; opens the bottom panel. */
void adj_document_page_show (AdjDocumentPage *self, const char *name);
/* Shows @graph of @graphs, of the file with that title, beside the shown graph. */
void adj_document_page_lay_beside (AdjDocumentPage *self,
                                   AdjGraphSet *graphs,
                                   const AdjBundleGraph *graph,
                                   const char *file);
/* Focuses the current page at the bottom. */
void adj_document_page_focus_panel (AdjDocumentPage *self);
/* Adds the actions that show and hide its parts to @map, in place of those of another page. */
void adj_document_page_add_actions (AdjDocumentPage *self, GActionMap *map);
/* The text of the last problem, for bug reports; (transfer full) (nullable) */
char *adj_document_page_get_details (AdjDocumentPage *self);
/* @target: something is being dragged over the window. */
void adj_document_page_set_drop_target (AdjDocumentPage *self, gboolean target);

G_END_DECLS
