/* SPDX-License-Identifier: MIT */
#pragma once

#include "scene/paint-cairo.h"

G_BEGIN_DECLS

#define PAINT_LEGEND_HEIGHT 40.0f

/* The background of the whole surface and what touches @rect; @cr is moved and scaled to scene
 * coordinates.  @scale: pixels per scene pixel, by which texts too small to read are left out; 0:
 * none is.  %FALSE: cancelled. */
gboolean paint_scene (const AdjScene *scene,
                      cairo_t *cr,
                      const AdjRect *rect,
                      const AdjPaintOptions *options,
                      float scale);
/* The line below @part that explains the signs of the scene. */
void paint_legend (const AdjScene *scene, cairo_t *cr, const AdjRect *part, AdjScheme scheme);

G_END_DECLS
