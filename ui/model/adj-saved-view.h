/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-arrangement.h"
#include "model/adj-run-choice.h"

G_BEGIN_DECLS

/* The last view of a file: kept in the user's data folder between sessions, and in the file itself
 * where that was saved. */
typedef struct
{
  char *graph;                 /* id */
  AdjArrangement *arrangement; /* without a flow, which is temporary */
  char *selected;              /* (nullable): name of a node */
  gboolean has_camera;
  double x, y, zoom;
  AdjRunChoice run;
} AdjSavedView;

AdjSavedView *adj_saved_view_new (void);
void adj_saved_view_free (AdjSavedView *view);

/* (transfer full) (nullable): %NULL when no readable view is kept */
AdjSavedView *adj_saved_view_load (GFile *file);
gboolean adj_saved_view_save (const AdjSavedView *view, GFile *file, GError **error);
/* Whether @file was written after its view was kept. */
gboolean adj_saved_view_is_older (GFile *file);

/* The view as member "view" of a file's notes.  Other members stay.  Paths of the run choice are
 * neither written to a file nor read from one. @notes: (nullable): the present notes.
 * (transfer full) */
GBytes *adj_saved_view_to_notes (const AdjSavedView *view, GBytes *notes);
AdjSavedView *adj_saved_view_from_notes (GBytes *notes); /* (transfer full) (nullable) */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjSavedView, adj_saved_view_free)

G_END_DECLS
