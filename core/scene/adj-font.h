/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-macros.h"

G_BEGIN_DECLS

/* Widths of texts from a bundled table (Cantarell), so that layouts do not depend on installed
 * fonts. Painters scale a run of text to the width computed here. */

typedef enum
{
  ADJ_FONT_REGULAR,
  ADJ_FONT_BOLD,
} AdjFont;

/* Pixels that @text takes at @size pixels. */
ADJ_PUBLIC float adj_font_measure (AdjFont font, float size, const char *text);

/**
 * adj_font_ellipsize:
 *
 * Returns: (transfer full): @text, cut in the middle with "…" when it is wider than @width pixels
 */
ADJ_PUBLIC char *adj_font_ellipsize (AdjFont font, float size, const char *text, float width);

G_END_DECLS
