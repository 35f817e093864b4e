/* SPDX-License-Identifier: MIT */
/* The values that lines at a point carry, and the boxes at their ends. */

#include "canvas/line-ends.h"

#include "ir/adj-graph.h"

static gboolean
crosses (const AdjSceneEdge *edge)
{
  return edge->kind == ADJ_EDGE_BRIDGE || edge->kind == ADJ_EDGE_RECOMPUTE;
}

GArray *
adj_line_of_bridge (const AdjScene *scene, guint bridge)
{
  guint32 from = adj_scene_get_box (scene, bridge)->anchor;
  GArray *line = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < adj_scene_get_n_edges (scene); i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, i);

      if (edge->from == from && crosses (edge))
        g_array_append_val (line, i);
    }
  return line;
}

typedef struct
{
  const AdjScene *scene;
  GArray *line;
} Touching;

static gboolean
add_edge (guint index, gpointer data)
{
  Touching *touching = data;
  const AdjScene *scene = touching->scene;
  GArray *line = touching->line;

  if (line->len == 0 || adj_scene_get_edge (scene, g_array_index (line, guint32, 0))->from ==
                            adj_scene_get_edge (scene, index)->from)
    g_array_append_val (line, index);
  return TRUE;
}

GArray *
adj_line_at (const AdjScene *scene, AdjPoint at, float tolerance)
{
  AdjRect around = { at.x - tolerance, at.y - tolerance, 2 * tolerance, 2 * tolerance };
  Touching touching = { scene, g_array_new (FALSE, FALSE, sizeof (guint32)) };

  adj_scene_foreach_edge (scene, &around, add_edge, &touching);
  if (touching.line->len > 0)
    adj_scene_foreach_passing_edge (scene, &around, add_edge, &touching);
  return touching.line;
}

/* -- ends -- */

typedef struct
{
  const AdjScene *scene;
  guint32 from;
  guint8 *is_to;  /* of each box */
  guint8 *taken;  /* of each node */
  GArray *makers; /* of guint32 */
  GArray *readers;
} Ends;

static void
take (Ends *ends, GArray *nodes, AdjNodeId node)
{
  const AdjSceneBox *box = adj_scene_get_box (ends->scene, adj_scene_find_node (ends->scene, node));

  if (adj_node_id_is_valid (box->node))
    node = box->node;
  if (!ends->taken[node.index])
    g_array_append_val (nodes, node.index);
  ends->taken[node.index] = TRUE;
}

static gboolean
is_end (const Ends *ends, AdjNodeId node)
{
  guint box = adj_node_id_is_valid (node) ? adj_scene_find_node (ends->scene, node) : ADJ_NO_BOX;

  return box != ADJ_NO_BOX && ends->is_to[box];
}

/* Adds the readers of the value, and the node that recomputes it. */
static void
take_readers (Ends *ends, const AdjGraph *graph, AdjNodeId maker)
{
  const AdjNode *node = adj_graph_get_node (graph, maker.index);
  AdjNodeId copy = adj_scene_get_copy (ends->scene, maker);
  gboolean any = is_end (ends, copy);

  if (any)
    take (ends, ends->readers, copy);
  for (guint i = 0; i < node->n_users; i++)
    if (is_end (ends, node->users[i]))
      {
        take (ends, ends->readers, node->users[i]);
        any = TRUE;
      }
  if (any)
    take (ends, ends->makers, maker);
}

/* Takes the boxes of a line without a value: from results to tangents. */
static void
take_boxes (Ends *ends)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (ends->scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (ends->scene, i);

      if (adj_node_id_is_valid (box->node) && (i == ends->from || ends->is_to[i]))
        take (ends, i == ends->from ? ends->makers : ends->readers, box->node);
    }
}

GArray *
adj_line_get_ends (const AdjScene *scene,
                   const AdjGraph *graph,
                   const GArray *line,
                   guint *n_readers)
{
  g_autofree guint8 *is_to = g_new0 (guint8, adj_scene_get_n_boxes (scene) + 1);
  g_autofree guint8 *taken = g_new0 (guint8, adj_graph_get_n_nodes (graph) + 1);
  g_autoptr (GArray) makers = g_array_new (FALSE, FALSE, sizeof (guint32));
  GArray *readers = g_array_new (FALSE, FALSE, sizeof (guint32));
  Ends ends = { scene, ADJ_NO_BOX, is_to, taken, makers, readers };

  g_assert (line->len > 0);
  for (guint i = 0; i < line->len; i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, g_array_index (line, guint32, i));

      ends.from = edge->from;
      if (edge->to < adj_scene_get_n_boxes (scene))
        is_to[edge->to] = TRUE;
    }
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_scene_find_node (scene, (AdjNodeId){ i }) == ends.from)
      take_readers (&ends, graph, (AdjNodeId){ i });
  if (makers->len == 0)
    take_boxes (&ends);
  if (n_readers != NULL)
    *n_readers = readers->len;
  g_array_append_vals (readers, makers->data, makers->len);
  return readers;
}
