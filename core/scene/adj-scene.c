/* SPDX-License-Identifier: MIT */
/* AdjScene: boxes, lines and texts, with an index of cells that finds what lies in a rectangle. */

#include "scene/adj-scene.h"

#include <math.h>
#include <string.h>

#include "scene/adj-scene-private.h"

#define CELL_SIZE 600.0f
#define MAX_CELLS (1u << 20)

static const struct
{
  const char *name, *sign;
} role_names[ADJ_N_ROLES] = {
  [ADJ_ROLE_NONE] = { "plain", "" },
  [ADJ_ROLE_SAVED] = { "saved", "S" },
  [ADJ_ROLE_MUST_SAVE] = { "must-save", "S!" },
  [ADJ_ROLE_RECOMPUTED] = { "recomputed", "R" },
  [ADJ_ROLE_MUST_RECOMPUTE] = { "must-recompute", "R!" },
  [ADJ_ROLE_RECOMPUTE_COPY] = { "recompute copy", "R" },
  [ADJ_ROLE_PLACEHOLDER] = { "placeholder", "" },
  [ADJ_ROLE_PARAMETER] = { "parameter", "W" },
  [ADJ_ROLE_GRADIENT] = { "gradient", "∂" },
  [ADJ_ROLE_OUTPUT] = { "output", "" },
  [ADJ_ROLE_HOOK] = { "hook", "H" },
  [ADJ_ROLE_OPAQUE] = { "opaque", "?" },
  [ADJ_ROLE_CUSTOM_BACKWARD] = { "custom backward", "C" },
  [ADJ_ROLE_ACCUMULATE] = { "accumulate", "+=" },
  [ADJ_ROLE_CALLBACKS] = { "final callbacks", "F" },
  [ADJ_ROLE_OBJECT] = { "object", "O" },
  [ADJ_ROLE_OFFLOADED] = { "offloaded", "S↓" },
  [ADJ_ROLE_UPDATE] = { "update", "U" },
};

const char *
adj_role_name (AdjRole role)
{
  g_return_val_if_fail (role < ADJ_N_ROLES, "");
  return role_names[role].name;
}

const char *
adj_role_sign (AdjRole role)
{
  g_return_val_if_fail (role < ADJ_N_ROLES, "");
  return role_names[role].sign;
}

void
adj_rect_cut_corners (const AdjRect *rect, float cut, AdjPoint points[8])
{
  float left = rect->x, top = rect->y, right = left + rect->width, bottom = top + rect->height;
  const AdjPoint outline[8] = {
    { left + cut, top },     { right - cut, top },    { right, top + cut },
    { right, bottom - cut }, { right - cut, bottom }, { left + cut, bottom },
    { left, bottom - cut },  { left, top + cut },
  };

  memcpy (points, outline, sizeof outline);
}

AdjLod
adj_lod_from_zoom (float zoom)
{
  float height = ADJ_NODE_HEIGHT * zoom;

  if (height < ADJ_LOD_TEXTURE_PX)
    return ADJ_LOD_TEXTURE;
  if (height < ADJ_LOD_MODULES_PX)
    return ADJ_LOD_MODULES;
  return height < ADJ_LOD_NAMES_PX ? ADJ_LOD_NAMES : ADJ_LOD_FULL;
}

/* A range of cells, both ends included. */
typedef struct
{
  guint left, top, right, bottom;
} Cells;

static guint
cell_at (float position, float cell, guint n)
{
  float at = floorf (position / cell);

  return at <= 0 ? 0 : MIN ((guint) MIN (at, (float) n), n - 1);
}

static Cells
cells_of (const AdjScene *self, const AdjRect *rect)
{
  return (Cells){
    cell_at (rect->x, self->cell, self->n_columns),
    cell_at (rect->y, self->cell, self->n_rows),
    cell_at (rect->x + rect->width, self->cell, self->n_columns),
    cell_at (rect->y + rect->height, self->cell, self->n_rows),
  };
}

static AdjRect
rect_of_piece (const AdjPoint *a, const AdjPoint *b, float margin)
{
  float x = MIN (a->x, b->x), y = MIN (a->y, b->y);

  return (AdjRect){ x - margin, y - margin, fabsf (a->x - b->x) + 2 * margin,
                    fabsf (a->y - b->y) + 2 * margin };
}

static gboolean
rects_touch (const AdjRect *a, const AdjRect *b)
{
  return a->x <= b->x + b->width && b->x <= a->x + a->width && a->y <= b->y + b->height &&
         b->y <= a->y + a->height;
}

