/* SPDX-License-Identifier: MIT */
/* Paints frames and their titles. */

#include "canvas/painter-private.h"

#define READABLE_PX 10.5f /* smallest size of module titles when zoomed out */
#define NARROWEST 0.7f    /* how far title and count are squeezed to fit side by side */

void
adj_painter_group (AdjPainter *painter, guint index)
{
  const AdjSceneFrame *frame = painter->frame;
  const AdjSceneBox *box = adj_scene_get_box (frame->scene, index);
  const AdjPalette *palette = adj_painter_palette_for_box (painter, index);
  float radius = ADJ_GROUP_RADIUS * MIN (frame->camera.zoom, 1.5f);
  AdjRect rect = adj_painter_find (painter, index);
  gboolean chosen = index == frame->selected || index == frame->hovered;
  AdjColor fill = palette->group;

  if (rect.width < 2 || rect.height < 2)
    return;
  if (box->fold == ADJ_FOLD_CLOSED)
    fill = adj_painter_card_fill (painter, index);
  adj_painter_fill (painter, &rect, radius, &fill);
  adj_painter_frame (painter, &rect, radius, MAX (palette->frame_width, 1),
                     chosen ? &palette->selection : &palette->group_frame);
  if (box->fold == ADJ_FOLD_CLOSED)
    adj_painter_mark (painter, index, &rect);
}

/* Clears the ground behind a text, since lines run through frames. */
static void
clear_behind (AdjPainter *painter, float x, float y, float width, float scale, const AdjColor *fill)
{
  AdjRect behind = { x - 3 * scale, y - 8 * scale, width + 6 * scale, 16 * scale };

  adj_painter_fill (painter, &behind, 0, fill);
}

/* Titles stay readable when zoomed out, as far as the frame has room. */
static float
title_scale (AdjPainter *painter, const AdjSceneBox *box, const AdjRect *rect)
{
  float zoom = painter->frame->camera.zoom, scale = MAX (zoom, READABLE_PX / ADJ_TITLE_SIZE);
  float wanted = adj_painter_text_width (painter, ADJ_TEXT_TITLE, box->title) + 30;

  if (scale > zoom && wanted * scale > rect->width)
    scale = MAX (zoom, rect->width / wanted);
  if (scale > zoom && 16 * scale > rect->height)
    scale = MAX (zoom, rect->height / 16);
  return scale;
}

/* The number of nodes, or the number of the tint. */
static char *
describe_group (const AdjPainter *painter, guint index)
{
  const AdjSceneBox *box = adj_scene_get_box (painter->frame->scene, index);
  const char *number =
      painter->frame->heat != NULL ? adj_heat_get_text (painter->frame->heat, index) : NULL;

  if (number != NULL && box->fold == ADJ_FOLD_CLOSED)
    return g_strdup (number);
  /* The title of a frame without a name is its count already. */
  if (g_str_equal (box->title, box->subtitle))
    return g_strdup ("");
  return box->n_same > 1 ? g_strdup_printf ("same ×%u  ·  %s", box->n_same, box->subtitle)
                         : g_strdup (box->subtitle);
}

void
adj_painter_group_title (AdjPainter *painter, guint index)
{
  const AdjSceneBox *box = adj_scene_get_box (painter->frame->scene, index);
  const AdjPalette *palette = adj_painter_palette_for_box (painter, index);
  AdjRect rect = adj_painter_find (painter, index);
  AdjColor fill = painter->lit.group;
  float scale = title_scale (painter, box, &rect);
  /* A title stays in view as long as its frame is. */
  float left = MAX (rect.x + 9 * scale, 8);
  float right = MIN (rect.x + rect.width, painter->frame->width) - 10 * scale;
  float strip = ADJ_GROUP_TITLE_HEIGHT * painter->frame->camera.zoom;
  /* A title that is higher than its strip extends upwards, since cards are below. */
  float middle = box->fold == ADJ_FOLD_OPEN ? rect.y + MIN (strip / 2, strip - 7 * scale)
                                            : rect.y + rect.height / 2;
  float width = adj_painter_text_width (painter, ADJ_TEXT_TITLE, box->title) * scale;
  g_autofree char *count = describe_group (painter, index);
  float count_width = adj_painter_text_width (painter, ADJ_TEXT_SUBTITLE, count) * scale;
  float squeeze;

  if (ADJ_TITLE_SIZE * scale < 7)
    return;
  if (box->fold == ADJ_FOLD_CLOSED)
    fill = adj_painter_card_fill (painter, index);
  clear_behind (painter, left, middle, width + 13 * scale, scale, &fill);
  if (box->fold != ADJ_FOLD_NONE)
    adj_painter_text (
        painter, &(AdjTextRun){ ADJ_TEXT_SUBTITLE, box->fold == ADJ_FOLD_CLOSED ? "▸" : "▾",
                                &palette->text, ADJ_ALIGN_LEFT, left, middle, 20 * scale, scale });
  left += 13 * scale;
  squeeze = MIN (1, (right - left - 8 * scale) / MAX (width + count_width, 1));
  if (squeeze < NARROWEST)
    squeeze = 1;
  adj_painter_text (painter,
                    &(AdjTextRun){ ADJ_TEXT_TITLE, box->title, &palette->text, ADJ_ALIGN_LEFT, left,
                                   middle, MIN (right - left, width * squeeze + 1), scale });
  if (right - left < (width + count_width) * squeeze + 8 * scale - 1)
    return;
  count_width *= squeeze;
  clear_behind (painter, right - count_width, middle, count_width, scale, &fill);
  adj_painter_text (
      painter, &(AdjTextRun){ ADJ_TEXT_SUBTITLE, count,
                              painter->frame->heat != NULL ? &palette->text : &palette->dim_text,
                              ADJ_ALIGN_RIGHT, right, middle, count_width + 1, scale });
}
