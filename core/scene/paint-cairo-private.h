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
  const AdjRect *rect; /* the painted part; unused for a legend */
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
/* Draws lines of one value, which share pieces, with one stroke, so that shared pieces are not
 * darker. */
void cairo_painter_draw_lines (CairoPainter *self, const guint *edges, guint n);

/* Paints the background of the whole surface and what touches @rect; @cr is moved and scaled to
 * scene coordinates.  @scale: pixels per scene pixel, below which texts are unreadable and left
 * out; 0: all texts are painted.  %FALSE: cancelled. */
gboolean paint_scene (const AdjScene *scene,
                      cairo_t *cr,
                      const AdjRect *rect,
                      const AdjPaintOptions *options,
                      float scale);
/* The line below @part that explains the signs of the scene. */
void paint_legend (const AdjScene *scene, cairo_t *cr, const AdjRect *part, AdjScheme scheme);

G_END_DECLS
