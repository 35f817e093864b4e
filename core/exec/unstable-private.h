/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/verdict-private.h"

G_BEGIN_DECLS

/* Elements that rounding alone makes NaN or infinite, or keeps from it.  They say nothing of who is
 * right. */

/* What is left of a comparison: 0 in all where one side gives no number there. */
typedef struct
{
  AdjTensorData *own, *peer, *truth, *unmoved, *moved; /* (owned) (nullable) */
} Stable;

void stable_clear (Stable *stable);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stable, stable_clear)

/* Whether both sides are finite in the same elements but for those; then sets @out. */
gboolean stable_find (const Leaf *leaf, Stable *out);
/* Where both sides are finite in the same elements, and float64 in others (an overflow of 16 bits):
 * sets @out to what both have numbers for; where only they do, ours takes the place of the truth.
 */
gboolean stable_find_answered (const Leaf *leaf, Stable *out);

G_END_DECLS
