/* SPDX-License-Identifier: MIT */
#pragma once

#include <pango/pango.h>

#include "scene/paint-cairo.h"

G_BEGIN_DECLS

#define PAINT_LEGEND_HEIGHT 40.0f

typedef struct
{
  const AdjScene *scene;
  const AdjPalette *palette;
  const AdjRect *rect; /* what is painted; of a legend none */
  cairo_t *cr;
  PangoLayout *layout;
  float min_size; /* smaller texts are left out */
  const AdjPaintOptions *options;
  guint done, total; /* boxes and lines */
} CairoPainter;

static inline void
cairo_painter_set_color (CairoPainter *self, const AdjColor *color)
{
  cairo_set_source_rgba (self->cr, color->red, color->green, color->blue, color->alpha);
}

/* Whether two lines carry the same value and look the same. */
gboolean cairo_painter_same_line (const AdjSceneEdge *a, const AdjSceneEdge *b);
/* Lines of one value share pieces: stroked together, they are covered once. */
void cairo_painter_draw_lines (CairoPainter *self, const guint *edges, guint n);

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
