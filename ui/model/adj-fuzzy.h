/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * adj_fuzzy_match:
 * @pattern: words; each must be in @text, whole or with its letters in order; ASCII case does not
 *   count
 * @positions: (nullable): of guint: gets the bytes of @text that matched, in any order
 *
 * Returns: how well, above 0; whole words count more than pieces, beginnings of words more than
 *   middles, shorter texts more than long ones.  0: not at all.  An empty pattern matches with 1
 */
guint adj_fuzzy_match (const char *text, const char *pattern, GArray *positions);

G_END_DECLS
