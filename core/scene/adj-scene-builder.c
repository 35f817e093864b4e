/* SPDX-License-Identifier: MIT */
/* AdjSceneBuilder: collects boxes and lines, and seals them as a scene. */

#include "scene/adj-scene-builder.h"

#include "scene/adj-scene-private.h"

struct _AdjSceneBuilder
{
  AdjArena *texts;
  GArray *boxes;
  GArray *edges;
  GArray *firsts; /* first point of each edge */
  GArray *points;
  guint n_nodes;
  guint32 *node_boxes;
  AdjSceneKin *kin;
  gboolean undecided;
};

AdjSceneBuilder *
adj_scene_builder_new (guint n_nodes)
{
  AdjSceneBuilder *builder = g_new0 (AdjSceneBuilder, 1);

  builder->texts = adj_arena_new ();
  builder->boxes = g_array_new (FALSE, FALSE, sizeof (AdjSceneBox));
  builder->edges = g_array_new (FALSE, FALSE, sizeof (AdjSceneEdge));
  builder->firsts = g_array_new (FALSE, FALSE, sizeof (guint32));
  builder->points = g_array_new (FALSE, FALSE, sizeof (AdjPoint));
  builder->n_nodes = n_nodes;
  builder->node_boxes = g_new (guint32, MAX (n_nodes, 1));
  builder->kin = g_new (AdjSceneKin, MAX (n_nodes, 1));
  for (guint i = 0; i < n_nodes; i++)
    {
      builder->node_boxes[i] = ADJ_NO_BOX;
      builder->kin[i] = (AdjSceneKin){ ADJ_NO_NODE, ADJ_NO_NODE, ADJ_NO_NODE, ADJ_ROLE_NONE };
    }
  return builder;
}

void
adj_scene_builder_free (AdjSceneBuilder *builder)
{
  g_clear_pointer (&builder->texts, adj_arena_free);
  g_clear_pointer (&builder->boxes, g_array_unref);
  g_clear_pointer (&builder->edges, g_array_unref);
  g_clear_pointer (&builder->firsts, g_array_unref);
  g_clear_pointer (&builder->points, g_array_unref);
  g_free (builder->node_boxes);
  g_free (builder->kin);
  g_free (builder);
}

static const char *
keep_text (AdjSceneBuilder *builder, const char *text)
{
  return text && *text ? adj_arena_intern (builder->texts, text) : "";
}

guint32
adj_scene_builder_add_box (AdjSceneBuilder *builder, const AdjSceneBox *box)
{
  AdjSceneBox copy = *box;

  copy.title = keep_text (builder, box->title);
  copy.subtitle = keep_text (builder, box->subtitle);
  copy.path = keep_text (builder, box->path);
  g_array_append_val (builder->boxes, copy);
  return builder->boxes->len - 1;
}

AdjSceneBox *
adj_scene_builder_get_box (AdjSceneBuilder *builder, guint32 index)
{
  return &g_array_index (builder->boxes, AdjSceneBox, index);
}

guint
adj_scene_builder_get_n_boxes (const AdjSceneBuilder *builder)
{
  return builder->boxes->len;
}

void
adj_scene_builder_add_edge (AdjSceneBuilder *builder, const AdjSceneEdge *edge)
{
  g_array_append_val (builder->firsts, builder->points->len);
  g_array_append_vals (builder->points, edge->points, edge->n_points);
  g_array_append_vals (builder->edges, edge, 1);
}

void
adj_scene_builder_place_node (AdjSceneBuilder *builder, AdjNodeId node, guint32 box)
{
  builder->node_boxes[node.index] = box;
}

void
adj_scene_builder_set_role (AdjSceneBuilder *builder, AdjNodeId node, AdjRole role)
{
  builder->kin[node.index].role = role;
}

void
adj_scene_builder_set_undecided (AdjSceneBuilder *builder, gboolean undecided)
{
  builder->undecided = undecided;
}

void
adj_scene_builder_set_counterparts (AdjSceneBuilder *builder, AdjNodeId a, AdjNodeId b)
{
  builder->kin[a.index].counterpart = b;
  builder->kin[b.index].counterpart = a;
}

void
adj_scene_builder_set_copy (AdjSceneBuilder *builder, AdjNodeId original, AdjNodeId copy)
{
  builder->kin[copy.index].original = original;
  if (!adj_node_id_is_valid (builder->kin[original.index].copy))
    builder->kin[original.index].copy = copy;
}

static void
extend (AdjPoint *low, AdjPoint *high, float x, float y)
{
  low->x = MIN (low->x, x);
  low->y = MIN (low->y, y);
  high->x = MAX (high->x, x);
  high->y = MAX (high->y, y);
}

/* The bounds, after moving everything into them. */
static AdjRect
move_to_origin (AdjScene *scene, guint n_points, float margin)
{
  AdjPoint low = { G_MAXFLOAT, G_MAXFLOAT }, high = { -G_MAXFLOAT, -G_MAXFLOAT };
  AdjPoint by;

  for (guint i = 0; i < scene->n_boxes; i++)
    {
      const AdjRect *r = &scene->boxes[i].rect;

      extend (&low, &high, r->x, r->y);
      extend (&low, &high, r->x + r->width, r->y + r->height);
    }
  for (guint i = 0; i < n_points; i++)
    extend (&low, &high, scene->points[i].x, scene->points[i].y);
  if (low.x > high.x)
    low = high = (AdjPoint){ 0, 0 };

  by = (AdjPoint){ margin - low.x, margin - low.y };
  for (guint i = 0; i < scene->n_boxes; i++)
    {
      scene->boxes[i].rect.x += by.x;
      scene->boxes[i].rect.y += by.y;
    }
  for (guint i = 0; i < n_points; i++)
    {
      scene->points[i].x += by.x;
      scene->points[i].y += by.y;
    }
  return (AdjRect){ 0, 0, high.x - low.x + 2 * margin, high.y - low.y + 2 * margin };
}

AdjScene *
adj_scene_builder_seal (AdjSceneBuilder *builder, float margin, gint64 saved_bytes)
{
  AdjScene *scene = g_new0 (AdjScene, 1);
  guint n_points = builder->points->len;

  g_atomic_ref_count_init (&scene->refs);
  scene->texts = g_steal_pointer (&builder->texts);
  scene->n_boxes = builder->boxes->len;
  scene->n_edges = builder->edges->len;
  scene->boxes = (AdjSceneBox *) (gpointer) g_array_free (g_steal_pointer (&builder->boxes), FALSE);
  scene->edges =
      (AdjSceneEdge *) (gpointer) g_array_free (g_steal_pointer (&builder->edges), FALSE);
  scene->points = (AdjPoint *) (gpointer) g_array_free (g_steal_pointer (&builder->points), FALSE);
  scene->n_nodes = builder->n_nodes;
  scene->node_boxes = g_steal_pointer (&builder->node_boxes);
  scene->kin = g_steal_pointer (&builder->kin);
  scene->undecided = builder->undecided;
  scene->saved_bytes = saved_bytes;
  for (guint i = 0; i < scene->n_edges; i++)
    scene->edges[i].points = scene->points + g_array_index (builder->firsts, guint32, i);

  scene->bounds = move_to_origin (scene, n_points, margin);
  adj_scene_index_cells (scene);
  return scene;
}