static gboolean
pieces_touch (const AdjSceneEdge *edge, guint from, guint to, const AdjRect *rect)
{
  for (guint i = from; i < to; i++)
    {
      AdjRect piece = rect_of_piece (&edge->points[i], &edge->points[i + 1], edge->width / 2);

      if (rects_touch (&piece, rect))
        return TRUE;
    }
  return FALSE;
}

static gboolean
edge_touches (const AdjSceneEdge *edge, const AdjRect *rect)
{
  return edge->n_points > 0 && pieces_touch (edge, edge->n_shared, edge->n_points - 1, rect);
}

/* Counts an item into the cells that it touches or, with @write, stores it there. */
static void
index_add (
    const AdjScene *self, AdjSceneIndex *index, const AdjRect *rect, guint32 item, gboolean write)
{
  Cells cells = cells_of (self, rect);

  for (guint y = cells.top; y <= cells.bottom; y++)
    for (guint x = cells.left; x <= cells.right; x++)
      {
        guint cell = y * self->n_columns + x;

        if (write)
          index->items[--index->start[cell]] = item;
        else
          index->start[cell]++;
      }
}

static void
index_all (const AdjScene *self, AdjSceneIndex *index, gboolean edges, gboolean write)
{
  if (!edges)
    for (guint i = 0; i < self->n_boxes; i++)
      index_add (self, index, &self->boxes[i].rect, i, write);
  else
    for (guint i = 0; i < self->n_edges; i++)
      for (guint k = self->edges[i].n_shared; k + 1 < self->edges[i].n_points; k++)
        {
          const AdjPoint *p = self->edges[i].points + k;
          AdjRect piece = rect_of_piece (&p[0], &p[1], self->edges[i].width / 2);

          index_add (self, index, &piece, i, write);
        }
}

static void
index_make (const AdjScene *self, AdjSceneIndex *index, gboolean edges)
{
  guint n = self->n_columns * self->n_rows;
  guint32 total = 0;

  index->start = g_new0 (guint32, n + 1);
  index_all (self, index, edges, FALSE);
  for (guint i = 0; i < n; i++)
    {
      total += index->start[i];
      index->start[i] = total;
    }
  index->start[n] = total;
  index->items = g_new (guint32, MAX (total, 1));
  index_all (self, index, edges, TRUE);
}

void
adj_scene_index_cells (AdjScene *scene)
{
  scene->cell = CELL_SIZE;
  do
    {
      scene->n_columns = (guint) (scene->bounds.width / scene->cell) + 1;
      scene->n_rows = (guint) (scene->bounds.height / scene->cell) + 1;
      scene->cell *= 2;
    }
  while ((guint64) scene->n_columns * scene->n_rows > MAX_CELLS);
  scene->cell /= 2;
  index_make (scene, &scene->box_index, FALSE);
  index_make (scene, &scene->edge_index, TRUE);
}

static void
index_clear (AdjSceneIndex *index)
{
  g_free (index->start);
  g_free (index->items);
}

AdjScene *
adj_scene_ref (AdjScene *scene)
{
  g_atomic_ref_count_inc (&scene->refs);
  return scene;
}

void
adj_scene_unref (AdjScene *scene)
{
  if (!g_atomic_ref_count_dec (&scene->refs))
    return;

  index_clear (&scene->box_index);
  index_clear (&scene->edge_index);
  adj_arena_free (scene->texts);
  g_free (scene->boxes);
  g_free (scene->edges);
  g_free (scene->points);
  g_free (scene->node_boxes);
  g_free (scene->kin);
  g_free (scene);
}

const char *
adj_scene_get_role_name (const AdjScene *scene, AdjRole role)
{
  return role == ADJ_ROLE_SAVED && scene->undecided ? "read by backward" : adj_role_name (role);
}

gboolean
adj_scene_is_undecided (const AdjScene *scene)
{
  return scene->undecided;
}

AdjRect
adj_scene_get_bounds (const AdjScene *scene)
{
  return scene->bounds;
}

guint
adj_scene_get_n_boxes (const AdjScene *scene)
{
  return scene->n_boxes;
}

const AdjSceneBox *
adj_scene_get_box (const AdjScene *scene, guint index)
{
  g_return_val_if_fail (index < scene->n_boxes, NULL);
  return &scene->boxes[index];
}

guint
adj_scene_get_n_edges (const AdjScene *scene)
{
  return scene->n_edges;
}

const AdjSceneEdge *
adj_scene_get_edge (const AdjScene *scene, guint index)
{
  g_return_val_if_fail (index < scene->n_edges, NULL);
  return &scene->edges[index];
}

