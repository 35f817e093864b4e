/* SPDX-License-Identifier: MIT */

/* Draws what backward reads from forward across the gutter: one line for each maker, with its size.
 */

#include <math.h>

#include "base/adj-format-bytes.h"
#include "layout/adj-tracks.h"
#include "layout/mirror-private.h"
#include "scene/adj-font.h"

#define PILL_HEIGHT 20.0f
#define PILL_DISTANCE 26.0f
#define PILL_PADDING 22.0f
#define MIN_PILL 56.0f
#define BAND_PADDING 12.0f
#define MIN_BAND 150.0f
#define LANE_DISTANCE 8.0f
#define LANE_MARGIN 14.0f
#define MAX_ORDERED 12 /* above this many lanes, crossings are not avoided */
#define STRAIGHT 0.5f
#define MAX_SLIDE 11.0f

static gboolean
crosses (const AdjDisplayList *display, guint32 l)
{
  const AdjDisplayLink *link = adj_display_link (display, l);

  return adj_display_item (display, link->from)->side != adj_display_item (display, link->to)->side;
}

static float
pin_y (const Mirror *self, guint32 item, guint32 pin)
{
  const Block *block = mirror_block_of_item (self, item);
  const AdjTemplatePath *path = &block->template->pins[pin];

  return block->y + g_array_index (block->template->points, AdjPoint, path->first).y;
}

/* Whether a line ends straight at the side of a card without another line: its end may slide. */
static gboolean
may_slide (const Block *block, guint32 pin)
{
  guint32 card = block->spec->pins[pin].card;

  for (guint p = 0; p < block->spec->n_pins; p++)
    if (p != pin && block->spec->pins[p].card == card)
      return FALSE;
  return block->template->pins[pin].n == 2;
}

float
mirror_target_y (const Mirror *self, guint32 link, float pill_y)
{
  const AdjDisplayLink *l = adj_display_link (self->display, link);
  float y = pin_y (self, l->to, self->paths[link].in);

  if (may_slide (mirror_block_of_item (self, l->to), self->paths[link].in))
    y = CLAMP (pill_y, y - MAX_SLIDE, y + MAX_SLIDE);
  return y;
}

/* Whether all that backward reads of an item is recomputed instead of saved: drawn as a thread. */
static gboolean
is_thread (const AdjDisplayList *display, const Bridge *bridge)
{
  const AdjDisplayItem *item = adj_display_item (display, bridge->item);

  return item->role == ADJ_ROLE_RECOMPUTE_COPY ||
         (item->n_read > 0 && item->n_recomputed == item->n_read) || bridge->only_copies;
}

/* "8 KiB", "12 · 3.4 MiB" of a closed module, "recompute 8 KiB" of a node to be recomputed, "not
 * saved −8 KiB" of one that has a copy. */
static char *
describe_bridge (const AdjDisplayList *display, const Bridge *bridge)
{
  const AdjDisplayItem *item = adj_display_item (display, bridge->item);
  const AdjDisplayLink *link = adj_display_link (display, bridge->first_shown);
  gint64 amount = bridge->only_copies ? display->roles->entries[link->value.index].bytes
                  : item->n_read      ? item->bytes
                                      : link->bytes;
  g_autofree char *bytes = amount < 0 ? g_strdup ("") : adj_format_bytes ((guint64) amount);
  const char *before = bridge->only_copies                                     ? "not saved −"
                       : item->n_recomputed > 0 && is_thread (display, bridge) ? "recompute "
                                                                               : "";

  return item->kind == ADJ_BOX_GROUP && !bridge->only_copies
             ? g_strdup_printf ("%s%u · %s", before, item->n_read, bytes)
             : g_strdup_printf ("%s%s", before, bytes);
}

static void
label_bridge (const AdjDisplayList *display, Bridge *bridge)
{
  const AdjDisplayItem *item = adj_display_item (display, bridge->item);
  g_autofree char *text = describe_bridge (display, bridge);

  bridge->n_values = item->n_read;
  bridge->bytes = item->bytes;
  bridge->title = adj_arena_intern (display->texts, text);
  bridge->role = is_thread (display, bridge) ? ADJ_ROLE_RECOMPUTED : ADJ_ROLE_SAVED;
  bridge->pill_width =
      MAX (MIN_PILL, adj_font_measure (ADJ_FONT_BOLD, ADJ_CHIP_TEXT_SIZE, text) + PILL_PADDING);
}

