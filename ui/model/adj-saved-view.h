/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-arrangement.h"
#include "model/adj-run-choice.h"

G_BEGIN_DECLS

/* How a file was looked at last: kept in the user's data folder from session to session, and in the
 * file itself where that was saved. */
typedef struct
{
  char *graph;                 /* id */
  AdjArrangement *arrangement; /* without a flow: that is of the moment */
  char *selected;              /* (nullable): name of a node */
  gboolean has_camera;
  double x, y, zoom;
  AdjRunChoice run;
} AdjSavedView;

AdjSavedView *adj_saved_view_new (void);
void adj_saved_view_free (AdjSavedView *view);

/* (transfer full) (nullable): %NULL when nothing was kept, or nothing that can be read */
AdjSavedView *adj_saved_view_load (GFile *file);
gboolean adj_saved_view_save (const AdjSavedView *view, GFile *file, GError **error);
/* Whether @file was written after its view was kept. */
gboolean adj_saved_view_is_older (GFile *file);

/* The same as the "view" of a file's notes.  What else the notes say stays; of the choice for runs
 * no path goes into a file, and none is taken from one.
 * @notes: (nullable): those of now.  (transfer full) */
GBytes *adj_saved_view_to_notes (const AdjSavedView *view, GBytes *notes);
AdjSavedView *adj_saved_view_from_notes (GBytes *notes); /* (transfer full) (nullable) */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjSavedView, adj_saved_view_free)

G_END_DECLS
