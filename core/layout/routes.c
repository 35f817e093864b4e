/* SPDX-License-Identifier: MIT */

/* Lines from block to block of one column.  A line leaves its block into the zone between the rows;
 * where it goes farther than the next row it runs along a lane (lanes.c). */

#include <math.h>

#include "layout/adj-tracks.h"
#include "layout/mirror-private.h"

#define TRACK_DISTANCE 8.0f
#define ZONE_MARGIN 9.0f
#define MIN_ZONE 22.0f
#define STRAIGHT 0.5f
#define NO_TRACK G_MAXUINT32

typedef struct
{
  guint side;
  guint from, low, high; /* zones */
  gboolean has_lane;
  float left, right; /* of its ports, from the left border of the column */
  float lane_x;      /* the same */
} Route;

/* The piece of one route in one zone. */
typedef struct
{
  guint32 route;
  guint zone;
  AdjTrackSpan span;
} Crossing;

/* A zone that a route with a lane reaches. */
typedef struct
{
  guint32 route;
  guint zone;
  gboolean drawn; /* how far its lane is drawn */
} Stop;

struct _MirrorRoutes
{
  GArray *routes;    /* of Route */
  GArray *crossings; /* of Crossing, by zone and route */
  GArray *stops;     /* of Stop, by route and zone */
  guint32 *route_of; /* of each item, with the flow and against it; or NO_TRACK */
  guint *n_tracks;   /* of each zone: the larger of both sides */
};

static gboolean
is_hop (const Mirror *self, guint32 l)
{
  const AdjDisplayLink *link = adj_display_link (self->display, l);
  const Block *from = mirror_block_of_item (self, link->from);
  const Block *to = mirror_block_of_item (self, link->to);

  return from != to && from->side == to->side;
}

/* The zone below row @row, or above it. */
static guint
zone_at (guint32 row, gboolean below)
{
  return below ? row + 1 : row;
}

static guint
zone_out (const Mirror *self, guint32 l)
{
  const AdjDisplayItem *i =
      adj_display_item (self->display, adj_display_link (self->display, l)->from);

  return zone_at (i->row, (i->side == ADJ_SIDE_FORWARD) != self->paths[l].against);
}

static guint
zone_in (const Mirror *self, guint32 l)
{
  const AdjDisplayItem *i =
      adj_display_item (self->display, adj_display_link (self->display, l)->to);

  return zone_at (i->row, (i->side == ADJ_SIDE_FORWARD) == self->paths[l].against);
}

/* x of the end of @path at the border of its block, from the left border of its column. */
static float
border_x (const Block *block, guint32 path, gboolean is_exit)
{
  const AdjBlockGraph *graph = block->spec->graph;

  return block->x +
         (is_exit
              ? block->template->exits[graph->links[path][1] - graph->n_cards - graph->n_entries]
              : block->template->entries[graph->links[path][0] - graph->n_cards]);
}

static float
exit_x (const Mirror *self, guint32 l)
{
  return border_x (mirror_block_of_item (self, adj_display_link (self->display, l)->from),
                   self->paths[l].out, !self->paths[l].against);
}

static float
entry_x (const Mirror *self, guint32 l)
{
  return border_x (mirror_block_of_item (self, adj_display_link (self->display, l)->to),
                   self->paths[l].in, self->paths[l].against);
}

static guint32 *
route_of_link (const Mirror *self, const MirrorRoutes *routes, guint32 l)
{
  return &routes->route_of[2 * adj_display_link (self->display, l)->from + self->paths[l].against];
}

