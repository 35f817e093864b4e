/* SPDX-License-Identifier: MIT */

/* Lines from block to block of one column.  A line leaves its block into the zone between the rows;
 * where it goes farther than the next row it runs along a lane at the outer side of the column. */

#include <math.h>

#include "layout/adj-tracks.h"
#include "layout/mirror-private.h"

#define TRACK_DISTANCE 8.0f
#define ZONE_MARGIN 9.0f
#define MIN_ZONE 22.0f
#define LANE_DISTANCE 9.0f
#define LANE_MARGIN 12.0f
#define STRAIGHT 0.5f
#define NO_TRACK G_MAXUINT32

typedef struct
{
  guint32 item; /* the source */
  guint32 first_link, end_link;
  guint side;
  guint from, low, high; /* zones */
  gboolean has_lane;
  guint32 lane;
  float lane_x; /* from the border of the column */
} Route;

/* What one route does in one zone. */
typedef struct
{
  guint32 route;
  guint zone;
  AdjTrackSpan span;
} Crossing;

struct _MirrorRoutes
{
  GArray *routes;    /* of Route */
  GArray *crossings; /* of Crossing, by route and zone */
  guint32 *route_of; /* of each item; or NO_TRACK */
  guint *n_tracks;   /* of each zone: the larger of both sides */
  guint n_lanes[2];
};

static gboolean
is_hop (const Mirror *self, guint32 l)
{
  const AdjDisplayLink *link = adj_display_link (self->display, l);
  const Block *from = mirror_block_of_item (self, link->from);
  const Block *to = mirror_block_of_item (self, link->to);

  return from != to && from->side == to->side;
}

static guint
zone_out (const Mirror *self, guint32 item)
{
  const AdjDisplayItem *i = adj_display_item (self->display, item);

  return i->side == ADJ_SIDE_FORWARD ? i->row + 1 : i->row;
}

static guint
zone_in (const Mirror *self, guint32 item)
{
  const AdjDisplayItem *i = adj_display_item (self->display, item);

  return i->side == ADJ_SIDE_FORWARD ? i->row : i->row + 1;
}

/* x of the ports of a link, from the left border of its column. */
static float
exit_x (const Mirror *self, guint32 l)
{
  const Block *block = mirror_block_of_item (self, adj_display_link (self->display, l)->from);
  const AdjBlockGraph *graph = block->spec->graph;
  guint32 port = graph->links[self->paths[l].out][1] - graph->n_cards - graph->n_entries;

  return block->x + block->template->exits[port];
}

static float
entry_x (const Mirror *self, guint32 l)
{
  const Block *block = mirror_block_of_item (self, adj_display_link (self->display, l)->to);
  const AdjBlockGraph *graph = block->spec->graph;
  guint32 port = graph->links[self->paths[l].in][0] - graph->n_cards;

  return block->x + block->template->entries[port];
}

static void
collect_routes (Mirror *self, MirrorRoutes *routes)
{
  const AdjDisplayList *display = self->display;

  for (guint32 l = 0; l < display->links->len; l++)
    {
      const AdjDisplayLink *link = adj_display_link (display, l);
      guint in;
      Route *route;

      if (!is_hop (self, l))
        continue;
      if (routes->route_of[link->from] == NO_TRACK)
        {
          guint out = zone_out (self, link->from);
          Route fresh = { .item = link->from,
                          .first_link = l,
                          .side = adj_display_item (display, link->from)->side == ADJ_SIDE_BACKWARD,
                          .from = out,
                          .low = out,
                          .high = out };

          routes->route_of[link->from] = routes->routes->len;
          g_array_append_val (routes->routes, fresh);
        }
      route = &g_array_index (routes->routes, Route, routes->route_of[link->from]);
      in = zone_in (self, link->to);
      route->end_link = l + 1;
      route->low = MIN (route->low, in);
      route->high = MAX (route->high, in);
      route->has_lane |= in != route->from;
    }
}

