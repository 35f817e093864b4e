/* SPDX-License-Identifier: MIT */
#pragma once

#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* The only way to make a scene.  Texts and points are copied. */
typedef struct _AdjSceneBuilder AdjSceneBuilder;

#define ADJ_SCENE_BOX_INIT                                                                         \
  {                                                                                                \
    .group = ADJ_NO_BOX, .anchor = ADJ_NO_BOX, .node = ADJ_NO_NODE, .bytes = -1                    \
  }

/* @n_nodes: number of nodes of the drawn graph. */
AdjSceneBuilder *adj_scene_builder_new (guint n_nodes);
void adj_scene_builder_free (AdjSceneBuilder *builder);

/* Texts of @box may be %NULL for "".  Returns its index. */
guint32 adj_scene_builder_add_box (AdjSceneBuilder *builder, const AdjSceneBox *box);
/* Valid until the next box is added; texts must not be set through it. */
AdjSceneBox *adj_scene_builder_get_box (AdjSceneBuilder *builder, guint32 index);
guint adj_scene_builder_get_n_boxes (const AdjSceneBuilder *builder);

void adj_scene_builder_add_edge (AdjSceneBuilder *builder, const AdjSceneEdge *edge);

/* Sets the box that shows @node. */
void adj_scene_builder_place_node (AdjSceneBuilder *builder, AdjNodeId node, guint32 box);
/* The role of @node itself, whichever box shows it. */
void adj_scene_builder_set_role (AdjSceneBuilder *builder, AdjNodeId node, AdjRole role);
/* Names what backward reads "read by backward" instead of "saved", as nothing is decided yet. */
void adj_scene_builder_set_undecided (AdjSceneBuilder *builder, gboolean undecided);
void adj_scene_builder_set_counterparts (AdjSceneBuilder *builder, AdjNodeId a, AdjNodeId b);
/* @copy recomputes @original; of several copies the first is kept. */
void adj_scene_builder_set_copy (AdjSceneBuilder *builder, AdjNodeId original, AdjNodeId copy);

/* Moves everything so that the bounds begin at (0, 0) with @margin around, and makes the index.
 * @builder is empty afterwards and can only be freed. */
AdjScene *adj_scene_builder_seal (AdjSceneBuilder *builder, float margin, gint64 saved_bytes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjSceneBuilder, adj_scene_builder_free)

G_END_DECLS
