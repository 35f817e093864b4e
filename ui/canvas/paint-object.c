/* SPDX-License-Identifier: MIT */
/* Paints the cards of opaque objects and of calls of their methods, with cut corners. */

#include "canvas/painter-private.h"

#define DOUBLE_INSET 3.0f

static const struct
{
  double dash[2];
  float width; /* of a plain frame's */
} styles[] = {
  [ADJ_FRAME_SOLID] = { { 0, 0 }, 1.3f },      [ADJ_FRAME_DOUBLE] = { { 0, 0 }, 1.3f },
  [ADJ_FRAME_DASHED] = { { 5, 3 }, 1.3f },     [ADJ_FRAME_HEAVY_DASHED] = { { 7, 3 }, 2 },
  [ADJ_FRAME_DOTTED] = { { 1.5, 2.5 }, 1.2f }, [ADJ_FRAME_THICK] = { { 0, 0 }, 1.8f },
};

static void
trace (cairo_t *cr, const AdjRect *rect, float inset, float zoom)
{
  AdjRect inner = { rect->x + inset, rect->y + inset, rect->width - 2 * inset,
                    rect->height - 2 * inset };
  AdjPoint points[8];

  adj_rect_cut_corners (&inner, ADJ_CARD_CUT * zoom - inset / 2, points);
  cairo_new_path (cr);
  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    cairo_line_to (cr, points[i].x, points[i].y);
  cairo_close_path (cr);
}

static void
set_color (cairo_t *cr, const AdjColor *color)
{
  cairo_set_source_rgba (cr, color->red, color->green, color->blue, color->alpha);
}

static void
fill_stripe (cairo_t *cr, const AdjRect *rect, const AdjColor *color, gboolean hatched, float zoom)
{
  float width = ADJ_STRIPE_WIDTH * zoom;

  cairo_save (cr);
  cairo_clip (cr);
  set_color (cr, color);
  cairo_rectangle (cr, rect->x, rect->y, width, rect->height);
  if (hatched)
    {
      cairo_clip (cr);
      cairo_set_line_width (cr, MAX (1.5, width / 3.0));
      for (float y = 0; y < rect->height + width; y += width)
        {
          cairo_move_to (cr, rect->x, rect->y + y);
          cairo_rel_line_to (cr, width, -width);
        }
      cairo_stroke (cr);
    }
  else
    cairo_fill (cr);
  cairo_restore (cr);
}

void
adj_painter_object (AdjPainter *painter,
                    const AdjSceneBox *box,
                    const AdjRect *rect,
                    const AdjColor *fill,
                    const AdjPalette *palette)
{
  float zoom = painter->frame->camera.zoom, unit = CLAMP (zoom, 0.7f, 1.6f);
  AdjFrameStyle frame = adj_role_frame (box->role);
  graphene_rect_t bounds =
      GRAPHENE_RECT_INIT (rect->x - 2, rect->y - 2, rect->width + 4, rect->height + 4);
  cairo_t *cr = gtk_snapshot_append_cairo (painter->snapshot, &bounds);

  trace (cr, rect, 0, zoom);
  set_color (cr, fill);
  cairo_fill_preserve (cr);
  if (adj_role_has_stripe (box->role))
    fill_stripe (cr, rect, &palette->roles[box->role], adj_role_is_hatched (box->role), zoom);
  trace (cr, rect, 0, zoom);
  set_color (cr, &palette->roles[box->role]);
  cairo_set_line_width (cr, MAX (palette->frame_width * styles[frame].width * unit, 1));
  cairo_set_dash (cr, styles[frame].dash, styles[frame].dash[0] > 0 ? 2 : 0, 0);
  cairo_stroke (cr);
  if (frame == ADJ_FRAME_DOUBLE)
    {
      trace (cr, rect, DOUBLE_INSET * unit, zoom);
      cairo_stroke (cr);
    }
  cairo_destroy (cr);
}
