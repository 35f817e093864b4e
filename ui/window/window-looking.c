/* SPDX-License-Identifier: MIT */
/* Commands of the view: zoom, folding, the flow of a node. */

#include "window/window-looking.h"

#define ZOOM_STEP 1.25f

void
adj_zoom_in (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_zoom_by (adj_window_get_view (self), ZOOM_STEP);
}

void
adj_zoom_out (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_zoom_by (adj_window_get_view (self), 1 / ZOOM_STEP);
}

void
adj_zoom_to_original (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_zoom_to (adj_window_get_view (self), 1);
}

void
adj_zoom_to_fit (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_fit (adj_window_get_view (self));
}

void
adj_zoom_to_selection (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_fit_selection (adj_window_get_view (self));
}

/* Fits the picture if all of it was visible; else keeps its middle in place. */
static void
set_depth (AdjWindow *self, guint depth)
{
  AdjGraphView *view = adj_window_get_view (self);

  if (adj_graph_view_shows_all (view))
    adj_graph_view_fit_next (view, FALSE);
  else
    adj_graph_view_keep_middle (view);
  adj_document_set_fold_depth (adj_window_get_document (self), depth);
}

void
adj_fold_all (AdjWindow *self, GVariant *parameter)
{
  set_depth (self, 1);
}

void
adj_unfold_all (AdjWindow *self, GVariant *parameter)
{
  set_depth (self, 0);
}

void
adj_show_flow (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_fit_next (adj_window_get_view (self), TRUE);
  adj_document_set_view (adj_window_get_document (self), ADJ_VIEW_FLOW);
}

void
adj_toggle_module (AdjWindow *self, GVariant *parameter)
{
  adj_graph_view_toggle_module (adj_window_get_view (self), g_variant_get_string (parameter, NULL));
}

void
adj_toggle_fullscreen (AdjWindow *self, GVariant *parameter)
{
  if (gtk_window_is_fullscreen (GTK_WINDOW (self)))
    gtk_window_unfullscreen (GTK_WINDOW (self));
  else
    gtk_window_fullscreen (GTK_WINDOW (self));
}
