/* SPDX-License-Identifier: MIT */
/* Lanes: vertical pieces of lines at the outer side of the blocks that they pass, or at the inner
 * one where that makes them much shorter.  A short line passes close by, in the frames; one that
 * goes far runs outside of the column. */

#include <math.h>
#include <stdlib.h>

#include "layout/adj-tracks.h"
#include "layout/mirror-private.h"
#include "scene/adj-font.h"

#define LANE_DISTANCE 9.0f
#define LANE_MARGIN 12.0f
#define BRIDGE_COST 120.0f /* of a bridge that a lane at the inner side crosses, as length */
#define FAR 48             /* zones; a line through more runs outside */
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
  float width;          /* of the column */
  float *outer, *inner; /* of each row: the borders of its block */
  guint *bridges;       /* of each row: lines of its block that cross the gutter */
  GArray **titles;      /* of each row: of Taken, by titles of frames that begin there; or NULL */
  GArray **lanes;       /* of each zone: of Taken; or NULL */
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
      float inset = 0, widths[2] = { COUNT_WIDTH, COUNT_WIDTH };

      for (guint32 up = frame->parent; up != ADJ_NO_BOX;
           up = g_array_index (m->frames, Frame, up).parent)
        inset += FRAME_PADDING;
      widths[self->side] = TITLE_ROOM +
                           adj_font_measure (ADJ_FONT_BOLD, ADJ_TITLE_SIZE, module->path) +
                           adj_font_measure (ADJ_FONT_BOLD, ADJ_TITLE_SIZE, module->class);
      take (&self->titles[frame->first_row], self->width - inset - widths[0], self->width - inset);
      take (&self->titles[frame->first_row], inset, inset + widths[1]);
    }
}

static int
by_low (const void *a, const void *b)
{
  const Taken *x = a, *y = b;

  return (x->low > y->low) - (x->low < y->low);
}

/* What titles and other lanes take between two zones, inner before outer. */
static GArray *
list_taken (const Lanes *self, const MirrorLane *lane)
{
  GArray *taken = g_array_new (FALSE, FALSE, sizeof (Taken));

  for (guint row = lane->low; row < lane->high; row++)
    append_taken (taken, self->titles[row]);
  for (guint zone = lane->low; zone <= lane->high; zone++)
    append_taken (taken, self->lanes[zone]);
  g_array_sort (taken, by_low);
  return taken;
}

static gboolean
is_taken (const Taken *by, float at)
{
  return at > by->low - LANE_DISTANCE && at < by->high + LANE_DISTANCE;
}

/* The nearest free place at the outer side of the blocks between two zones. */
static float
find_outer_place (const Lanes *self, const MirrorLane *lane, const GArray *taken)
{
  float at = 0;

  for (guint row = lane->low; row < lane->high; row++)
    at = MAX (at, self->outer[row]);
  at += LANE_MARGIN;
  for (guint i = 0; i < taken->len; i++)
    {
      const Taken *t = &g_array_index (taken, Taken, i);

      if (is_taken (t, at))
        at = t->high + LANE_DISTANCE;
    }
  return at;
}

/* The same at the inner side; below 0 beyond the column. */
static float
find_inner_place (const Lanes *self, const MirrorLane *lane, const GArray *taken)
{
  float at = self->width;

  for (guint row = lane->low; row < lane->high; row++)
    at = MIN (at, self->inner[row]);
  at -= LANE_MARGIN;
  for (guint i = taken->len; i-- > 0;)
    {
      const Taken *t = &g_array_index (taken, Taken, i);

      if (is_taken (t, at))
        at = t->low - LANE_DISTANCE;
    }
  return at;
}

static float
get_length (const Lanes *self, const MirrorLane *lane, float at)
{
  float x = to_x (self, at);

  return fabsf (x - lane->left) + fabsf (x - lane->right);
}

static float
find_place (const Lanes *self, const MirrorLane *lane)
{
  g_autoptr (GArray) taken = list_taken (self, lane);
  float outer = find_outer_place (self, lane, taken), inner = find_inner_place (self, lane, taken);
  guint n_bridges = 0;

  for (guint row = lane->low; row < lane->high; row++)
    n_bridges += self->bridges[row];
  return get_length (self, lane, inner) + BRIDGE_COST * (float) n_bridges <
                 get_length (self, lane, outer)
             ? inner
             : outer;
}

/* Returns how far out they reach. */
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
mirror_place_lanes (Mirror *self, guint side, MirrorLane *lanes, guint n)
{
  Lanes places = { .mirror = self,
                   .side = side,
                   .width = self->columns[side].right - self->columns[side].left,
                   .outer = g_new0 (float, self->n_rows + 1),
                   .inner = g_new (float, self->n_rows + 1),
                   .bridges = g_new0 (guint, self->n_rows + 1),
                   .titles = g_new0 (GArray *, self->n_rows + 1),
                   .lanes = g_new0 (GArray *, self->n_rows + 1) };

  for (guint32 row = 0; row < self->n_rows; row++)
    {
      const Block *block = &self->blocks[2 * row + side];

      float ends[2] = { block->x, block->x + block->template->width };

      places.inner[row] = places.width;
      if (block->n_items == 0)
        continue;
      places.outer[row] = side == 0 ? places.width - ends[0] : ends[1];
      places.inner[row] = side == 0 ? places.width - ends[1] : ends[0];
      places.bridges[row] = block->pins->len;
    }
  take_titles (&places);
  place_far (&places, lanes, n, place_near (&places, lanes, n));
  for (guint i = 0; i < n; i++)
    self->inner_lanes[side] =
        MAX (self->inner_lanes[side], side == 0 ? lanes[i].x - places.width : -lanes[i].x);
  for (guint zone = 0; zone <= self->n_rows; zone++)
    {
      g_clear_pointer (&places.titles[zone], g_array_unref);
      g_clear_pointer (&places.lanes[zone], g_array_unref);
    }
  g_free (places.titles);
  g_free (places.lanes);
  g_free (places.outer);
  g_free (places.inner);
  g_free (places.bridges);
}
