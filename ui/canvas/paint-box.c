/* SPDX-License-Identifier: MIT */
/* Paints cards and chips with their role, verdict and tint. */

#include <glib/gi18n.h>
#include <math.h>

#include "canvas/painter-private.h"
#include "ir/adj-compare.h"
#include "report/adj-properties.h"

#define PADDING 13.0f
#define SIGN_SIZE 15.0f
#define LINE_SIZE 16.5f /* height of a line of letters at scale 1 */
#define READABLE 0.8f   /* smallest scale of texts when zoomed out */
#define LEAST 0.6f      /* … if there is not enough room: the smallest readable scale */
#define SQUEEZE 1.25f   /* … and how far text may be squeezed for it */
#define SIGN_LEAST 0.7f /* smallest scale of signs, as a disc alone has no meaning */

static const double dashes[] = { 5, 3 }, heavy_dashes[] = { 7, 3 }, dots[] = { 1.5, 2.5 };

GdkRGBA
adj_verdict_color (AdjVerdict verdict, AdjScheme scheme)
{
  gboolean dark = scheme == ADJ_SCHEME_DARK || scheme == ADJ_SCHEME_HIGH_CONTRAST_DARK;
  static const AdjColor colors[2][4] = {
    { { 0.016f, 0.431f, 0.337f, 1 },
      { 0.659f, 0.475f, 0, 1 },
      { 0.776f, 0.275f, 0, 1 },
      { 0.416f, 0.400f, 0.443f, 1 } },
    { { 0.361f, 0.941f, 0.682f, 1 },
      { 1, 0.824f, 0.122f, 1 },
      { 0.878f, 0.541f, 0.290f, 1 },
      { 0.663f, 0.659f, 0.690f, 1 } },
  };

  return adj_color_to_rgba (&colors[dark][MIN (verdict, ADJ_VERDICT_SKIPPED)]);
}

const char *
adj_verdict_sign (AdjVerdict verdict)
{
  static const char *const signs[] = { "=", "≈", "≠", "–" };

  return signs[MIN (verdict, ADJ_VERDICT_SKIPPED)];
}

AdjRect
adj_painter_place (const AdjPainter *painter, const AdjRect *rect)
{
  AdjRect placed = adj_camera_rect_to_widget (&painter->frame->camera, rect);

  return adj_painter_snap (painter, &placed);
}

AdjRect
adj_painter_find (const AdjPainter *painter, guint box)
{
  const AdjSceneFrame *frame = painter->frame;

  return adj_painter_place (painter, frame->morph != NULL && !frame->ghosts
                                         ? adj_morph_get_rect (frame->morph, box)
                                         : &adj_scene_get_box (frame->scene, box)->rect);
}

static AdjRect
grown (const AdjRect *rect, float by)
{
  return (AdjRect){ rect->x - by, rect->y - by, rect->width + 2 * by, rect->height + 2 * by };
}

/* -- frames -- */

static void
paint_frame (AdjPainter *painter,
             const AdjSceneBox *box,
             const AdjRect *rect,
             float radius,
             const AdjPalette *palette)
{
  float zoom = painter->frame->camera.zoom, unit = CLAMP (zoom, 0.7f, 1.6f);
  float width = MAX (palette->frame_width * unit, 1);
  const AdjColor *color = &palette->roles[box->role];
  AdjRect inner = grown (rect, -2.5f * unit);

  switch (adj_role_frame (box->role))
    {
    case ADJ_FRAME_SOLID:
      adj_painter_frame (painter, rect, radius, box->role == ADJ_ROLE_NONE ? width : width * 1.3f,
                         color);
      break;
    case ADJ_FRAME_DOUBLE:
      adj_painter_frame (painter, rect, radius, width * 1.3f, color);
      adj_painter_frame (painter, &inner, radius - 2 * unit, width, color);
      break;
    case ADJ_FRAME_DASHED:
      adj_painter_dashes (painter, rect, radius, width * 1.3f, dashes, color);
      break;
    case ADJ_FRAME_HEAVY_DASHED:
      adj_painter_dashes (painter, rect, radius, width * 2, heavy_dashes, color);
      break;
    case ADJ_FRAME_DOTTED:
      adj_painter_dashes (painter, rect, radius, width * 1.2f, dots, color);
      break;
    case ADJ_FRAME_THICK:
      adj_painter_frame (painter, rect, radius, width * 1.8f, color);
      break;
    }
}

