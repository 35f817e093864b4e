/* SPDX-License-Identifier: MIT */
/* Paints lines as rectangles of one colour, which batch; arrows, dashes and labels. */

#include <math.h>

#include "analysis/adj-node-bytes.h"
#include "canvas/painter-private.h"
#include "ir/adj-graph.h"
#include "report/adj-properties.h"

#define ARROW_PX 16
#define ARROW_SIZE 8.0f
#define GAP 4.0f

/* Of lines that are not whole. */
static const float dashes[ADJ_N_EDGE_KINDS] = {
  [ADJ_EDGE_RECOMPUTE] = 6,
  [ADJ_EDGE_CONTROL] = 2,
  [ADJ_EDGE_EFFECT] = 12,
};

typedef enum
{
  POINT_RIGHT,
  POINT_LEFT,
  POINT_DOWN,
  POINT_UP,
} Point;

GHashTable *
adj_scene_painter_new_arrows (void)
{
  return g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_object_unref);
}

static GdkTexture *
draw_arrow (const AdjColor *color, Point point)
{
  static const double turns[] = { 0, G_PI, G_PI_2, -G_PI_2 };
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, ARROW_PX, ARROW_PX);
  cairo_t *cr = cairo_create (surface);
  g_autoptr (GBytes) bytes = NULL;
  GdkTexture *texture;

  cairo_translate (cr, ARROW_PX / 2.0, ARROW_PX / 2.0);
  cairo_rotate (cr, turns[point]);
  cairo_move_to (cr, ARROW_PX / 2.0, 0);
  cairo_line_to (cr, -ARROW_PX / 2.0, ARROW_PX * 0.40);
  cairo_line_to (cr, -ARROW_PX / 2.0, -ARROW_PX * 0.40);
  cairo_close_path (cr);
  cairo_set_source_rgba (cr, color->red, color->green, color->blue, color->alpha);
  cairo_fill (cr);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  bytes = g_bytes_new (cairo_image_surface_get_data (surface),
                       (gsize) cairo_image_surface_get_stride (surface) * ARROW_PX);
  texture = gdk_memory_texture_new (ARROW_PX, ARROW_PX, GDK_MEMORY_DEFAULT, bytes,
                                    (gsize) cairo_image_surface_get_stride (surface));
  cairo_surface_destroy (surface);

  return texture;
}

static GdkTexture *
find_arrow (AdjPainter *painter, const AdjColor *color, Point point)
{
  gint64 key = ((gint64) (color->red * 255) << 24) | ((gint64) (color->green * 255) << 16) |
               ((gint64) (color->blue * 255) << 8) | point;
  GdkTexture *texture = g_hash_table_lookup (painter->frame->arrows, &key);

  if (texture == NULL)
    {
      texture = draw_arrow (color, point);
      g_hash_table_insert (painter->frame->arrows, g_memdup2 (&key, sizeof key), texture);
    }
  return texture;
}

static void
paint_arrow (AdjPainter *painter, AdjPoint from, AdjPoint tip, float size, const AdjColor *color)
{
  gboolean flat = fabsf (tip.x - from.x) > fabsf (tip.y - from.y);
  Point point =
      flat ? (tip.x > from.x ? POINT_RIGHT : POINT_LEFT) : (tip.y > from.y ? POINT_DOWN : POINT_UP);
  float x = tip.x - size / 2, y = tip.y - size / 2;

  if (flat)
    x += point == POINT_RIGHT ? -size / 2 : size / 2;
  else
    y += point == POINT_DOWN ? -size / 2 : size / 2;
  gtk_snapshot_append_texture (painter->snapshot, find_arrow (painter, color, point),
                               &GRAPHENE_RECT_INIT (x, y, size, size));
}

static void
append_piece (AdjPainter *painter, const AdjRect *rect, const GdkRGBA *color)
{
  AdjRect whole = adj_painter_snap (painter, rect);

  gtk_snapshot_append_color (painter->snapshot, color,
                             &GRAPHENE_RECT_INIT (whole.x, whole.y, whole.width, whole.height));
}

static void
paint_piece (AdjPainter *painter, AdjPoint a, AdjPoint b, float width, const GdkRGBA *color)
{
  AdjRect rect = { MIN (a.x, b.x) - width / 2, MIN (a.y, b.y) - width / 2,
                   fabsf (a.x - b.x) + width, fabsf (a.y - b.y) + width };

  append_piece (painter, &rect, color);
}

/* A dash and the gap behind it, in pixels. */
typedef struct
{
  float dash, step;
} Dashes;

/* Of a line of which @length is seen: a short one has two dashes, too. */
static Dashes
fit_dashes (const AdjPainter *painter, AdjEdgeKind kind, float length)
{
  float zoom = CLAMP (painter->frame->camera.zoom, 0.6f, 1.5f), step = (dashes[kind] + GAP) * zoom;
  float fit = CLAMP (length / (2 * step), 0.4f, 1);

  return (Dashes){ dashes[kind] * zoom * fit, step * fit };
}

static float
measure (const AdjPainter *painter, const AdjSceneEdge *edge, guint first)
{
  float length = 0;

  for (guint i = first; i < edge->n_points; i++)
    length += fabsf (edge->points[i].x - edge->points[i - 1].x) +
              fabsf (edge->points[i].y - edge->points[i - 1].y);
  return length * painter->frame->camera.zoom;
}

/* From @a to @b, @before of the line into it: dashes go on around corners.  Only those that are in
 * view, however long the piece is. */