static void
collect_routes (Mirror *self, MirrorRoutes *routes)
{
  const AdjDisplayList *display = self->display;

  for (guint32 l = 0; l < display->links->len; l++)
    {
      const AdjDisplayLink *link = adj_display_link (display, l);
      guint32 *own = route_of_link (self, routes, l);
      guint in;
      Route *route;

      if (!is_hop (self, l))
        continue;
      if (*own == NO_TRACK)
        {
          guint out = zone_out (self, l);
          Route fresh = { .side = adj_display_item (display, link->from)->side == ADJ_SIDE_BACKWARD,
                          .from = out,
                          .low = out,
                          .high = out,
                          .left = exit_x (self, l),
                          .right = exit_x (self, l) };

          *own = routes->routes->len;
          g_array_append_val (routes->routes, fresh);
        }
      route = &g_array_index (routes->routes, Route, *own);
      in = zone_in (self, l);
      route->low = MIN (route->low, in);
      route->high = MAX (route->high, in);
      route->left = MIN (route->left, entry_x (self, l));
      route->right = MAX (route->right, entry_x (self, l));
      route->has_lane |= in != route->from;
    }
}

static void
assign_lanes (Mirror *self, MirrorRoutes *routes, guint side)
{
  g_autoptr (GArray) lanes = g_array_new (FALSE, FALSE, sizeof (MirrorLane));
  guint at = 0;

  for (guint r = 0; r < routes->routes->len; r++)
    {
      const Route *route = &g_array_index (routes->routes, Route, r);
      MirrorLane lane = { route->low, route->high, route->left, route->right, 0 };

      if (route->side == side && route->has_lane)
        g_array_append_val (lanes, lane);
    }
  mirror_place_lanes (self, side, (MirrorLane *) (gpointer) lanes->data, lanes->len);
  for (guint r = 0; r < routes->routes->len; r++)
    {
      Route *route = &g_array_index (routes->routes, Route, r);

      if (route->side == side && route->has_lane)
        route->lane_x = g_array_index (lanes, MirrorLane, at++).x;
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

/* Where links begin and end: one crossing for each port, in any order. */
static GArray *
list_ports (const Mirror *self, const MirrorRoutes *routes)
{
  GArray *ports = g_array_new (FALSE, FALSE, sizeof (Crossing));

  for (guint32 l = 0; l < self->display->links->len; l++)
    if (is_hop (self, l))
      {
        guint32 r = *route_of_link (self, routes, l);
        float out = exit_x (self, l), in = entry_x (self, l);
        Crossing ends[] = {
          { r, g_array_index (routes->routes, Route, r).from, { out, out, r, 0 } },
          { r, zone_in (self, l), { in, in, r, 0 } },
        };

        g_array_append_vals (ports, ends, G_N_ELEMENTS (ends));
      }
  return ports;
}

/* Adds the horizontal piece of a route in a zone: it spans its ports there and its lane. */
static void
add_crossing (MirrorRoutes *routes, const Crossing *ports, guint n)
{
  const Route *route = &g_array_index (routes->routes, Route, ports->route);
  Crossing crossing = ports[0];
  AdjTrackSpan *span = &crossing.span;

  for (guint i = 1; i < n; i++)
    {
      span->low = MIN (span->low, ports[i].span.low);
      span->high = MAX (span->high, ports[i].span.high);
    }
  if (route->has_lane)
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
  g_autoptr (GArray) ports = list_ports (self, routes);

  g_array_sort (ports, by_zone);
  for (guint from = 0, to; from < ports->len; from = to)
    {
      const Crossing *first = &g_array_index (ports, Crossing, from);

      for (to = from + 1;
           to < ports->len && by_zone (first, &g_array_index (ports, Crossing, to)) == 0;)
        to++;
      add_crossing (routes, first, to - from);
    }
}

static void
assign_tracks (Mirror *self, MirrorRoutes *routes)
{
  GArray *all = routes->crossings;

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

static gint
by_route (gconstpointer a, gconstpointer b)
{
  const Stop *x = a, *y = b;

  if (x->route != y->route)
    return x->route < y->route ? -1 : 1;
  return x->zone < y->zone ? -1 : x->zone > y->zone;
}

/* Where each route with a lane begins and ends, each place once. */
static void
collect_stops (Mirror *self, MirrorRoutes *routes)
{
  GArray *stops = routes->stops;
  guint n = 0;

  for (guint32 l = 0; l < self->display->links->len; l++)
    if (is_hop (self, l))
      {
        guint32 r = *route_of_link (self, routes, l);
        const Route *route = &g_array_index (routes->routes, Route, r);
        Stop ends[] = { { r, route->from, FALSE }, { r, zone_in (self, l), FALSE } };

        if (route->has_lane)
          g_array_append_vals (stops, ends, G_N_ELEMENTS (ends));
      }
  g_array_sort (stops, by_route);
  for (guint i = 0; i < stops->len; i++)
    {
      Stop stop = g_array_index (stops, Stop, i);

      if (n == 0 || by_route (&stop, &g_array_index (stops, Stop, n - 1)) != 0)
        g_array_index (stops, Stop, n++) = stop;
    }
  g_array_set_size (stops, n);
}

void
mirror_plan_routes (Mirror *self)
{
  MirrorRoutes *routes = g_new0 (MirrorRoutes, 1);

  self->routes = routes;
  routes->routes = g_array_new (FALSE, FALSE, sizeof (Route));
  routes->crossings = g_array_new (FALSE, FALSE, sizeof (Crossing));
  routes->stops = g_array_new (FALSE, FALSE, sizeof (Stop));
  routes->n_tracks = g_new0 (guint, self->n_rows + 1);
  routes->route_of = g_new (guint32, 2 * self->display->items->len + 1);
  for (guint i = 0; i < 2 * self->display->items->len; i++)
    routes->route_of[i] = NO_TRACK;
  collect_routes (self, routes);
  for (guint side = 0; side < 2; side++)
    assign_lanes (self, routes, side);
  collect_crossings (self, routes);
  assign_tracks (self, routes);
  collect_stops (self, routes);
}

void
mirror_clear_routes (Mirror *self)
{
  g_array_unref (self->routes->routes);
  g_array_unref (self->routes->crossings);
  g_array_unref (self->routes->stops);
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

/* Draws link @l along the lane of route @r, at @x, to zone @in, where it leaves the lane.  The
 * first link that leaves there draws the piece from the stop before; the rest of the lane is drawn
 * by other links and counts as shared (hop_shared). */
static void
draw_lane (Mirror *self, guint32 l, guint32 r, guint in, float x)
{
  const Route *route = &g_array_index (self->routes->routes, Route, r);
  Stop key = { .route = r, .zone = in };
  AdjTemplatePath *path = &self->hop_of[l];
  guint at;
  Stop *stop;

  if (!g_array_binary_search (self->routes->stops, &key, by_route, &at))
    g_assert_not_reached ();
  stop = &g_array_index (self->routes->stops, Stop, at);
  if (!stop->drawn && stop[in > route->from ? -1 : 1].zone != route->from)
    {
      add_point (self, path, x, crossing_y (self, r, stop[in > route->from ? -1 : 1].zone));
      self->hop_shared[l] = path->n - 1;
    }
  add_point (self, path, x, crossing_y (self, r, in));
  if (stop->drawn)
    self->hop_shared[l] = path->n - 1;
  stop->drawn = TRUE;
}

static void
draw_hop (Mirror *self, guint32 l)
{
  const AdjDisplayLink *link = adj_display_link (self->display, l);
  guint32 r = *route_of_link (self, self->routes, l);
  const Route *route = &g_array_index (self->routes->routes, Route, r);
  const Block *from = mirror_block_of_item (self, link->from);
  const Block *to = mirror_block_of_item (self, link->to);
  gboolean down = (route->side == 0) != self->paths[l].against;
  float column = self->columns[route->side].left;
  float a = column + exit_x (self, l), b = column + entry_x (self, l);
  guint in = zone_in (self, l);
  float y = crossing_y (self, r, route->from);
  AdjTemplatePath *path = &self->hop_of[l];

  path->first = self->hops->len;
  add_point (self, path, a, down ? from->y + from->template->height : from->y);
  if (in != route->from)
    {
      add_point (self, path, a, y);
      add_point (self, path, column + route->lane_x, y);
      draw_lane (self, l, r, in, column + route->lane_x);
      add_point (self, path, b, crossing_y (self, r, in));
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
  self->hop_shared = g_new0 (guint, MAX (n, 1));
  for (guint32 l = 0; l < n; l++)
    if (is_hop (self, l))
      draw_hop (self, l);
}
