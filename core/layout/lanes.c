/* SPDX-License-Identifier: MIT */
/* Lanes: vertical pieces of lines at the outer side of the blocks that they pass.  A short line
 * runs close by, within the frames, a long one outside of the column. */

#include <stdlib.h>

#include "layout/adj-tracks.h"
#include "layout/mirror-private.h"
#include "scene/adj-font.h"

#define LANE_DISTANCE 9.0f
#define LANE_MARGIN 12.0f
#define FAR 48             /* zones; a line through more of them runs outside */
#define TITLE_ROOM 36.0f   /* of the arrow before a frame's title, and of the space behind it */
#define COUNT_WIDTH 100.0f /* of the number of nodes at the right of a title */

/* Places counted outwards, to the left in forward and to the right in backward, from the inner
 * border of the column. */
typedef struct
{
  float low, high;
} Taken;

typedef struct
{
  const Mirror *mirror;
  guint side;
  float width;     /* of the column */
  float *blocks;   /* of each row: the outer border of its block */
  GArray **titles; /* of each row: of Taken, by titles of frames that begin there; or NULL */
  GArray **lanes;  /* of each zone: of Taken; or NULL */
} Lanes;

static float
to_x (const Lanes *self, float outwards)
{
  return self->side == 0 ? self->width - outwards : outwards;
}

static void
take (GArray **where, float low, float high)
{
  Taken taken = { low, high };

  if (!*where)
    *where = g_array_new (FALSE, FALSE, sizeof (Taken));
  g_array_append_val (*where, taken);
}

static void
append_taken (GArray *to, const GArray *from)
{
  if (from)
    g_array_append_vals (to, from->data, from->len);
}

/* A title stands at the left of its frame and the number of nodes at the right. */
static void
take_titles (Lanes *self)
{
  const Mirror *m = self->mirror;

  for (guint f = 0; f < m->frames->len; f++)
    {
      const Frame *frame = &g_array_index (m->frames, Frame, f);
      const AdjRowsModule *module = adj_rows_module (m->rows, frame->module);
      float inset = 0, width = COUNT_WIDTH;

      for (guint32 up = frame->parent; up != ADJ_NO_BOX;
           up = g_array_index (m->frames, Frame, up).parent)
        inset += FRAME_PADDING;
      if (self->side == 0)
        width = TITLE_ROOM + adj_font_measure (ADJ_FONT_BOLD, ADJ_TITLE_SIZE, module->path) +
                adj_font_measure (ADJ_FONT_BOLD, ADJ_TITLE_SIZE, module->class);
      take (&self->titles[frame->first_row], self->width - inset - width, self->width - inset);
    }
}

static int
by_low (const void *a, const void *b)
{
  const Taken *x = a, *y = b;

  return (x->low > y->low) - (x->low < y->low);
}

/* The place nearest to the blocks between two zones that is free. */
static float
find_place (const Lanes *self, const MirrorLane *lane)
{
  g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (Taken));
  float at = 0;

  for (guint row = lane->low; row < lane->high; row++)
    {
      at = MAX (at, self->blocks[row]);
      append_taken (taken, self->titles[row]);
    }
  at += LANE_MARGIN;
  for (guint zone = lane->low; zone <= lane->high; zone++)
    append_taken (taken, self->lanes[zone]);
  g_array_sort (taken, by_low);
  for (guint i = 0; i < taken->len; i++)
    {
      const Taken *t = &g_array_index (taken, Taken, i);

      if (at > t->low - LANE_DISTANCE && at < t->high + LANE_DISTANCE)
        at = t->high + LANE_DISTANCE;
    }
  return at;
}

/* Returns the greatest distance used. */
static float
place_near (Lanes *self, MirrorLane *lanes, guint n)
{
  float farthest = self->width;

  for (guint length = 1; length <= FAR; length++)
    for (guint i = 0; i < n; i++)
      if (lanes[i].high - lanes[i].low == length)
        {
          float at = find_place (self, &lanes[i]);

          for (guint zone = lanes[i].low; zone <= lanes[i].high; zone++)
            take (&self->lanes[zone], at, at);
          lanes[i].x = to_x (self, at);
          farthest = MAX (farthest, at);
        }
  return farthest;
}

static void
place_far (Lanes *self, MirrorLane *lanes, guint n, float from)
{
  g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (AdjTrackSpan));
  guint at = 0;

  for (guint i = 0; i < n; i++)
    {
      AdjTrackSpan span = { (float) lanes[i].low, (float) lanes[i].high, i, 0 };

      if (lanes[i].high - lanes[i].low > FAR)
        g_array_append_val (spans, span);
    }
  adj_tracks_assign ((AdjTrackSpan *) (gpointer) spans->data, spans->len, 0.5f);
  for (guint i = 0; i < n; i++)
    if (lanes[i].high - lanes[i].low > FAR)
      lanes[i].x =
          to_x (self, from + LANE_MARGIN +
                          LANE_DISTANCE * (float) g_array_index (spans, AdjTrackSpan, at++).track);
}

void
mirror_place_lanes (const Mirror *self, guint side, MirrorLane *lanes, guint n)
{
  Lanes places = { .mirror = self,
                   .side = side,
                   .width = self->columns[side].right - self->columns[side].left,
                   .blocks = g_new0 (float, self->n_rows + 1),
                   .titles = g_new0 (GArray *, self->n_rows + 1),
                   .lanes = g_new0 (GArray *, self->n_rows + 1) };

  for (guint32 row = 0; row < self->n_rows; row++)
    {
      const Block *block = &self->blocks[2 * row + side];

      if (block->n_items)
        places.blocks[row] =
            side == 0 ? places.width - block->x : block->x + block->template->width;
    }
  take_titles (&places);
  place_far (&places, lanes, n, place_near (&places, lanes, n));
  for (guint zone = 0; zone <= self->n_rows; zone++)
    {
      g_clear_pointer (&places.titles[zone], g_array_unref);
      g_clear_pointer (&places.lanes[zone], g_array_unref);
    }
  g_free (places.titles);
  g_free (places.lanes);
  g_free (places.blocks);
}
