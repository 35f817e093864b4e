/* SPDX-License-Identifier: MIT */
/* Measures the readability of a picture: lengths of lines, crossings, and cards outside of their
 * module. */

#include "support/layout-metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/adj-modules.h"
#include "ir/adj-graph.h"

static gboolean
is_across (const AdjSceneEdge *edge)
{
  return edge->kind == ADJ_EDGE_BRIDGE || edge->kind == ADJ_EDGE_RECOMPUTE ||
         edge->kind == ADJ_EDGE_TURN;
}

static float
length_of (const AdjSceneEdge *edge)
{
  float length = 0;

  for (guint k = 0; k + 1 < edge->n_points; k++)
    length += fabsf (edge->points[k + 1].x - edge->points[k].x) +
              fabsf (edge->points[k + 1].y - edge->points[k].y);
  return length;
}

static int
ascending (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return x < y ? -1 : x > y;
}

static void
measure_lines (const AdjScene *scene, AdjLayoutMetrics *metrics)
{
  g_autoptr (GArray) lengths = g_array_new (FALSE, FALSE, sizeof (float));
  float *sorted;

  for (guint e = 0; e < adj_scene_get_n_edges (scene); e++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, e);
      float length = length_of (edge);

      if (!is_across (edge))
        g_array_append_val (lengths, length);
    }
  metrics->n_edges = lengths->len;
  if (lengths->len == 0)
    return;
  sorted = (float *) (gpointer) lengths->data;
  qsort (sorted, lengths->len, sizeof *sorted, ascending);
  metrics->median = sorted[lengths->len / 2];
  metrics->p95 = sorted[(lengths->len - 1) * 95 / 100];
  metrics->longest = sorted[lengths->len - 1];
}

/* A horizontal or vertical segment of the lines that start at one box. */
typedef struct
{
  guint32 from;
  float at, low, high; /* y and the range of x, or x and the range of y */
} Piece;

static int
by_place (const void *a, const void *b)
{
  const Piece *x = a, *y = b;

  return x->from != y->from ? (x->from < y->from ? -1 : 1)
         : x->at != y->at   ? (x->at < y->at ? -1 : 1)
                            : (x->low > y->low) - (x->low < y->low);
}

/* Merges segments that lines of one value share, so that each counts once. */
static void
merge_pieces (GArray *pieces)
{
  guint n = 0;

  qsort (pieces->data, pieces->len, sizeof (Piece), by_place);
  for (guint i = 0; i < pieces->len; i++)
    {
      const Piece *piece = &g_array_index (pieces, Piece, i);
      Piece *last = n ? &g_array_index (pieces, Piece, n - 1) : NULL;

      if (last && last->from == piece->from && last->at == piece->at && piece->low <= last->high)
        last->high = MAX (last->high, piece->high);
      else
        g_array_index (pieces, Piece, n++) = *piece;
    }
  g_array_set_size (pieces, n);
}

static void
collect_pieces (const AdjScene *scene, GArray *across, GArray *down)
{
  for (guint e = 0; e < adj_scene_get_n_edges (scene); e++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, e);

      for (guint k = 0; k + 1 < edge->n_points; k++)
        {
          const AdjPoint *a = &edge->points[k], *b = &edge->points[k + 1];
          gboolean is_down = fabsf (a->x - b->x) < fabsf (a->y - b->y);
          Piece piece = { edge->from, is_down ? a->x : a->y,
                          is_down ? MIN (a->y, b->y) : MIN (a->x, b->x),
                          is_down ? MAX (a->y, b->y) : MAX (a->x, b->x) };

          g_array_append_val (is_down ? down : across, piece);
        }
    }
  merge_pieces (across);
  merge_pieces (down);
}

/* Event of a sweep from left to right: horizontal segments begin and end, vertical ones are
 * counted. */
typedef struct
{
  float x;
  gint kind; /* -1: end, 0: count, 1: begin; order of events at the same x */
  guint low, high;
} Event;