gint64
adj_scene_get_saved_bytes (const AdjScene *scene)
{
  return scene->saved_bytes;
}

static gboolean
item_touches (const AdjScene *self, gboolean edges, guint item, const AdjRect *rect)
{
  return edges ? edge_touches (&self->edges[item], rect)
               : rects_touch (&self->boxes[item].rect, rect);
}

static void
foreach_item (
    const AdjScene *self, gboolean edges, const AdjRect *rect, AdjSceneFunc each, gpointer data)
{
  const AdjSceneIndex *index = edges ? &self->edge_index : &self->box_index;
  guint n_words = (edges ? self->n_edges : self->n_boxes) / 64 + 1;
  g_autofree guint64 *seen = g_new0 (guint64, n_words);
  Cells cells = cells_of (self, rect);

  for (guint y = cells.top; y <= cells.bottom; y++)
    for (guint x = cells.left; x <= cells.right; x++)
      {
        guint cell = y * self->n_columns + x;

        for (guint32 i = index->start[cell]; i < index->start[cell + 1]; i++)
          seen[index->items[i] / 64] |= G_GUINT64_CONSTANT (1) << (index->items[i] % 64);
      }

  for (guint w = 0; w < n_words; w++)
    for (guint64 bits = seen[w]; bits; bits &= bits - 1)
      {
        guint item = w * 64 + (guint) __builtin_ctzll (bits);

        if (item_touches (self, edges, item, rect) && !each (item, data))
          return;
      }
}

void
adj_scene_foreach_box (const AdjScene *scene, const AdjRect *rect, AdjSceneFunc each, gpointer data)
{
  foreach_item (scene, FALSE, rect, each, data);
}

void
adj_scene_foreach_edge (const AdjScene *scene,
                        const AdjRect *rect,
                        AdjSceneFunc each,
                        gpointer data)
{
  foreach_item (scene, TRUE, rect, each, data);
}

void
adj_scene_foreach_passing_edge (const AdjScene *scene,
                                const AdjRect *rect,
                                AdjSceneFunc each,
                                gpointer data)
{
  for (guint i = 0; i < scene->n_edges; i++)
    {
      const AdjSceneEdge *edge = &scene->edges[i];

      if (pieces_touch (edge, 0, edge->n_shared, rect) && !edge_touches (edge, rect) &&
          !each (i, data))
        return;
    }
}

typedef struct
{
  const AdjScene *scene;
  guint found;
} Hit;

/* Boxes are visited in index order, frames before their content, so the last hit is topmost;
 * headers cannot be hit. */
static gboolean
hit_box (guint index, gpointer data)
{
  Hit *hit = data;

  if (hit->scene->boxes[index].kind != ADJ_BOX_HEADER)
    hit->found = index;
  return TRUE;
}

static gboolean
hit_first (guint index, gpointer data)
{
  ((Hit *) data)->found = index;
  return FALSE;
}

guint
adj_scene_hit (const AdjScene *scene, float x, float y)
{
  AdjRect point = { x, y, 0, 0 };
  Hit hit = { scene, ADJ_NO_BOX };

  foreach_item (scene, FALSE, &point, hit_box, &hit);
  return hit.found;
}

guint
adj_scene_hit_edge (const AdjScene *scene, float x, float y, float tolerance)
{
  AdjRect around = { x - tolerance, y - tolerance, 2 * tolerance, 2 * tolerance };
  Hit hit = { scene, ADJ_NO_BOX };

  foreach_item (scene, TRUE, &around, hit_first, &hit);
  return hit.found;
}

guint
adj_scene_find_node (const AdjScene *scene, AdjNodeId node)
{
  return node.index < scene->n_nodes ? scene->node_boxes[node.index] : ADJ_NO_BOX;
}

AdjRole
adj_scene_get_role (const AdjScene *scene, AdjNodeId node)
{
  return node.index < scene->n_nodes ? scene->kin[node.index].role : ADJ_ROLE_NONE;
}

AdjNodeId
adj_scene_get_counterpart (const AdjScene *scene, AdjNodeId node)
{
  return node.index < scene->n_nodes ? scene->kin[node.index].counterpart : ADJ_NO_NODE;
}

AdjNodeId
adj_scene_get_original (const AdjScene *scene, AdjNodeId node)
{
  return node.index < scene->n_nodes ? scene->kin[node.index].original : ADJ_NO_NODE;
}

AdjNodeId
adj_scene_get_copy (const AdjScene *scene, AdjNodeId node)
{
  return node.index < scene->n_nodes ? scene->kin[node.index].copy : ADJ_NO_NODE;
}