static void
paint_hatching (AdjPainter *painter, const AdjRect *stripe, const AdjColor *color)
{
  graphene_rect_t bounds = GRAPHENE_RECT_INIT (stripe->x, stripe->y, stripe->width, stripe->height);
  cairo_t *cr = gtk_snapshot_append_cairo (painter->snapshot, &bounds);

  cairo_set_source_rgba (cr, color->red, color->green, color->blue, color->alpha);
  cairo_set_line_width (cr, MAX (1.5, stripe->width / 3.0));
  for (double y = 0; y < stripe->height + stripe->width; y += stripe->width)
    {
      cairo_move_to (cr, stripe->x, stripe->y + y);
      cairo_rel_line_to (cr, stripe->width, -stripe->width);
    }
  cairo_stroke (cr);
  cairo_destroy (cr);
}

static void
paint_stripe (AdjPainter *painter,
              const AdjSceneBox *box,
              const AdjRect *rect,
              float radius,
              const AdjPalette *palette)
{
  AdjRect stripe = { rect->x, rect->y, ADJ_STRIPE_WIDTH * painter->frame->camera.zoom,
                     rect->height };
  GskRoundedRect outline;

  if (!adj_role_has_stripe (box->role))
    return;
  gsk_rounded_rect_init_from_rect (
      &outline, &GRAPHENE_RECT_INIT (rect->x, rect->y, rect->width, rect->height), radius);
  gtk_snapshot_push_rounded_clip (painter->snapshot, &outline);
  if (adj_role_is_hatched (box->role))
    paint_hatching (painter, &stripe, &palette->roles[box->role]);
  else
    adj_painter_fill (painter, &stripe, 0, &palette->roles[box->role]);
  gtk_snapshot_pop (painter->snapshot);
}

/* -- signs -- */

static float
sign_scale (const AdjPainter *painter)
{
  return MAX (painter->frame->camera.zoom, SIGN_LEAST);
}

/* A disc, or a pill for two letters; @right and @middle in pixels.  Returns its width. */
static float
paint_sign (AdjPainter *painter,
            const char *sign,
            float right,
            float middle,
            const AdjColor *fill,
            const AdjColor *text)
{
  float scale = sign_scale (painter), size = SIGN_SIZE * scale;
  float letters = adj_painter_text_width (painter, ADJ_TEXT_SIGN, sign);
  float width = MAX (size, (letters + 8) * scale);
  AdjRect disc = { right - width, middle - size / 2, width, size };

  adj_painter_fill (painter, &disc, size / 2, fill);
  adj_painter_text (painter, &(AdjTextRun){ ADJ_TEXT_SIGN, sign, text, ADJ_ALIGN_CENTER,
                                            right - width / 2, middle, width, scale });
  return width;
}

/* Frames the first difference, outside of the selection frame, with a label at its side, since
 * other cards are above and below. */
static void
paint_first (AdjPainter *painter, const AdjRect *rect, const AdjColor *color)
{
  float zoom = MAX (painter->frame->camera.zoom, 1);
  const char *text = _ ("◂ first difference");
  float width = adj_painter_text_width (painter, ADJ_TEXT_CHIP, text) * zoom + 12;
  AdjRect ring = grown (rect, 7);
  AdjRect plate = { rect->x + rect->width + 11, rect->y - 7, width, 16 * zoom };

  adj_painter_frame (painter, &ring, ADJ_CARD_RADIUS * painter->frame->camera.zoom + 6, 2.5f,
                     color);
  adj_painter_fill (painter, &plate, 4, &painter->lit.group);
  adj_painter_text (painter,
                    &(AdjTextRun){ ADJ_TEXT_CHIP, text, color, ADJ_ALIGN_CENTER,
                                   plate.x + width / 2, plate.y + plate.height / 2, 1000, zoom });
}

