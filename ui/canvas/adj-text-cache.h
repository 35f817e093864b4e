/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum
{
  ADJ_TEXT_TITLE,
  ADJ_TEXT_TITLE_PLAIN,
  ADJ_TEXT_SUBTITLE,
  ADJ_TEXT_CHIP,
  ADJ_TEXT_HEADER,
  ADJ_TEXT_SIGN,
  ADJ_N_TEXT_STYLES,
} AdjTextStyle;

/* A cache of text layouts at zoom 1; the least recently used are dropped. */
typedef struct _AdjTextCache AdjTextCache;

AdjTextCache *adj_text_cache_new (GtkWidget *widget);
void adj_text_cache_free (AdjTextCache *cache);
/* Drops all layouts: the font or the scale of the widget changed. */
void adj_text_cache_clear (AdjTextCache *cache);

/**
 * adj_text_cache_get:
 * @width: (out) (optional): logical size in pixels
 * @height: (out) (optional):
 *
 * Returns: (transfer none): valid until the next call
 */
PangoLayout *adj_text_cache_get (
    AdjTextCache *cache, AdjTextStyle style, const char *text, float *width, float *height);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTextCache, adj_text_cache_free)

G_END_DECLS
