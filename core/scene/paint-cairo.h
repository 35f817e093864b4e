/* SPDX-License-Identifier: MIT */
#pragma once

#include <cairo.h>

#include "base/adj-cancellable.h"
#include "scene/adj-palette.h"

G_BEGIN_DECLS

typedef struct
{
  AdjScheme scheme;
  float scale;               /* pixels of a PNG per scene pixel; 0 means 1 */
  const AdjRect *part;       /* (nullable): only this rectangle */
  gboolean legend;           /* a line below that explains the signs */
  GCancellable *cancellable; /* (nullable) */
  /* (nullable) Called from time to time: boxes and lines painted; for a PNG, tiles. */
  void (*progress) (guint done, guint total, gpointer data);
  gpointer data;
} AdjPaintOptions;

/**
 * adj_scene_render_file:
 * @path: ends in .svg, .png or .pdf; replaced only when everything was written
 * @options: (nullable)
 *
 * A PNG is painted in tiles, so that only the format bounds its size.  The page of a PDF is scaled
 * down where it would be larger than viewers show (14,400 points); its lines stay vectors.
 *
 * Returns: %FALSE with ADJ_ERROR_UNSUPPORTED (extension), ADJ_ERROR_LIMIT (a PNG too large) or
 *   G_IO_ERROR
 */
ADJ_PUBLIC gboolean adj_scene_render_file (const AdjScene *scene,
                                           const char *path,
                                           const AdjPaintOptions *options,
                                           GError **error);

/* Paints what touches the member `part` of @options into @cr, which is moved and scaled to scene
 * coordinates and clipped: for printers. */
ADJ_PUBLIC void
adj_scene_paint (const AdjScene *scene, cairo_t *cr, const AdjPaintOptions *options);

/* The same as an SVG in memory.  (transfer full) */
ADJ_PUBLIC GBytes *
adj_scene_render_svg (const AdjScene *scene, const AdjPaintOptions *options, GError **error);

G_END_DECLS
