/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-display-list.h"

G_BEGIN_DECLS

/* The stages of a graph, of which neighbours share one layout: a step from one to the next leaves
 * what both have where it is. */
typedef struct _SharedPlaces SharedPlaces;

/* Of @graph, which is one of the stages of @options. */
SharedPlaces *shared_places_new (AdjGraph *graph, const AdjLayoutOptions *options);
/* @graph as the shared layout has it.  (transfer none) (nullable): it shares none */
const AdjDisplayList *shared_places_get_display (const SharedPlaces *places);
void shared_places_free (SharedPlaces *places);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SharedPlaces, shared_places_free)

G_END_DECLS
