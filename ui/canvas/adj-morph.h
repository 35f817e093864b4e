/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* The picture of a stage becomes that of the next one: what is in both goes from place to place,
 * what goes fades as a ghost, what comes appears. */
typedef struct _AdjMorph AdjMorph;

/* @origins: of each node of the graph of @after the node of that of @before that it was, or
 * G_MAXUINT32; of guint32 */
AdjMorph *adj_morph_new (AdjScene *before, AdjScene *after, const GArray *origins);
void adj_morph_free (AdjMorph *morph);

/* How far node @selected of the graph before, else most of the cards that half of those seen in
 * @visible have in common, else what is nearest to the middle, is apart in the two scenes: shifted
 * so, it stays.
 * %FALSE: nothing of @visible, of the scene before, is in both. */
gboolean adj_morph_find_shift (const AdjMorph *morph,
                               const AdjRect *visible,
                               AdjNodeId selected,
                               AdjPoint *shift);
/* @visible: of the scene after, what of it will be seen.  %FALSE: that is too much to be moved. */
gboolean adj_morph_begin (AdjMorph *morph, AdjPoint shift, const AdjRect *visible);
/* @progress: 0 to 1 */
void adj_morph_set_progress (AdjMorph *morph, float progress);

float adj_morph_get_progress (const AdjMorph *morph);
AdjScene *adj_morph_get_before (const AdjMorph *morph); /* (transfer none) */
AdjPoint adj_morph_get_shift (const AdjMorph *morph);
/* Boxes of the scene after that are painted, in order; boxes of the one before that go.  Of guint;
 * (transfer none) */
const GArray *adj_morph_get_boxes (const AdjMorph *morph);
const GArray *adj_morph_get_ghosts (const AdjMorph *morph);
/* Where a box of the scene after is now, and whether it was there before. */
const AdjRect *adj_morph_get_rect (const AdjMorph *morph, guint box);
gboolean adj_morph_stays (const AdjMorph *morph, guint box);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjMorph, adj_morph_free)

G_END_DECLS