void
adj_painter_mark (AdjPainter *painter, guint index, const AdjRect *rect)
{
  const AdjMarks *marks = painter->frame->marks;
  float zoom = painter->frame->camera.zoom;
  AdjVerdict verdict;
  GdkRGBA rgba;
  AdjColor color;

  if (marks == NULL || !adj_marks_get (marks, index, &verdict))
    return;
  rgba = adj_verdict_color (verdict, painter->frame->scheme);
  color = (AdjColor){ rgba.red, rgba.green, rgba.blue, 1 };
  if (painter->lod < ADJ_LOD_NAMES)
    {
      AdjRect dot = { rect->x + rect->width * 0.7f, rect->y, rect->width * 0.3f, rect->height };

      adj_painter_fill (painter, &dot, 0, &color);
    }
  else
    {
      AdjRect pill = { rect->x + rect->width - 24 * zoom, rect->y + rect->height - 14 * zoom,
                       19 * zoom, 10 * zoom };

      adj_painter_fill (painter, &pill, 3 * zoom, &color);
      adj_painter_text (painter, &(AdjTextRun){ ADJ_TEXT_SIGN, adj_verdict_sign (verdict),
                                                &painter->lit.sign_text, ADJ_ALIGN_CENTER,
                                                pill.x + pill.width / 2, pill.y + pill.height / 2,
                                                pill.width, zoom });
    }
  if (adj_marks_get_first (marks) == index)
    paint_first (painter, rect, &color);
}

/* Paints the change at the corner: + added by the stage, − removed by the next, ~ changed. */
static void
paint_change (AdjPainter *painter, const AdjSceneBox *box, const AdjRect *rect)
{
  gsize n = 0;
  const guint8 *kinds =
      painter->frame->changes != NULL ? g_bytes_get_data (painter->frame->changes, &n) : NULL;
  guint8 kind = box->node.index < n ? kinds[box->node.index] : ADJ_CHANGE_NONE;

  if (kind == ADJ_CHANGE_NONE || painter->lod < ADJ_LOD_NAMES)
    return;
  paint_sign (painter,
              kind == ADJ_CHANGE_ADDED     ? "+"
              : kind == ADJ_CHANGE_REMOVED ? "−"
                                           : "~",
              rect->x + SIGN_SIZE * sign_scale (painter) / 2, rect->y, &painter->lit.selection,
              &painter->lit.sign_text);
}

/* -- texts -- */

/* The text of the second line: the number of the tint, the difference while there are marks, else
 * the shape. */
static char *
get_second_line (AdjPainter *painter, guint index, const AdjSceneBox *box)
{
  const AdjMarks *marks = painter->frame->marks;
  const AdjHeat *heat = painter->frame->heat;
  double max_abs = marks != NULL ? adj_marks_get_max_abs (marks, index) : NAN;
  g_autofree char *number = NULL;

  if (heat != NULL && adj_heat_get_text (heat, index) != NULL)
    return g_strdup (adj_heat_get_text (heat, index));
  if (isnan (max_abs))
    return g_strdup (box->subtitle);
  number = adj_properties_number (max_abs);
  return g_strdup_printf ("max |Δ| %s", number);
}

/* The scale of text: when zoomed out it stays readable as far as the box has room; where that is
 * not enough it keeps the smallest readable scale and is cut. */