static void
assign_lanes (Mirror *self, MirrorRoutes *routes, guint side)
{
  g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (AdjTrackSpan));
  guint at = 0;

  for (guint r = 0; r < routes->routes->len; r++)
    {
      const Route *route = &g_array_index (routes->routes, Route, r);
      AdjTrackSpan span = { (float) route->low, (float) route->high, r, 0 };

      if (route->side == side && route->has_lane)
        g_array_append_val (spans, span);
    }
  routes->n_lanes[side] =
      adj_tracks_assign ((AdjTrackSpan *) (gpointer) spans->data, spans->len, 0.5f);
  for (guint r = 0; r < routes->routes->len; r++)
    {
      Route *route = &g_array_index (routes->routes, Route, r);

      if (route->side == side && route->has_lane)
        {
          float away;

          route->lane = g_array_index (spans, AdjTrackSpan, at++).track;
          away = LANE_MARGIN + LANE_DISTANCE * (float) route->lane;
          route->lane_x = side == 0 ? -away : self->columns[1].right - self->columns[1].left + away;
        }
    }
}

/* The horizontal piece of a route in a zone: around its ports there and its lane. */
static void
add_crossing (Mirror *self, MirrorRoutes *routes, guint32 r, guint zone)
{
  const Route *route = &g_array_index (routes->routes, Route, r);
  Crossing crossing = { r, zone, { G_MAXFLOAT, -G_MAXFLOAT, r, 0 } };
  AdjTrackSpan *span = &crossing.span;
  gboolean leaves = route->from != zone;

  for (guint32 l = route->first_link; l < route->end_link; l++)
    if (is_hop (self, l))
      {
        if (zone_in (self, adj_display_link (self->display, l)->to) == zone)
          {
            span->low = MIN (span->low, entry_x (self, l));
            span->high = MAX (span->high, entry_x (self, l));
          }
        else
          leaves |= route->from == zone;
        if (route->from == zone)
          {
            span->low = MIN (span->low, exit_x (self, l));
            span->high = MAX (span->high, exit_x (self, l));
          }
      }
  if (span->low > span->high)
    return;
  if (leaves)
    {
      span->low = MIN (span->low, route->lane_x);
      span->high = MAX (span->high, route->lane_x);
    }
  if (span->high - span->low > STRAIGHT)
    g_array_append_val (routes->crossings, crossing);
}

static void
collect_crossings (Mirror *self, MirrorRoutes *routes)
{
  for (guint32 r = 0; r < routes->routes->len; r++)
    {
      const Route *route = &g_array_index (routes->routes, Route, r);
      g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

      g_hash_table_add (seen, GUINT_TO_POINTER (route->from));
      add_crossing (self, routes, r, route->from);
      for (guint32 l = route->first_link; l < route->end_link; l++)
        if (is_hop (self, l))
          {
            guint zone = zone_in (self, adj_display_link (self->display, l)->to);

            if (g_hash_table_add (seen, GUINT_TO_POINTER (zone)))
              add_crossing (self, routes, r, zone);
          }
    }
}

static gint
by_zone (gconstpointer a, gconstpointer b)
{
  const Crossing *x = a, *y = b;

  if (x->zone != y->zone)
    return x->zone < y->zone ? -1 : 1;
  return x->route < y->route ? -1 : x->route > y->route;
}

static void
assign_tracks (Mirror *self, MirrorRoutes *routes)
{
  GArray *all = routes->crossings;

  g_array_sort (all, by_zone);
  for (guint from = 0, to; from < all->len; from = to)
    {
      guint zone = g_array_index (all, Crossing, from).zone;

      for (to = from; to < all->len && g_array_index (all, Crossing, to).zone == zone;)
        to++;
      for (guint side = 0; side < 2; side++)
        {
          g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (AdjTrackSpan));
          guint at = 0, n;

          for (guint i = from; i < to; i++)
            {
              const Crossing *c = &g_array_index (all, Crossing, i);

              if (g_array_index (routes->routes, Route, c->route).side == side)
                g_array_append_val (spans, c->span);
            }
          n = adj_tracks_assign ((AdjTrackSpan *) (gpointer) spans->data, spans->len,
                                 TRACK_DISTANCE);
          routes->n_tracks[zone] = MAX (routes->n_tracks[zone], n);
          for (guint i = from; i < to; i++)
            {
              Crossing *c = &g_array_index (all, Crossing, i);

              if (g_array_index (routes->routes, Route, c->route).side == side)
                c->span.track = g_array_index (spans, AdjTrackSpan, at++).track;
            }
        }
    }
}

