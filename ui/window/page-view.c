/* SPDX-License-Identifier: MIT */
/* The view of a page's document: saved, and restored the next time. */

#include "ir/adj-graph.h"
#include "window/adj-settings.h"
#include "window/page-view-private.h"

#define SAVE_SECONDS 3

AdjSavedView *
adj_document_page_make_view (AdjDocumentPage *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (self->document);
  AdjNodeId selected = adj_document_get_selected (self->document);
  AdjSavedView *saved;
  AdjCamera camera;

  g_return_val_if_fail (ADJ_IS_DOCUMENT_PAGE (self), NULL);

  if (graph == NULL)
    return NULL;
  saved = adj_saved_view_new ();
  camera = adj_graph_view_get_camera (adj_canvas_page_get_view (self->canvas_page));
  saved->graph = g_strdup (graph->id);
  adj_arrangement_free (saved->arrangement);
  saved->arrangement = adj_arrangement_copy (adj_document_get_arrangement (self->document));
  if (adj_node_id_is_valid (selected))
    saved->selected = g_strdup (adj_graph_get_node (graph->graph, selected.index)->name);
  saved->has_camera = saved->arrangement->view != ADJ_VIEW_FLOW;
  saved->x = camera.x;
  saved->y = camera.y;
  saved->zoom = camera.zoom;
  saved->run = adj_document_get_wanted_choice (self->document);
  return saved;
}

void
page_view_save (AdjDocumentPage *self)
{
  GFile *file = adj_document_get_file (self->document);
  g_autoptr (AdjSavedView) saved = NULL;

  g_clear_handle_id (&self->saving, g_source_remove);
  if (file == NULL || !self->changed || !adj_settings_restores_views (self->settings))
    return;
  saved = adj_document_page_make_view (self);
  if (saved == NULL)
    return;
  self->changed = FALSE;
  /* An error is ignored, since a folder that is not writable must not disturb. */
  adj_saved_view_save (saved, file, NULL);
}

static gboolean
on_save (gpointer data)
{
  AdjDocumentPage *self = data;

  self->saving = 0;
  page_view_save (self);
  return G_SOURCE_REMOVE;
}

void
page_view_save_soon (AdjDocumentPage *self)
{
  self->changed = TRUE;
  if (self->saving == 0)
    self->saving = g_timeout_add_seconds (SAVE_SECONDS, on_save, self);
}

void
page_view_restore_camera (AdjDocumentPage *self)
{
  g_autoptr (AdjSavedView) restored = NULL;

  if (adj_document_get_scene (self->document) == NULL)
    return;
  restored = adj_document_steal_restored (self->document);
  if (restored != NULL && restored->has_camera)
    adj_graph_view_restore_camera (
        adj_canvas_page_get_view (self->canvas_page),
        &(AdjCamera){ (float) restored->x, (float) restored->y, (float) restored->zoom });
}

void
adj_document_page_open (AdjDocumentPage *self, GFile *file, const char *id)
{
  AdjSavedView *saved = id == NULL && adj_settings_restores_views (self->settings)
                            ? adj_saved_view_load (file)
                            : NULL;

  g_return_if_fail (ADJ_IS_DOCUMENT_PAGE (self));

  page_view_save (self);
  adj_document_set_saved_view (self->document, saved, adj_saved_view_is_older (file));
  adj_document_open (self->document, file, id);
}

void
adj_document_page_open_link (AdjDocumentPage *self, const AdjLink *link)
{
  g_return_if_fail (ADJ_IS_DOCUMENT_PAGE (self));

  page_view_save (self);
  adj_document_set_saved_view (self->document, NULL, TRUE);
  adj_document_open_link (self->document, link);
}