static float
text_scale (AdjPainter *painter, AdjTextStyle style, const char *text, float width, float height)
{
  float zoom = painter->frame->camera.zoom, scale = READABLE, least;

  if (zoom >= READABLE || *text == '\0')
    return zoom;
  scale = MIN (scale, height * 0.9f / LINE_SIZE);
  least = MIN (scale, LEAST);
  scale = MIN (scale, SQUEEZE * width / MAX (adj_painter_text_width (painter, style, text), 1));
  return MAX (scale, MAX (zoom, least));
}

static void
paint_card_text (
    AdjPainter *painter, guint index, const AdjRect *rect, float right, const AdjPalette *palette)
{
  const AdjSceneBox *box = adj_scene_get_box (painter->frame->scene, index);
  g_autofree char *second = get_second_line (painter, index, box);
  float zoom = painter->frame->camera.zoom, left = rect->x + PADDING * zoom;
  gboolean two = painter->lod == ADJ_LOD_FULL && *second != '\0';
  g_autofree char *alone = adj_painter_title (painter, box, (right - left) * SQUEEZE / READABLE);
  float bottom = rect->x + rect->width - (painter->frame->marks != NULL ? 26 : 6) * zoom;
  AdjTextRun title = {
    box->role == ADJ_ROLE_RECOMPUTE_COPY ? ADJ_TEXT_TITLE_PLAIN : ADJ_TEXT_TITLE,
    two ? box->title : alone,
    &palette->text,
    ADJ_ALIGN_LEFT,
    left,
    rect->y + (two ? rect->height * 0.34f : rect->height / 2),
    right - left - 2 * zoom,
    zoom,
  };
  /* Dim text could not be read on a tint. */
  gboolean tinted = painter->frame->heat != NULL && palette == &painter->lit;
  AdjTextRun subtitle = { ADJ_TEXT_SUBTITLE, second, tinted ? &palette->text : &palette->dim_text,
                          ADJ_ALIGN_LEFT,    left,   rect->y + rect->height * 0.72f,
                          bottom - left,     zoom };

  if (!two && painter->frame->marks != NULL)
    title.max_width = MIN (title.max_width, bottom - left);
  if (!two)
    title.scale = text_scale (painter, title.style, alone, title.max_width, rect->height);
  adj_painter_text (painter, &title);
  if (two)
    adj_painter_text (painter, &subtitle);
}

static void
paint_centered (AdjPainter *painter,
                const AdjSceneBox *box,
                const AdjRect *rect,
                AdjTextStyle style,
                const AdjColor *color)
{
  float width = rect->width - 6 * painter->frame->camera.zoom;
  AdjTextRun run = { style,
                     box->title,
                     color,
                     ADJ_ALIGN_CENTER,
                     rect->x + rect->width / 2,
                     rect->y + rect->height / 2,
                     width,
                     text_scale (painter, style, box->title, width, rect->height) };

  adj_painter_text (painter, &run);
}

/* -- boxes -- */

/* The neutral fill, or the tint of its number; boxes that are not highlighted stay pale. */
AdjColor
adj_painter_card_fill (const AdjPainter *painter, guint index)
{
  const AdjSceneFrame *frame = painter->frame;
  const AdjSceneBox *box = adj_scene_get_box (frame->scene, index);
  const AdjPalette *palette = adj_painter_palette_for_box (painter, index);

  if (frame->heat != NULL && box->kind != ADJ_BOX_BRIDGE &&
      adj_heat_get_text (frame->heat, index) != NULL && palette == &painter->lit)
    return adj_heat_color (adj_heat_get_share (frame->heat, index), frame->scheme);
  if (box->kind == ADJ_BOX_GROUP)
    return palette->group;
  return box->role == ADJ_ROLE_RECOMPUTE_COPY ? palette->copy_fill : palette->card;
}

/* Paints the sign in the card or, zoomed out, on its corner, which leaves room for the name.
 * Returns the width that it takes. */