void
mirror_plan_routes (Mirror *self)
{
  MirrorRoutes *routes = g_new0 (MirrorRoutes, 1);

  self->routes = routes;
  routes->routes = g_array_new (FALSE, FALSE, sizeof (Route));
  routes->crossings = g_array_new (FALSE, FALSE, sizeof (Crossing));
  routes->n_tracks = g_new0 (guint, self->n_rows + 1);
  routes->route_of = g_new (guint32, MAX (self->display->items->len, 1));
  for (guint i = 0; i < self->display->items->len; i++)
    routes->route_of[i] = NO_TRACK;
  collect_routes (self, routes);
  for (guint side = 0; side < 2; side++)
    assign_lanes (self, routes, side);
  collect_crossings (self, routes);
  assign_tracks (self, routes);
}

void
mirror_clear_routes (Mirror *self)
{
  g_array_unref (self->routes->routes);
  g_array_unref (self->routes->crossings);
  g_free (self->routes->n_tracks);
  g_free (self->routes->route_of);
  g_free (self->routes);
}

float
mirror_zone_need (const Mirror *self, guint zone)
{
  guint n = self->routes->n_tracks[zone];

  return MAX (MIN_ZONE, 2 * ZONE_MARGIN + TRACK_DISTANCE * (float) (n ? n - 1 : 0));
}

gboolean
mirror_zone_has_tracks (const Mirror *self, guint zone)
{
  return self->routes->n_tracks[zone] > 0;
}

/* The height at which a route runs in a zone, or a negative number when it goes straight. */
static float
crossing_y (const Mirror *self, guint32 r, guint zone)
{
  const GArray *all = self->routes->crossings;
  guint low = 0, high = all->len;
  Crossing key = { .route = r, .zone = zone };

  while (low < high)
    {
      guint middle = (low + high) / 2;
      const Crossing *c = &g_array_index (all, Crossing, middle);
      gint order = by_zone (c, &key);

      if (order == 0)
        {
          const Zone *z = &self->zones[zone];
          guint n = self->routes->n_tracks[zone];
          float used = TRACK_DISTANCE * (float) (n - 1);

          return z->top + (z->height - used) / 2 + TRACK_DISTANCE * (float) c->span.track;
        }
      if (order < 0)
        low = middle + 1;
      else
        high = middle;
    }
  return -1;
}

static void
add_point (Mirror *self, AdjTemplatePath *path, float x, float y)
{
  AdjPoint point = { x, y };

  g_array_append_val (self->hops, point);
  path->n++;
}

static void
draw_hop (Mirror *self, guint32 l)
{
  const AdjDisplayLink *link = adj_display_link (self->display, l);
  guint32 r = self->routes->route_of[link->from];
  const Route *route = &g_array_index (self->routes->routes, Route, r);
  const Block *from = mirror_block_of_item (self, link->from);
  const Block *to = mirror_block_of_item (self, link->to);
  gboolean down = route->side == 0;
  float column = self->columns[route->side].left;
  float a = column + exit_x (self, l), b = column + entry_x (self, l);
  guint in = zone_in (self, link->to);
  float y = crossing_y (self, r, route->from);
  AdjTemplatePath *path = &self->hop_of[l];

  path->first = self->hops->len;
  add_point (self, path, a, down ? from->y + from->template->height : from->y);
  if (in != route->from)
    {
      add_point (self, path, a, y);
      add_point (self, path, column + route->lane_x, y);
      y = crossing_y (self, r, in);
      add_point (self, path, column + route->lane_x, y);
      add_point (self, path, b, y);
    }
  else if (fabsf (a - b) > STRAIGHT)
    {
      add_point (self, path, a, y);
      add_point (self, path, b, y);
    }
  add_point (self, path, b, down ? to->y : to->y + to->template->height);
}

void
mirror_draw_routes (Mirror *self)
{
  guint32 n = self->display->links->len;

  self->hops = g_array_new (FALSE, FALSE, sizeof (AdjPoint));
  self->hop_of = g_new0 (AdjTemplatePath, MAX (n, 1));
  for (guint32 l = 0; l < n; l++)
    if (is_hop (self, l))
      draw_hop (self, l);
}
