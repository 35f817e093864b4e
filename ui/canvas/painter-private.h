/* SPDX-License-Identifier: MIT */
#pragma once

#include "canvas/adj-scene-painter.h"

G_BEGIN_DECLS

/* The band of the gutter begins below its title. */
#define ADJ_BAND_TOP 36.0f

typedef struct
{
  const AdjSceneFrame *frame;
  GtkSnapshot *snapshot;
  AdjLod lod;
  AdjPalette lit, dim;
  AdjPalette coming; /* of boxes that appear */
  GArray *boxes;     /* of guint: boxes in view */
  GArray *edges;
  float line_share; /* opacity of lines: less than 1 while they appear or vanish */
} AdjPainter;

typedef enum
{
  ADJ_ALIGN_LEFT,
  ADJ_ALIGN_CENTER,
  ADJ_ALIGN_RIGHT,
} AdjTextAlign;

/* One line of text, in pixels of the widget; @y is its middle. */
typedef struct
{
  AdjTextStyle style;
  const char *text;
  const AdjColor *color;
  AdjTextAlign align;
  float x, y;
  float max_width; /* wider text is squeezed to it */
  float scale;
} AdjTextRun;

void adj_painter_text (AdjPainter *painter, const AdjTextRun *run);
/* The width of a text at scale 1. */
float adj_painter_text_width (AdjPainter *painter, AdjTextStyle style, const char *text);

void
adj_painter_fill (AdjPainter *painter, const AdjRect *rect, float radius, const AdjColor *color);
void adj_painter_frame (
    AdjPainter *painter, const AdjRect *rect, float radius, float width, const AdjColor *color);
void adj_painter_dashes (AdjPainter *painter,
                         const AdjRect *rect,
                         float radius,
                         float width,
                         const double dash[2],
                         const AdjColor *color);
/* Rounded to whole device pixels. */
AdjRect adj_painter_snap (const AdjPainter *painter, const AdjRect *rect);
/* The rectangle of the scene in the widget. */
AdjRect adj_painter_place (const AdjPainter *painter, const AdjRect *rect);
/* The rectangle of a box in the widget, during a transition too. */
AdjRect adj_painter_find (const AdjPainter *painter, guint box);
const AdjPalette *adj_painter_palette_for_box (const AdjPainter *painter, guint box);

/* The fill of a card or a group. */
AdjColor adj_painter_card_fill (const AdjPainter *painter, guint index);

void adj_painter_group (AdjPainter *painter, guint index);
/* Painted above the lines, which run through frames. */
void adj_painter_group_title (AdjPainter *painter, guint index);
void adj_painter_headers (AdjPainter *painter); /* the titles of columns */
void adj_painter_box (AdjPainter *painter, guint index);
/* "x · linear" where the name does not contain the operator and there is room (@width: at scale 1;
 * 0: unlimited), else the name.  (transfer full) */
char *adj_painter_title (AdjPainter *painter, const AdjSceneBox *box, float width);
/* Paints the name of a box that is too small for it, around its middle; %FALSE: other boxes are
 * there. */
gboolean adj_painter_name (AdjPainter *painter, guint index, const AdjRect *rect);
void adj_painter_plain_name (AdjPainter *painter, guint index); /* of a box without a text */
/* The card of an object, without texts; @rect: its place in the widget. */
void adj_painter_object (AdjPainter *painter,
                         const AdjSceneBox *box,
                         const AdjRect *rect,
                         const AdjColor *fill,
                         const AdjPalette *palette);
/* Paints the verdict on a box; @rect: its place in the widget. */
void adj_painter_mark (AdjPainter *painter, guint index, const AdjRect *rect);
void adj_painter_edge (AdjPainter *painter, guint index);
void adj_painter_edge_label (AdjPainter *painter, guint index);

G_END_DECLS
