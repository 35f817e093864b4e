/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* The transition from the picture of a stage to the next: common boxes move, removed ones fade as
 * ghosts, new ones appear. */
typedef struct _AdjMorph AdjMorph;

/* @origins: per node of the graph of @after its origin in that of @before, or G_MAXUINT32; of
 * guint32 */
AdjMorph *adj_morph_new (AdjScene *before, AdjScene *after, const GArray *origins);
void adj_morph_free (AdjMorph *morph);

/* The shift between both scenes that keeps something in place: node @selected of the graph before;
 * else most of the cards, if half of those visible in @visible are in both; else the box nearest to
 * the middle. %FALSE: nothing in @visible, of the scene before, is in both. */
gboolean adj_morph_find_shift (const AdjMorph *morph,
                               const AdjRect *visible,
                               AdjNodeId selected,
                               AdjPoint *shift);
/* @visible: the part of the scene after that will be visible.  %FALSE: it has too many boxes to
 * animate. */
gboolean adj_morph_begin (AdjMorph *morph, AdjPoint shift, const AdjRect *visible);
/* @progress: 0 to 1 */
void adj_morph_set_progress (AdjMorph *morph, float progress);

float adj_morph_get_progress (const AdjMorph *morph);
AdjScene *adj_morph_get_before (const AdjMorph *morph); /* (transfer none) */
AdjPoint adj_morph_get_shift (const AdjMorph *morph);
/* Boxes of the scene after to paint, in order; and removed boxes of the scene before.  Of guint;
 * (transfer none) */
const GArray *adj_morph_get_boxes (const AdjMorph *morph);
const GArray *adj_morph_get_ghosts (const AdjMorph *morph);
/* The present place of a box of the scene after, and whether it is in both scenes. */
const AdjRect *adj_morph_get_rect (const AdjMorph *morph, guint box);
gboolean adj_morph_stays (const AdjMorph *morph, guint box);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjMorph, adj_morph_free)

G_END_DECLS
