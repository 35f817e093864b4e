/* SPDX-License-Identifier: MIT */
#pragma once

#include "scene/adj-scene.h"

G_BEGIN_DECLS

typedef enum
{
  ADJ_DIRECTION_LEFT,
  ADJ_DIRECTION_RIGHT,
  ADJ_DIRECTION_UP,
  ADJ_DIRECTION_DOWN,
} AdjDirection;

/* The next node in a direction: along an edge if there is one, else the nearest box within a cone;
 * without a current node the first card. */
AdjNodeId adj_navigator_step (const AdjScene *scene, AdjNodeId from, AdjDirection direction);

/* Whether @box represents exactly one node and can be selected. */
gboolean adj_navigator_is_stop (const AdjSceneBox *box);

/* Cycles through a forward node's relatives in backward: the copy that recomputes it, its gradient,
 * and the node itself; ADJ_NO_NODE: it has neither. */
AdjNodeId adj_navigator_kin (const AdjScene *scene, AdjNodeId node);

G_END_DECLS