/* What crosses the gutter, by makers, with labels where shown.  (transfer full): of Bridge */
static GArray *
list_bridges (const AdjDisplayList *display)
{
  GArray *bridges = g_array_new (FALSE, FALSE, sizeof (Bridge));

  for (guint32 l = 0; l < display->links->len; l++)
    {
      const AdjDisplayLink *link = adj_display_link (display, l);
      Bridge *last = bridges->len ? &g_array_index (bridges, Bridge, bridges->len - 1) : NULL;

      if (!crosses (display, l))
        continue;
      if (!last || last->item != link->from)
        {
          Bridge fresh = {
            .item = link->from, .first_link = l, .first_shown = ADJ_NO_BOX, .only_copies = TRUE
          };

          g_array_append_val (bridges, fresh);
          last = &g_array_index (bridges, Bridge, bridges->len - 1);
        }
      last->end_link = l + 1;
      if (link->absent)
        continue;
      last->first_shown = MIN (last->first_shown, l);
      last->only_copies &= link->n_values == 0;
    }
  for (guint i = 0; i < bridges->len; i++)
    if (g_array_index (bridges, Bridge, i).first_shown != ADJ_NO_BOX)
      label_bridge (display, &g_array_index (bridges, Bridge, i));
  return bridges;
}

float
mirror_widest_bridge (const AdjDisplayList *display)
{
  g_autoptr (GArray) bridges = list_bridges (display);
  float widest = 0;

  for (guint i = 0; i < bridges->len; i++)
    widest = MAX (widest, g_array_index (bridges, Bridge, i).pill_width);
  return widest;
}

static gint
by_source (gconstpointer a, gconstpointer b)
{
  const Bridge *x = a, *y = b;

  if (x->source_y != y->source_y)
    return x->source_y < y->source_y ? -1 : 1;
  return x->item < y->item ? -1 : x->item > y->item;
}

/* A run of pills that touch each other. */
typedef struct
{
  guint first, n;
  float sum; /* of the wanted places of its pills, each as a place of the first one */
} Cluster;

/* Places pills: they keep their distance, stay below the headers and move as little as possible;
 * touching ones share the deviation. */
static void
place_pills (Mirror *self)
{
  g_autoptr (GArray) clusters = g_array_new (FALSE, FALSE, sizeof (Cluster));
  GArray *bridges = self->bridges;
  float top = self->header_y + MIRROR_HEADERS_HEIGHT + PILL_HEIGHT / 2;

  g_array_sort (bridges, by_source);
  for (guint i = 0; i < bridges->len; i++)
    {
      Cluster now = { i, 1,
                      g_array_index (bridges, Bridge, i).source_y - PILL_DISTANCE * (float) i };

      while (clusters->len)
        {
          const Cluster *last = &g_array_index (clusters, Cluster, clusters->len - 1);

          if (last->sum / (float) last->n < now.sum / (float) now.n)
            break;
          now = (Cluster){ last->first, last->n + now.n, last->sum + now.sum };
          g_array_set_size (clusters, clusters->len - 1);
        }
      g_array_append_val (clusters, now);
    }
  for (guint c = 0; c < clusters->len; c++)
    {
      const Cluster *cluster = &g_array_index (clusters, Cluster, c);

      for (guint i = cluster->first; i < cluster->first + cluster->n; i++)
        {
          Bridge *bridge = &g_array_index (bridges, Bridge, i);
          float before = PILL_DISTANCE * (float) i;

          if (cluster->n == 1)
            bridge->pill_y = MAX (bridge->source_y, top + before);
          else
            bridge->pill_y = roundf (MAX (cluster->sum / (float) cluster->n, top)) + before;
        }
    }
}

/* The vertical piece of a bridge before its pill (from the source) or behind it (to the targets);
 * %FALSE: it has none.  @down: most of it goes down. */