static void
paint_dashed_piece (AdjPainter *painter,
                    AdjPoint a,
                    AdjPoint b,
                    float before,
                    const Dashes *fitted,
                    float width,
                    const GdkRGBA *color)
{
  gboolean flat = fabsf (a.x - b.x) > fabsf (a.y - b.y);
  float begin = flat ? a.x : a.y, length = fabsf (flat ? b.x - a.x : b.y - a.y);
  float limit = flat ? painter->frame->width : painter->frame->height;
  float forward = (flat ? b.x > a.x : b.y > a.y) ? 1 : -1;
  float first = forward > 0 ? -begin : begin - limit, last = forward > 0 ? limit - begin : begin;

  first = MAX (first, 0);
  last = MIN (last, length);
  for (float at = floorf ((before + first) / fitted->step) * fitted->step - before; at < last;
       at += fitted->step)
    {
      float one = begin + forward * MAX (at, 0);
      float other = begin + forward * MIN (at + fitted->dash, length);
      float low = MIN (one, other), size = fabsf (other - one);

      if (at + fitted->dash <= 0)
        continue;
      append_piece (painter,
                    &(AdjRect){ flat ? low : a.x - width / 2, flat ? a.y - width / 2 : low,
                                flat ? size : width, flat ? width : size },
                    color);
    }
}

/* The width of bridges tells bytes; lines never get thinner than a pixel. */
static float
line_width (const AdjPainter *painter, const AdjSceneEdge *edge, gboolean lit)
{
  float zoom = painter->frame->camera.zoom;
  float width = MAX (edge->width, 1) * MIN (zoom, 1.6f);

  if (lit && painter->frame->highlight != NULL)
    width = MAX (width, 2);
  return MAX (width, painter->lod <= ADJ_LOD_MODULES ? 0.75f : 1);
}

/* Beside the first piece of a value's line; those that share it are labelled once. */
void
adj_painter_edge_label (AdjPainter *painter, guint index)
{
  const AdjSceneFrame *frame = painter->frame;
  const AdjSceneEdge *edge = adj_scene_get_edge (frame->scene, index);
  const AdjSceneEdge *before = index > 0 ? adj_scene_get_edge (frame->scene, index - 1) : NULL;
  gboolean lit = frame->highlight == NULL || adj_highlight_has_edge (frame->highlight, index);
  g_autofree char *text = NULL;
  AdjPoint at;

  if (!lit || !adj_node_id_is_valid (edge->value) || edge->n_points < 2 ||
      edge->kind == ADJ_EDGE_BRIDGE || edge->kind == ADJ_EDGE_RECOMPUTE ||
      (before != NULL && before->from == edge->from && before->kind == edge->kind))
    return;
  if (frame->labeling == ADJ_LABEL_SHAPE)
    text = adj_properties_annotation (frame->graph,
                                      adj_graph_get_node (frame->graph, edge->value.index));
  else
    text = adj_properties_bytes (adj_graph_get_node_bytes (frame->graph, edge->value.index));
  at = adj_camera_to_widget (&frame->camera, edge->points[0].x, edge->points[0].y);
  at.y += (edge->points[1].y < edge->points[0].y ? -6 : 6) * frame->camera.zoom;
  adj_painter_text (painter, &(AdjTextRun){ ADJ_TEXT_SUBTITLE, text, &painter->lit.dim_text,
                                            ADJ_ALIGN_LEFT, at.x + 4 * frame->camera.zoom, at.y,
                                            1000, 0.9f * frame->camera.zoom });
}

void
adj_painter_edge (AdjPainter *painter, guint index)
{
  const AdjSceneFrame *frame = painter->frame;
  const AdjSceneEdge *edge = adj_scene_get_edge (frame->scene, index);
  gboolean lit = frame->highlight == NULL || adj_highlight_has_edge (frame->highlight, index);
  gboolean chosen = index == frame->hovered_edge ||
                    (lit && frame->highlight != NULL && frame->selected != ADJ_NO_BOX &&
                     edge->kind != ADJ_EDGE_BRIDGE && edge->kind != ADJ_EDGE_RECOMPUTE);
  /* What others show stands out too. */
  gboolean whole = index == frame->hovered_edge || (lit && frame->highlight != NULL);
  const AdjPalette *palette = lit ? &painter->lit : &painter->dim;
  const AdjColor *color = chosen ? &palette->selection : &palette->edges[edge->kind];
  GdkRGBA rgba = adj_color_to_rgba (color);
  float width = line_width (painter, edge, lit), arrow = ARROW_SIZE * frame->camera.zoom;
  AdjPoint from = { 0, 0 }, to = { 0, 0 };
  guint start = whole ? 1 : edge->n_shared + 1;
  float before = 0; /* of the line */
  Dashes fitted;

  rgba.alpha *= painter->line_share;
  if (painter->lod == ADJ_LOD_TEXTURE && edge->kind != ADJ_EDGE_BRIDGE &&
      edge->kind != ADJ_EDGE_BLOCK)
    return;
  /* Heads are kept by colour, and lines on their way have many. */
  if (painter->lod < ADJ_LOD_NAMES || arrow < 3 || frame->morph != NULL)
    arrow = 0;

  fitted = fit_dashes (painter, edge->kind, measure (painter, edge, start) - arrow);
  for (guint i = start; i < edge->n_points; i++)
    {
      from = adj_camera_to_widget (&frame->camera, edge->points[i - 1].x, edge->points[i - 1].y);
      to = adj_camera_to_widget (&frame->camera, edge->points[i].x, edge->points[i].y);
      if (dashes[edge->kind] > 0)
        paint_dashed_piece (painter, from, to, before, &fitted, width, &rgba);
      else
        paint_piece (painter, from, to, width, &rgba);
      before += fabsf (to.x - from.x) + fabsf (to.y - from.y);
    }
  if (arrow > 0 && edge->n_points > 1)
    paint_arrow (painter, from, to, MAX (arrow, width * 2.2f), color);
}