static int
by_x (const void *a, const void *b)
{
  const Event *x = a, *y = b;

  return x->x != y->x ? (x->x < y->x ? -1 : 1) : x->kind - y->kind;
}

static guint
rank_of (const GArray *sorted, float y, gboolean above)
{
  guint low = 0, high = sorted->len;

  while (low < high)
    {
      guint middle = (low + high) / 2;
      float at = g_array_index (sorted, float, middle);

      if (at < y || (above && at == y))
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static gint64
sum_below (const gint *tree, guint n)
{
  gint64 sum = 0;

  for (guint i = n; i > 0; i &= i - 1)
    sum += tree[i];
  return sum;
}

/* Counts pairs of a horizontal and a vertical segment that cross in their interiors. */
static guint64
count_crossings (const AdjScene *scene)
{
  g_autoptr (GArray) across = g_array_new (FALSE, FALSE, sizeof (Piece));
  g_autoptr (GArray) down = g_array_new (FALSE, FALSE, sizeof (Piece));
  g_autoptr (GArray) heights = g_array_new (FALSE, FALSE, sizeof (float));
  g_autoptr (GArray) events = g_array_new (FALSE, FALSE, sizeof (Event));
  g_autofree gint *tree = NULL;
  guint64 n = 0;

  collect_pieces (scene, across, down);
  for (guint i = 0; i < across->len; i++)
    g_array_append_val (heights, g_array_index (across, Piece, i).at);
  qsort (heights->data, heights->len, sizeof (float), ascending);
  for (guint i = 0; i < across->len; i++)
    {
      const Piece *p = &g_array_index (across, Piece, i);
      guint rank = rank_of (heights, p->at, FALSE);
      Event ends[] = { { p->low, 1, rank, 0 }, { p->high, -1, rank, 0 } };

      g_array_append_vals (events, ends, 2);
    }
  for (guint i = 0; i < down->len; i++)
    {
      const Piece *p = &g_array_index (down, Piece, i);
      Event count = { p->at, 0, rank_of (heights, p->low, TRUE),
                      rank_of (heights, p->high, FALSE) };

      if (count.low < count.high)
        g_array_append_val (events, count);
    }
  qsort (events->data, events->len, sizeof (Event), by_x);
  tree = g_new0 (gint, heights->len + 1);
  for (guint i = 0; i < events->len; i++)
    {
      const Event *event = &g_array_index (events, Event, i);

      if (event->kind == 0)
        n += (guint64) (sum_below (tree, event->high) - sum_below (tree, event->low));
      else
        for (guint k = event->low + 1; k <= heights->len; k += k & -k)
          tree[k] += event->kind;
    }
  return n;
}

/* The height of the tallest outermost module; if one module contains all others, of the tallest
 * in it. */
static float
height_of_row (const AdjScene *scene)
{
  guint around = ADJ_NO_BOX, only, n_frames;
  float height = 0;

  do
    {
      n_frames = 0;
      for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
        {
          const AdjSceneBox *box = adj_scene_get_box (scene, i);

          if (box->kind != ADJ_BOX_GROUP || box->group != around || box->side == ADJ_SIDE_BACKWARD)
            continue;
          height = n_frames++ ? MAX (height, box->rect.height) : box->rect.height;
          only = i;
        }
      if (n_frames == 1)
        around = only;
    }
  while (n_frames == 1);
  return height;
}

static void
measure_frames (const AdjScene *scene, AdjLayoutMetrics *metrics)
{
  guint n = adj_scene_get_n_boxes (scene);
  g_autofree guint *cards = g_new0 (guint, n + 1);

  for (guint i = n; i-- > 0;)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);
      gboolean is_frame = box->fold == ADJ_FOLD_OPEN;

      if (box->group != ADJ_NO_BOX)
        cards[box->group] += is_frame ? cards[i] : box->kind != ADJ_BOX_CHIP;
      metrics->n_empty += is_frame && cards[i] == 0;
    }
  metrics->row = height_of_row (scene);
}