static gboolean
find_vertical (
    const Mirror *self, const Bridge *b, gboolean behind, AdjTrackSpan *span, gboolean *down)
{
  float from = behind ? b->pill_y : b->source_y;

  span->low = span->high = from;
  if (!behind)
    {
      span->low = MIN (from, b->pill_y);
      span->high = MAX (from, b->pill_y);
    }
  for (guint32 l = b->first_link; behind && l < b->end_link; l++)
    if (crosses (self->display, l))
      {
        span->low = MIN (span->low, mirror_target_y (self, l, b->pill_y));
        span->high = MAX (span->high, mirror_target_y (self, l, b->pill_y));
      }
  *down = span->high - from > from - span->low;
  return span->high - span->low > STRAIGHT;
}

/* Assigns lanes to those vertical pieces that go @down, or to the others, from lane @first on, so
 * that they do not cross: of two that go down the upper one is to the right, of two that go up the
 * lower one.  Returns the first lane that is free. */
static guint
assign_lanes_of_way (Mirror *self, gboolean behind, gboolean down, guint first, guint32 *lanes)
{
  g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (AdjTrackSpan));
  guint n;

  for (guint i = 0; i < self->bridges->len; i++)
    {
      AdjTrackSpan span = { .net = i };
      gboolean goes_down;

      if (!find_vertical (self, &g_array_index (self->bridges, Bridge, i), behind, &span,
                          &goes_down) ||
          goes_down != down)
        continue;
      if (down)
        span = (AdjTrackSpan){ -span.high, -span.low, i, 0 };
      g_array_append_val (spans, span);
    }
  n = adj_tracks_assign_in_order ((AdjTrackSpan *) (gpointer) spans->data, spans->len,
                                  LANE_DISTANCE, MAX_ORDERED);
  for (guint k = 0; k < spans->len; k++)
    {
      const AdjTrackSpan *span = &g_array_index (spans, AdjTrackSpan, k);

      lanes[span->net] = first + span->track;
    }
  return first + n;
}

static guint
assign_lanes (Mirror *self, gboolean behind, guint32 *lanes)
{
  guint n = assign_lanes_of_way (self, behind, TRUE, 0, lanes);

  return assign_lanes_of_way (self, behind, FALSE, n, lanes);
}

static void
shift_backward (Mirror *self, float by)
{
  self->columns[1].left += by;
  self->columns[1].right += by;
}

void
mirror_plan_gutter (Mirror *self)
{
  g_autofree guint32 *before = NULL, *behind = NULL;
  guint n_before, n_behind;
  float widest = self->display->widest_bridge, band, x;

  self->bridges = list_bridges (self->display);
  if (!self->has_side[0] || !self->has_side[1])
    {
      /* A graph in one column has no gutter. */
      self->band_left = self->band_right = 0;
      return;
    }

  for (guint i = 0; i < self->bridges->len; i++)
    {
      Bridge *bridge = &g_array_index (self->bridges, Bridge, i);

      bridge->source_y = pin_y (self, bridge->item, self->paths[bridge->first_link].out);
      widest = MAX (widest, bridge->pill_width);
    }
  place_pills (self);
  before = g_new0 (guint32, MAX (self->bridges->len, 1));
  behind = g_new0 (guint32, MAX (self->bridges->len, 1));
  n_before = assign_lanes (self, FALSE, before);
  n_behind = assign_lanes (self, TRUE, behind);

  band = MAX (MIN_BAND, widest + 2 * BAND_PADDING);
  x = self->columns[0].right + self->inner_lanes[0] + LANE_MARGIN;
  for (guint i = 0; i < self->bridges->len; i++)
    g_array_index (self->bridges, Bridge, i).left_x = x + LANE_DISTANCE * (float) before[i];
  self->band_left = x + LANE_DISTANCE * (float) n_before + (n_before ? LANE_MARGIN / 2 : 0);
  self->band_right = self->band_left + band;
  x = self->band_right + LANE_MARGIN;
  for (guint i = 0; i < self->bridges->len; i++)
    g_array_index (self->bridges, Bridge, i).right_x = x + LANE_DISTANCE * (float) behind[i];
  shift_backward (self, x + LANE_DISTANCE * (float) n_behind + LANE_MARGIN + self->inner_lanes[1]);
}