static float
paint_role (AdjPainter *painter,
            const AdjSceneBox *box,
            const char *sign,
            const AdjRect *rect,
            const AdjPalette *palette)
{
  float zoom = painter->frame->camera.zoom, size = SIGN_SIZE * sign_scale (painter);
  gboolean outside = zoom < SIGN_LEAST;
  float right = rect->x + rect->width + (outside ? size / 2 : -5 * zoom);
  float middle = rect->y + (outside ? 0 : 3 * zoom + size / 2);
  float width =
      paint_sign (painter, sign, right, middle, &palette->roles[box->role], &palette->sign_text);

  return outside ? width - size / 2 : width;
}

static void
paint_card (AdjPainter *painter, guint index, const AdjRect *rect, const AdjPalette *palette)
{
  const AdjSceneBox *box = adj_scene_get_box (painter->frame->scene, index);
  float zoom = painter->frame->camera.zoom;
  float radius = box->kind == ADJ_BOX_PILL ? rect->height / 2 : ADJ_CARD_RADIUS * zoom;
  float right = rect->x + rect->width - 6 * zoom;
  const char *sign = adj_role_sign (box->role);
  AdjColor fill = adj_painter_card_fill (painter, index);

  if (box->object)
    adj_painter_object (painter, box, rect, &fill, palette);
  else
    {
      adj_painter_fill (painter, rect, radius, &fill);
      paint_stripe (painter, box, rect, radius, palette);
      paint_frame (painter, box, rect, radius, palette);
    }
  if (*sign != '\0' && box->kind == ADJ_BOX_NODE)
    right -= paint_role (painter, box, sign, rect, palette);
  if (box->kind == ADJ_BOX_PILL)
    paint_centered (painter, box, rect, ADJ_TEXT_TITLE, &palette->text);
  else
    paint_card_text (painter, index, rect, right, palette);
}

/* The short line between a chip and its card. */
static void
paint_stick (AdjPainter *painter,
             const AdjSceneBox *box,
             const AdjRect *rect,
             const AdjColor *color)
{
  AdjRect card, line;

  if (box->anchor == ADJ_NO_BOX)
    return;
  card = adj_painter_find (painter, box->anchor);
  line = (AdjRect){ rect->x + rect->width, rect->y + rect->height / 2, 0, 1 };
  if (rect->x > card.x)
    line.x = card.x + card.width;
  line.width = rect->x > card.x ? rect->x - line.x : card.x - line.x;
  if (line.width <= 0)
    return;
  line = adj_painter_snap (painter, &line);
  adj_painter_fill (painter, &line, 0, color);
}

static void
paint_chip (AdjPainter *painter,
            const AdjSceneBox *box,
            const AdjRect *rect,
            const AdjPalette *palette)
{
  float zoom = painter->frame->camera.zoom;
  const AdjColor *color = &palette->roles[box->role];
  const AdjColor *fill = &palette->card;

  if (box->role == ADJ_ROLE_PARAMETER)
    fill = &palette->chip_fill;
  else if (box->role == ADJ_ROLE_SAVED)
    fill = &palette->bridge_fill;
  paint_stick (painter, box, rect, color);
  adj_painter_fill (painter, rect, 4 * zoom, fill);
  adj_painter_frame (painter, rect, 4 * zoom, MAX (palette->frame_width * zoom, 1), color);
  if (painter->lod == ADJ_LOD_FULL)
    paint_centered (painter, box, rect, ADJ_TEXT_CHIP,
                    box->role == ADJ_ROLE_NONE ? &palette->dim_text : color);
}