/* Measures from the right end of the forward cards to the left end of the backward ones. */
static void
measure_gutter (const AdjScene *scene, AdjLayoutMetrics *metrics)
{
  float left = 0, right = G_MAXFLOAT;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind != ADJ_BOX_HEADER && box->side == ADJ_SIDE_FORWARD)
        left = MAX (left, box->rect.x + box->rect.width);
      if (box->kind != ADJ_BOX_HEADER && box->side == ADJ_SIDE_BACKWARD)
        right = MIN (right, box->rect.x);
    }
  metrics->gutter = right < G_MAXFLOAT ? MAX (right - left, 0) : 0;
}

/* Maps "L['self'].h.0" to "h.0". */
static const char *
plain_path (const char *path)
{
  path = path ? path : "";
  path += g_str_has_prefix (path, "L['self']") ? strlen ("L['self']") : 0;
  return *path == '.' ? path + 1 : path;
}

static const AdjModule *
modules_of (const AdjScene *scene, const AdjGraph *graph, guint32 index, guint *n)
{
  AdjNodeId other = adj_scene_get_original (scene, (AdjNodeId){ index });
  const AdjModule *modules = adj_node_get_modules (adj_graph_get_node (graph, index), n);

  if (*n == 0 && !adj_node_id_is_valid (other))
    other = adj_scene_get_counterpart (scene, (AdjNodeId){ index });
  if (*n == 0 && adj_node_id_is_valid (other))
    modules = adj_node_get_modules (adj_graph_get_node (graph, other.index), n);
  return modules;
}

static gboolean
is_at (const AdjSceneBox *frame, const AdjRect *card)
{
  return card->y >= frame->rect.y - 1 &&
         card->y + card->height <= frame->rect.y + frame->rect.height + 1;
}

/* Whether modules of the card have frames and the card is beside the height of all of them. */
static gboolean
is_outside (const AdjScene *scene,
            GHashTable *frames,
            const AdjSceneBox *box,
            const AdjModule *modules,
            guint n)
{
  for (guint m = 0; m < n; m++)
    {
      const GArray *own = g_hash_table_lookup (frames, plain_path (modules[m].path));
      gboolean found = own == NULL;

      for (guint i = 0; own && i < own->len && !found; i++)
        found = is_at (adj_scene_get_box (scene, g_array_index (own, guint, i)), &box->rect);
      if (!found)
        return TRUE;
    }
  return FALSE;
}

static GHashTable *
collect_frames (const AdjScene *scene)
{
  GHashTable *frames =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_array_unref);

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);
      GArray *own = box->kind == ADJ_BOX_GROUP ? g_hash_table_lookup (frames, box->path) : NULL;

      if (box->kind != ADJ_BOX_GROUP)
        continue;
      if (!own)
        {
          own = g_array_new (FALSE, FALSE, sizeof (guint));
          g_hash_table_insert (frames, (gpointer) box->path, own);
        }
      g_array_append_val (own, i);
    }
  return frames;
}

static void
count_outside (const AdjScene *scene, const AdjGraph *graph, AdjLayoutMetrics *metrics)
{
  g_autoptr (GHashTable) frames = collect_frames (scene);

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);
      const AdjModule *modules;
      guint n;

      if (box->kind != ADJ_BOX_NODE)
        continue;
      modules = modules_of (scene, graph, box->node.index, &n);
      if (!is_outside (scene, frames, box, modules, n))
        continue;
      if (metrics->n_outside++ == 0)
        metrics->outside = adj_graph_get_node (graph, box->node.index)->name;
    }
}

AdjLayoutMetrics
adj_layout_metrics_take (const AdjScene *scene, const AdjGraph *graph)
{
  AdjRect bounds = adj_scene_get_bounds (scene);
  AdjLayoutMetrics metrics = { .n_boxes = adj_scene_get_n_boxes (scene),
                               .width = bounds.width,
                               .height = bounds.height };

  measure_lines (scene, &metrics);
  metrics.n_crossings = count_crossings (scene);
  measure_frames (scene, &metrics);
  measure_gutter (scene, &metrics);
  count_outside (scene, graph, &metrics);
  return metrics;
}
