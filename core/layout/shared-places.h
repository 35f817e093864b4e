/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "layout/adj-display-list.h"

G_BEGIN_DECLS

/* Stages of a graph whose neighbours share one layout: stepping between them leaves common cards in
 * place. */
typedef struct _SharedPlaces SharedPlaces;

/* Of @graph, which is one of the stages of @options.  Without use once cancelled. */
SharedPlaces *
shared_places_new (AdjGraph *graph, const AdjLayoutOptions *options, GCancellable *cancellable);
/* The display list of the graph in the shared layout.  (transfer none) (nullable): %NULL: it
 * shares none */
const AdjDisplayList *shared_places_get_display (const SharedPlaces *places);
void shared_places_free (SharedPlaces *places);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SharedPlaces, shared_places_free)

G_END_DECLS
