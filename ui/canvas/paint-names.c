/* SPDX-License-Identifier: MIT */
/* Paints names of cards that are too small for them, beyond the card where nothing else is.  Which
 * names are painted depends only on the picture and the zoom, so that none change on scrolling. */

#include <string.h>

#include "canvas/painter-private.h"

#define LINE_HEIGHT 16.5f /* of letters at scale 1 */
#define PITCH 48.0f       /* from card to card of a chain, in the scene */
#define LARGEST 0.8f      /* scale of the letters */
#define SMALLEST 0.6f     /* … below it names could not be read */
#define REACH 130.0f      /* pixels from the middle of a card to the end of the longest name */

typedef struct
{
  AdjPainter *painter;
  guint index;
  float scale;
  AdjRect plate;
  gboolean is_free;
} Place;

static gboolean
overlap (const AdjRect *a, const AdjRect *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
         b->y < a->y + a->height;
}

static gboolean
has_name (const AdjSceneBox *box)
{
  return (box->kind == ADJ_BOX_NODE || box->kind == ADJ_BOX_PILL) && *box->title != '\0';
}

char *
adj_painter_title (AdjPainter *painter, const AdjSceneBox *box, float width)
{
  const char *dot = strstr (box->subtitle, " · ");
  g_autofree char *call = dot != NULL && box->kind == ADJ_BOX_NODE && !box->object
                              ? g_strndup (box->subtitle, (gsize) (dot - box->subtitle))
                              : NULL;
  g_autofree char *both = NULL;

  if (call == NULL || strchr (call, ' ') != NULL)
    return g_strdup (box->title);
  both = g_strdup_printf ("%s · %s", box->title, call);
  if (width > 0 && adj_painter_text_width (painter, ADJ_TEXT_TITLE, both) > width)
    return g_strdup (box->title);
  return g_steal_pointer (&both);
}

/* The place of the name of a box. */
static AdjRect
get_plate (AdjPainter *painter, const AdjSceneBox *box, const AdjRect *rect, float scale)
{
  g_autofree char *title = adj_painter_title (painter, box, 0);
  float width = adj_painter_text_width (painter, ADJ_TEXT_TITLE, title) * scale + 8;
  float height = LINE_HEIGHT * scale;

  return (AdjRect){ rect->x + rect->width / 2 - width / 2, rect->y + rect->height / 2 - height / 2,
                    width, height };
}

/* Cards have precedence over names, and earlier cards over later ones. */
static gboolean
look_at (guint index, gpointer data)
{
  Place *place = data;
  AdjPainter *painter = place->painter;
  const AdjSceneBox *box = adj_scene_get_box (painter->frame->scene, index);
  AdjRect rect, plate;

  if (index == place->index || !has_name (box))
    return TRUE;
  rect = adj_camera_rect_to_widget (&painter->frame->camera, &box->rect);
  plate = index < place->index ? get_plate (painter, box, &rect, place->scale) : rect;
  place->is_free = !overlap (&place->plate, &rect) && !overlap (&place->plate, &plate);
  return place->is_free;
}

static gboolean
find_place (AdjPainter *painter, guint index, const AdjRect *rect, Place *place)
{
  const AdjSceneBox *box = adj_scene_get_box (painter->frame->scene, index);
  const AdjCamera *camera = &painter->frame->camera;
  float scale = MIN (LARGEST, PITCH * camera->zoom / LINE_HEIGHT);
  AdjPoint corner;
  AdjRect around;

  if (scale < SMALLEST)
    return FALSE;
  *place = (Place){ painter, index, scale, get_plate (painter, box, rect, scale), TRUE };
  corner = adj_camera_to_scene (camera, place->plate.x - REACH, place->plate.y);
  around = (AdjRect){ corner.x, corner.y, (place->plate.width + 2 * REACH) / camera->zoom,
                      place->plate.height / camera->zoom };
  adj_scene_foreach_box (painter->frame->scene, &around, look_at, place);
  return place->is_free;
}

gboolean
adj_painter_name (AdjPainter *painter, guint index, const AdjRect *rect)
{
  const AdjSceneBox *box = adj_scene_get_box (painter->frame->scene, index);
  const AdjPalette *palette = adj_painter_palette_for_box (painter, index);
  AdjColor fill = adj_painter_card_fill (painter, index);
  g_autofree char *title = adj_painter_title (painter, box, 0);
  Place place;

  if (!has_name (box) || !find_place (painter, index, rect, &place))
    return FALSE;
  place.plate = adj_painter_snap (painter, &place.plate);
  adj_painter_fill (painter, &place.plate, 2, &fill);
  adj_painter_frame (painter, &place.plate, 2, 1, &palette->roles[box->role]);
  adj_painter_text (painter, &(AdjTextRun){ ADJ_TEXT_TITLE, title, &palette->text, ADJ_ALIGN_CENTER,
                                            place.plate.x + place.plate.width / 2,
                                            place.plate.y + place.plate.height / 2,
                                            place.plate.width, place.scale });
  return TRUE;
}
