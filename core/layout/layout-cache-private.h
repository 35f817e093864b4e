/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-layout.h"
#include "layout/adj-placement.h"

G_BEGIN_DECLS

/* (transfer full) (nullable); @key as adj_layout_cache_key() makes it. */
AdjPlacement *
adj_layout_cache_find (AdjLayoutCache *cache, const char *key, const AdjBlockGraph *graph);
/* @placement must come from Graphviz, not from adj_placement_layer(). */
void adj_layout_cache_keep (AdjLayoutCache *cache, const char *key, const AdjPlacement *placement);
char *adj_layout_cache_key (const AdjBlockGraph *graph);

G_END_DECLS
