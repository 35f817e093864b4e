/* SPDX-License-Identifier: MIT */
/* Lines of a scene with their arrow heads, painted with cairo. */

#include <math.h>

#include "scene/paint-cairo-private.h"

#define ARROW_LENGTH 7.0f
#define ARROW_HALF 3.6f

static void
draw_arrow (CairoPainter *self, const AdjPoint *from, const AdjPoint *to, float width)
{
  float dx = to->x - from->x, dy = to->y - from->y;
  float length = MAX (fabsf (dx) + fabsf (dy), 0.01f);
  float half = ARROW_HALF + width / 3;

  dx /= length;
  dy /= length;
  cairo_move_to (self->cr, to->x, to->y);
  cairo_line_to (self->cr, to->x - dx * ARROW_LENGTH - dy * half,
                 to->y - dy * ARROW_LENGTH + dx * half);
  cairo_line_to (self->cr, to->x - dx * ARROW_LENGTH + dy * half,
                 to->y - dy * ARROW_LENGTH - dx * half);
  cairo_close_path (self->cr);
  cairo_fill (self->cr);
}

/* Lines that leave the painted part at the bottom are drawn this far beyond it. */
#define BEYOND 64

/* How many points of @edge to paint; the points after them are all below the painted part. */
static guint
count_points (const CairoPainter *self, const AdjSceneEdge *edge)
{
  float limit = self->rect->y + self->rect->height + BEYOND;
  guint n = edge->n_points;

  while (n > 2 && edge->points[n - 1].y > limit && edge->points[n - 2].y > limit)
    n--;
  return n;
}

/* Whether the @n points to paint of both are the same. */
static gboolean
paints_same (const CairoPainter *self, const AdjSceneEdge *a, const AdjSceneEdge *b, guint n)
{
  float limit = self->rect->y + self->rect->height + BEYOND;

  if (n == b->n_points || count_points (self, a) != n || n == a->n_points ||
      a->n_shared != b->n_shared)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (a->points[i].x != b->points[i].x ||
        MIN (a->points[i].y, limit) != MIN (b->points[i].y, limit))
      return FALSE;
  return TRUE;
}

/* Lines of one value that are equal within the painted part are drawn once. */
static void
trace_edge (CairoPainter *self, const AdjSceneEdge *edge, const AdjSceneEdge *before)
{
  float limit = self->rect->y + self->rect->height + BEYOND;
  guint n = count_points (self, edge);

  if (before != NULL && paints_same (self, before, edge, n))
    return;
  for (guint i = edge->n_shared; i < n; i++)
    {
      float x = edge->points[i].x, y = edge->points[i].y;

      if (i > edge->n_shared && x == edge->points[i - 1].x)
        y = MIN (y, limit);
      /* The line ends before the arrow's tip, so that the tip stays sharp. */
      if (i + 1 == edge->n_points)
        {
          x -= CLAMP (x - edge->points[i - 1].x, -4, 4);
          y -= CLAMP (y - edge->points[i - 1].y, -4, 4);
        }
      if (i == edge->n_shared)
        cairo_move_to (self->cr, x, y);
      else
        cairo_line_to (self->cr, x, y);
    }
}

gboolean
cairo_painter_same_line (const AdjSceneEdge *a, const AdjSceneEdge *b)
{
  return a->from == b->from && a->kind == b->kind && a->width == b->width;
}

void
cairo_painter_draw_lines (CairoPainter *self, const guint *edges, guint n)
{
  static const double dashes[ADJ_N_EDGE_KINDS][2] = {
    [ADJ_EDGE_RECOMPUTE] = { 5, 4 }, [ADJ_EDGE_CONTROL] = { 1.5, 3 }, [ADJ_EDGE_EFFECT] = { 10, 4 }
  };
  const AdjSceneEdge *first = adj_scene_get_edge (self->scene, edges[0]);
  const double *dash = dashes[first->kind];

  cairo_painter_set_color (self, &self->palette->edges[first->kind]);
  cairo_set_line_width (self->cr, first->width);
  cairo_set_dash (self->cr, dash, dash[0] > 0 ? 2 : 0, 0);
  for (guint i = 0; i < n; i++)
    trace_edge (self, adj_scene_get_edge (self->scene, edges[i]),
                i > 0 ? adj_scene_get_edge (self->scene, edges[i - 1]) : NULL);
  cairo_stroke (self->cr);
  cairo_set_dash (self->cr, NULL, 0, 0);
  for (guint i = 0; i < n; i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (self->scene, edges[i]);

      if (count_points (self, edge) < edge->n_points)
        continue;
      draw_arrow (self, &edge->points[edge->n_points - 2], &edge->points[edge->n_points - 1],
                  edge->width);
    }
}
