/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-layout.h"
#include "model/adj-work.h"

G_BEGIN_DECLS

/* How the user wants pictures arranged: the view, and which modules are closed. */
typedef struct
{
  AdjLayoutCache *cache;
  AdjLayoutView view;
  guint fold_depth;
  GHashTable *folded, *unfolded; /* module paths */
} AdjArrangement;

void adj_arrangement_init (AdjArrangement *arrangement);
void adj_arrangement_clear (AdjArrangement *arrangement);

/* @depth: modules that deep and deeper are closed; 0: all are open. */
void adj_arrangement_set_fold_depth (AdjArrangement *arrangement, guint depth);
/* @scene (nullable): says whether the module is closed now. */
void adj_arrangement_toggle (AdjArrangement *arrangement, const AdjScene *scene, const char *path);

/* Lays @graph out in another thread; the result is an AdjScene.  @tag comes back from
 * adj_arrangement_get_tag(). */
AdjWork *adj_arrangement_start (const AdjArrangement *arrangement,
                                GObject *owner,
                                AdjGraph *graph,
                                guint tag,
                                GAsyncReadyCallback done);
guint adj_arrangement_get_tag (AdjWork *work);

G_END_DECLS
