/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* Which items touch which cell: items[start[c]] up to items[start[c + 1]]. */
typedef struct
{
  guint32 *start;
  guint32 *items;
} AdjSceneIndex;

/* Nodes that are related to a node. */
typedef struct
{
  AdjNodeId counterpart, original, copy;
  AdjRole role;
} AdjSceneKin;

struct _AdjScene
{
  gatomicrefcount refs;
  AdjArena *texts;
  AdjRect bounds;
  guint n_boxes;
  AdjSceneBox *boxes;
  guint n_edges;
  AdjSceneEdge *edges;
  AdjPoint *points;
  guint n_nodes;
  guint32 *node_boxes;
  AdjSceneKin *kin;
  gboolean undecided;
  gint64 saved_bytes;
  float cell;
  guint n_columns, n_rows;
  AdjSceneIndex box_index, edge_index;
};

/* Makes both indexes, of which there are none yet, for its bounds. */
void adj_scene_index_cells (AdjScene *scene);

G_END_DECLS