static void
paint_bridge (AdjPainter *painter,
              const AdjSceneBox *box,
              const AdjRect *rect,
              const AdjPalette *palette)
{
  gboolean spared = box->role == ADJ_ROLE_RECOMPUTED || box->role == ADJ_ROLE_MUST_RECOMPUTE ||
                    box->role == ADJ_ROLE_RECOMPUTE_COPY;
  const AdjColor *color =
      spared ? &palette->edges[ADJ_EDGE_RECOMPUTE] : &palette->edges[ADJ_EDGE_BRIDGE];
  float width = MAX (palette->frame_width * MIN (painter->frame->camera.zoom, 1.5f), 1) * 1.2f;

  adj_painter_fill (painter, rect, rect->height / 2,
                    spared ? &palette->copy_fill : &palette->bridge_fill);
  if (spared)
    adj_painter_dashes (painter, rect, rect->height / 2, width, dashes, color);
  else
    adj_painter_frame (painter, rect, rect->height / 2, width, color);
  paint_centered (painter, box, rect, ADJ_TEXT_CHIP, color);
}

/* Zoomed out: a shape in the colour of its role, with its name where that is readable. */
static void
paint_plain (AdjPainter *painter, guint index, const AdjRect *rect, const AdjPalette *palette)
{
  const AdjSceneBox *box = adj_scene_get_box (painter->frame->scene, index);
  AdjColor fill = adj_painter_card_fill (painter, index);
  AdjRect stripe = { rect->x, rect->y, MAX (rect->width * 0.06f, 1.5f), rect->height };
  const AdjColor *color = &palette->roles[box->role];

  if (box->kind == ADJ_BOX_BRIDGE)
    color = &palette->edges[ADJ_EDGE_BRIDGE];
  if (painter->lod == ADJ_LOD_TEXTURE)
    {
      adj_painter_fill (painter, rect, 0, painter->frame->heat != NULL ? &fill : color);
      return;
    }
  adj_painter_fill (painter, rect, 0, &fill);
  adj_painter_frame (painter, rect, 0, 1, color);
  if (adj_role_has_stripe (box->role))
    adj_painter_fill (painter, &stripe, 0, color);
}

/* The names of plain shapes, painted above all of them. */
void
adj_painter_plain_name (AdjPainter *painter, guint index)
{
  const AdjPalette *palette = adj_painter_palette_for_box (painter, index);
  AdjRect rect = adj_painter_find (painter, index);

  if (!adj_painter_name (painter, index, &rect))
    paint_centered (painter, adj_scene_get_box (painter->frame->scene, index), &rect,
                    ADJ_TEXT_TITLE, &palette->text);
}

void
adj_painter_box (AdjPainter *painter, guint index)
{
  const AdjSceneFrame *frame = painter->frame;
  const AdjSceneBox *box = adj_scene_get_box (frame->scene, index);
  const AdjPalette *palette = adj_painter_palette_for_box (painter, index);
  AdjRect rect = adj_painter_find (painter, index), ring = grown (&rect, 3);
  float zoom = frame->camera.zoom;

  if (painter->lod == ADJ_LOD_TEXTURE && box->kind == ADJ_BOX_CHIP)
    return;
  if (box->kind == ADJ_BOX_BRIDGE && rect.height >= 6)
    paint_bridge (painter, box, &rect, palette);
  else if (painter->lod <= ADJ_LOD_MODULES)
    paint_plain (painter, index, &rect, palette);
  else if (box->kind == ADJ_BOX_CHIP)
    paint_chip (painter, box, &rect, palette);
  else
    paint_card (painter, index, &rect, palette);

  if (box->kind == ADJ_BOX_NODE || box->kind == ADJ_BOX_PILL)
    {
      adj_painter_mark (painter, index, &rect);
      paint_change (painter, box, &rect);
    }
  if (index == frame->selected ||
      (frame->highlight != NULL && adj_highlight_has_chosen (frame->highlight, index)))
    adj_painter_frame (painter, &ring, ADJ_CARD_RADIUS * zoom + 3, 2.5f, &painter->lit.selection);
  else if (index == frame->hovered)
    adj_painter_frame (painter, &rect, ADJ_CARD_RADIUS * zoom, 2, &painter->lit.selection);
}
