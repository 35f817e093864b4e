/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"
#include "scene/adj-palette.h"

G_BEGIN_DECLS

/* A number for each box of a scene, as a tint and as text: bytes, time or error. A box of several
 * nodes has their sum or, of errors, the worst. Immutable. */
typedef struct _AdjHeat AdjHeat;

/* @evaluation: (nullable): of the graph; needed for time and error. Returns: (nullable): %NULL when
 * no box has a number */
AdjHeat *adj_heat_new (const AdjScene *scene,
                       const AdjGraph *graph,
                       const AdjEvaluation *evaluation,
                       AdjColoring coloring);
void adj_heat_free (AdjHeat *heat);

/* (nullable): "4.0 KiB", "12 µs", "3.1e-05"; %NULL: the box has no number */
const char *adj_heat_get_text (const AdjHeat *heat, guint box);
/* From 0 to 1. */
float adj_heat_get_share (const AdjHeat *heat, guint box);
/* The numbers at the ends of the ramp, as text. */
const char *adj_heat_get_low (const AdjHeat *heat);
const char *adj_heat_get_high (const AdjHeat *heat);

/* One hue, light to dark, so that text stays readable on it. */
AdjColor adj_heat_color (float share, AdjScheme scheme);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjHeat, adj_heat_free)

G_END_DECLS
