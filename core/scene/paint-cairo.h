/* SPDX-License-Identifier: MIT */
#pragma once

#include <cairo.h>
#include <gio/gio.h>

#include "scene/adj-palette.h"

G_BEGIN_DECLS

typedef struct
{
  AdjScheme scheme;
  float scale;         /* pixels of a PNG per scene pixel; 0 means 1 */
  const AdjRect *part; /* (nullable): only this rectangle */
  gboolean legend;     /* a line below that explains the signs */
} AdjPaintOptions;

/* Paints what touches @rect; @cr is already scaled and moved to scene coordinates. */
ADJ_PUBLIC void adj_scene_paint (const AdjScene *scene,
                                 cairo_t *cr,
                                 const AdjRect *rect,
                                 const AdjPaintOptions *options);

/**
 * adj_scene_render_file:
 * @path: ends in .svg, .png or .pdf; replaced only when everything was written
 * @options: (nullable)
 *
 * Returns: %FALSE with ADJ_ERROR_UNSUPPORTED (extension), ADJ_ERROR_LIMIT (a PNG too large) or
 *   G_IO_ERROR
 */
ADJ_PUBLIC gboolean adj_scene_render_file (const AdjScene *scene,
                                           const char *path,
                                           const AdjPaintOptions *options,
                                           GError **error);

G_END_DECLS
