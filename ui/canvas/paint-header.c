/* SPDX-License-Identifier: MIT */
/* Paints the titles of columns, which stay in view while their column is: above the upper edge they
 * are painted in a bar, so that nothing is half covered. */

#include "canvas/painter-private.h"

#define MAX_HEADERS 3
#define LINE 15.0f /* the middle of the first line of the bar */

typedef struct
{
  const AdjSceneBox *box;
  float x, y, width, scale;
  gboolean has_bytes; /* a second line */
} Header;

static float
header_width (AdjPainter *painter, const AdjSceneBox *box, float scale)
{
  float title = adj_painter_text_width (painter, ADJ_TEXT_HEADER, box->title);
  float subtitle = adj_painter_text_width (painter, ADJ_TEXT_CHIP, box->subtitle);

  return MAX (title, subtitle * 1.1f) * scale + 20;
}

/* %FALSE: its column is out of view, or much too narrow for it. */
static gboolean
place_header (AdjPainter *painter, const AdjSceneBox *box, Header *header)
{
  const AdjSceneFrame *frame = painter->frame;
  AdjRect rect = adj_camera_rect_to_widget (&frame->camera, &box->rect);
  float zoom = frame->camera.zoom, scale = CLAMP (zoom, 0.85f, 1.1f);
  float width = header_width (painter, box, scale);

  *header = (Header){ .box = box, .width = width, .scale = scale };
  header->has_bytes = box->side == ADJ_SIDE_NONE && *box->subtitle != '\0';
  header->x = CLAMP (rect.x + rect.width / 2, width / 2 + 4, frame->width - width / 2 - 4);
  /* It does not shrink with the picture, and moves up to clear the first size on the band. */
  header->y = rect.y + MIN (14 * zoom, ADJ_BAND_TOP * zoom - 25);
  return rect.x <= frame->width && rect.x + rect.width >= 0 && *box->title != '\0' &&
         width <= rect.width * 2.3f;
}

/* Moves a title sideways until it is clear of @other, which stays. */
static void
keep_clear (Header *header, const Header *other)
{
  float half = (header->width + other->width) / 2;

  if (header->box->side == ADJ_SIDE_FORWARD)
    header->x = MIN (header->x, other->x - half);
  else
    header->x = MAX (header->x, other->x + half);
}

/* Keeps the title of the gutter, else that of forward, in place; titles without room beside it are
 * dropped. */
static guint
make_room (AdjPainter *painter, Header *headers, guint n)
{
  guint first = 0, kept = 0;

  for (guint i = 0; i < n; i++)
    if (headers[i].box->side == ADJ_SIDE_NONE)
      first = i;
  for (guint i = 0; i < n; i++)
    if (i != first)
      keep_clear (&headers[i], &headers[first]);
  for (guint i = 0; i < n; i++)
    if (headers[i].x - headers[i].width / 2 >= 0 &&
        headers[i].x + headers[i].width / 2 <= painter->frame->width)
      headers[kept++] = headers[i];
  return kept;
}

/* The background of the titles where the picture continues above them. */
static void
paint_bar (AdjPainter *painter, float height)
{
  AdjRect bar = { 0, 0, painter->frame->width, height };
  AdjRect edge = { 0, height, painter->frame->width, 1 };

  adj_painter_fill (painter, &bar, 0, &painter->lit.background);
  adj_painter_fill (painter, &edge, 0, &painter->lit.group_frame);
}

static void
paint_header (AdjPainter *painter, const Header *header)
{
  gboolean gutter = header->box->side == ADJ_SIDE_NONE;
  const AdjColor *color = gutter ? &painter->lit.edges[ADJ_EDGE_BRIDGE] : &painter->lit.dim_text;

  adj_painter_text (painter,
                    &(AdjTextRun){ ADJ_TEXT_HEADER, header->box->title, color, ADJ_ALIGN_CENTER,
                                   header->x, header->y, 1000, header->scale });
  if (header->has_bytes)
    adj_painter_text (painter,
                      &(AdjTextRun){ ADJ_TEXT_CHIP, header->box->subtitle, color, ADJ_ALIGN_CENTER,
                                     header->x, header->y + 16, 1000, header->scale * 1.1f });
}

void
adj_painter_headers (AdjPainter *painter)
{
  const AdjScene *scene = painter->frame->scene;
  Header headers[MAX_HEADERS];
  float bar = 0;
  guint n = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene) && n < MAX_HEADERS; i++)
    if (adj_scene_get_box (scene, i)->kind == ADJ_BOX_HEADER)
      n += place_header (painter, adj_scene_get_box (scene, i), &headers[n]);
  n = make_room (painter, headers, n);
  for (guint i = 0; i < n; i++)
    if (headers[i].y < LINE)
      {
        headers[i].y = LINE;
        bar = MAX (bar, headers[i].has_bytes ? 42 : 27);
      }
  if (bar > 0)
    paint_bar (painter, bar);
  for (guint i = 0; i < n; i++)
    paint_header (painter, &headers[i]);
}
