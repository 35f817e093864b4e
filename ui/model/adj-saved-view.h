/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-arrangement.h"
#include "model/adj-run-choice.h"

G_BEGIN_DECLS

/* How a file was looked at last, kept in the user's data folder from session to session. */
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

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjSavedView, adj_saved_view_free)

G_END_DECLS
