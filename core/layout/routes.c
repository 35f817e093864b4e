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
  guint32 item;                 /* the source */
  gboolean against;             /* the flow: its links are those that are */
  guint32 first_link, end_link; /* some of these */
  guint side;
  guint from, low, high; /* zones */
  gboolean has_lane;
  float lane_x; /* from the left border of the column */
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

static gboolean
is_of_route (const Mirror *self, const Route *route, guint32 l)
{
  return is_hop (self, l) && self->paths[l].against == route->against;
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

/* x of where @path of a block ends at its border, from the left border of its column. */
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
          Route fresh = { .item = link->from,
                          .against = self->paths[l].against,
                          .first_link = l,
                          .side = adj_display_item (display, link->from)->side == ADJ_SIDE_BACKWARD,
                          .from = out,
                          .low = out,
                          .high = out };

          *own = routes->routes->len;
          g_array_append_val (routes->routes, fresh);
        }
      route = &g_array_index (routes->routes, Route, *own);
      in = zone_in (self, l);
      route->end_link = l + 1;
      route->low = MIN (route->low, in);
      route->high = MAX (route->high, in);
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
      MirrorLane lane = { route->low, route->high, 0 };

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

/* The horizontal piece of a route in a zone: around its ports there and its lane. */
static void
add_crossing (Mirror *self, MirrorRoutes *routes, guint32 r, guint zone)
{
  const Route *route = &g_array_index (routes->routes, Route, r);
  Crossing crossing = { r, zone, { G_MAXFLOAT, -G_MAXFLOAT, r, 0 } };
  AdjTrackSpan *span = &crossing.span;
  gboolean leaves = route->from != zone;

  for (guint32 l = route->first_link; l < route->end_link; l++)
    if (is_of_route (self, route, l))
      {
        if (zone_in (self, l) == zone)
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
        if (is_of_route (self, route, l))
          {
            guint zone = zone_in (self, l);

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
  routes->route_of = g_new (guint32, 2 * self->display->items->len + 1);
  for (guint i = 0; i < 2 * self->display->items->len; i++)
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
  guint32 r = *route_of_link (self, self->routes, l);
  const Route *route = &g_array_index (self->routes->routes, Route, r);
  const Block *from = mirror_block_of_item (self, link->from);
  const Block *to = mirror_block_of_item (self, link->to);
  gboolean down = (route->side == 0) != route->against;
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
