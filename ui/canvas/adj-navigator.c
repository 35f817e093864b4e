/* SPDX-License-Identifier: MIT */
/* Targets of arrow keys: the nearest box in a direction, along a line, or in the same role. */

#include "canvas/adj-navigator.h"

#include <math.h>

gboolean
adj_navigator_is_stop (const AdjSceneBox *box)
{
  return box->kind != ADJ_BOX_GROUP && box->kind != ADJ_BOX_HEADER && box->kind != ADJ_BOX_BRIDGE &&
         adj_node_id_is_valid (box->node);
}

static AdjPoint
middle (const AdjRect *rect)
{
  return (AdjPoint){ rect->x + rect->width / 2, rect->y + rect->height / 2 };
}

/* The distance from @from to @to in a direction, sideways counting double; infinite outside the
 * cone. */
static float
distance (const AdjRect *from, const AdjRect *to, AdjDirection direction)
{
  AdjPoint a = middle (from), b = middle (to);
  gboolean flat = direction == ADJ_DIRECTION_LEFT || direction == ADJ_DIRECTION_RIGHT;
  gboolean back = direction == ADJ_DIRECTION_LEFT || direction == ADJ_DIRECTION_UP;
  float along = flat ? b.x - a.x : b.y - a.y;
  float aside = fabsf (flat ? b.y - a.y : b.x - a.x);

  if (back)
    along = -along;
  if (along < 4 || aside > along * 3 + 20)
    return INFINITY;
  return along + 2 * aside;
}

static AdjNodeId
first_stop (const AdjScene *scene)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_NODE && adj_navigator_is_stop (box))
        return box->node;
    }
  return ADJ_NO_NODE;
}

static guint
along_edge (const AdjScene *scene, guint from, AdjDirection direction)
{
  const AdjRect *rect = &adj_scene_get_box (scene, from)->rect;
  float best = INFINITY;
  guint found = ADJ_NO_BOX;

  for (guint i = 0; i < adj_scene_get_n_edges (scene); i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, i);
      guint other = edge->from == from ? edge->to : edge->to == from ? edge->from : ADJ_NO_BOX;
      float far;

      if (other == ADJ_NO_BOX || !adj_navigator_is_stop (adj_scene_get_box (scene, other)))
        continue;
      far = distance (rect, &adj_scene_get_box (scene, other)->rect, direction);
      if (far < best)
        {
          best = far;
          found = other;
        }
    }

  return found;
}

static guint
nearest (const AdjScene *scene, guint from, AdjDirection direction)
{
  const AdjRect *rect = &adj_scene_get_box (scene, from)->rect;
  float best = INFINITY;
  guint found = ADJ_NO_BOX;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);
      float far = adj_navigator_is_stop (box) ? distance (rect, &box->rect, direction) : INFINITY;

      if (far < best)
        {
          best = far;
          found = i;
        }
    }

  return found;
}

AdjNodeId
adj_navigator_step (const AdjScene *scene, AdjNodeId from, AdjDirection direction)
{
  guint own = adj_node_id_is_valid (from) ? adj_scene_find_node (scene, from) : ADJ_NO_BOX;
  guint found;

  if (own == ADJ_NO_BOX)
    return first_stop (scene);

  found = along_edge (scene, own, direction);
  if (found == ADJ_NO_BOX)
    found = nearest (scene, own, direction);
  return found == ADJ_NO_BOX ? from : adj_scene_get_box (scene, found)->node;
}

AdjNodeId
adj_navigator_kin (const AdjScene *scene, AdjNodeId node)
{
  AdjNodeId original = adj_scene_get_original (scene, node);
  AdjNodeId copy = adj_scene_get_copy (scene, node);
  AdjNodeId gradient = adj_node_id_is_valid (original) ? adj_scene_get_counterpart (scene, original)
                                                       : adj_scene_get_counterpart (scene, node);

  if (adj_node_id_is_valid (copy))
    return copy;
  return adj_node_id_is_valid (gradient) ? gradient : original;
}
