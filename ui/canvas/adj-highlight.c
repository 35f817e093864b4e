/* SPDX-License-Identifier: MIT */
/* What stays lit while the rest is dimmed: boxes and lines around chosen nodes or of one role. */

#include "canvas/adj-highlight.h"

#include "ir/adj-graph.h"

#define LIT 1
#define CHOSEN 2
#define THREAD 4

struct _AdjHighlight
{
  guint8 *boxes; /* LIT, CHOSEN, THREAD */
  guint8 *edges; /* LIT, THREAD */
};

static AdjHighlight *
highlight_new (const AdjScene *scene)
{
  AdjHighlight *highlight = g_new0 (AdjHighlight, 1);

  highlight->boxes = g_new0 (guint8, adj_scene_get_n_boxes (scene) + 1);
  highlight->edges = g_new0 (guint8, adj_scene_get_n_edges (scene) + 1);
  return highlight;
}

void
adj_highlight_free (AdjHighlight *highlight)
{
  g_free (highlight->boxes);
  g_free (highlight->edges);
  g_free (highlight);
}

static void
light_box (AdjHighlight *highlight, const AdjScene *scene, guint box)
{
  if (box >= adj_scene_get_n_boxes (scene))
    return;
  highlight->boxes[box] |= LIT;
  box = adj_scene_get_box (scene, box)->anchor;
  if (box != ADJ_NO_BOX)
    highlight->boxes[box] |= LIT;
}

static void
light_frames (AdjHighlight *highlight, const AdjScene *scene)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_HEADER ||
          (box->kind == ADJ_BOX_GROUP && box->fold != ADJ_FOLD_CLOSED))
        highlight->boxes[i] |= LIT;
    }
}

/* Lights the bridges on lit lines. */
static void
light_bridges (AdjHighlight *highlight, const AdjScene *scene)
{
  guint n = adj_scene_get_n_boxes (scene);
  g_autofree guint8 *crossed = g_new0 (guint8, n + 1);

  for (guint i = 0; i < adj_scene_get_n_edges (scene); i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, i);

      if (highlight->edges[i] && edge->from < n &&
          (edge->kind == ADJ_EDGE_BRIDGE || edge->kind == ADJ_EDGE_RECOMPUTE))
        crossed[edge->from] = TRUE;
    }
  for (guint i = 0; i < n; i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_BRIDGE && box->anchor < n && crossed[box->anchor])
        highlight->boxes[i] |= LIT;
    }
}

static gboolean
has_lit_end (const AdjHighlight *highlight, const AdjSceneEdge *edge)
{
  return (highlight->boxes[edge->from] | highlight->boxes[edge->to]) & THREAD;
}

/* Highlights the whole chain of effect tokens through @own. */
static void
light_thread (AdjHighlight *highlight, const AdjScene *scene, guint own)
{
  gboolean grows = own < adj_scene_get_n_boxes (scene);

  if (grows)
    highlight->boxes[own] |= THREAD;
  while (grows)
    {
      grows = FALSE;
      for (guint i = 0; i < adj_scene_get_n_edges (scene); i++)
        {
          const AdjSceneEdge *edge = adj_scene_get_edge (scene, i);

          if (edge->kind != ADJ_EDGE_EFFECT || (highlight->edges[i] & THREAD) ||
              !has_lit_end (highlight, edge))
            continue;
          highlight->edges[i] |= THREAD;
          highlight->boxes[edge->from] |= THREAD;
          highlight->boxes[edge->to] |= THREAD;
          grows = TRUE;
        }
    }
}

AdjHighlight *
adj_highlight_new_for_node (const AdjScene *scene, const AdjGraph *graph, AdjNodeId id)
{
  AdjHighlight *highlight = highlight_new (scene);
  const AdjNode *node = adj_graph_get_node (graph, id.index);
  guint own = adj_scene_find_node (scene, id);
  const AdjNodeId kin[] = { adj_scene_get_counterpart (scene, id),
                            adj_scene_get_original (scene, id), adj_scene_get_copy (scene, id) };

  light_frames (highlight, scene);
  light_box (highlight, scene, own);
  for (guint i = 0; i < node->n_inputs; i++)
    light_box (highlight, scene, adj_scene_find_node (scene, node->inputs[i]));
  for (guint i = 0; i < node->n_users; i++)
    light_box (highlight, scene, adj_scene_find_node (scene, node->users[i]));
  for (guint i = 0; i < G_N_ELEMENTS (kin); i++)
    if (adj_node_id_is_valid (kin[i]))
      light_box (highlight, scene, adj_scene_find_node (scene, kin[i]));

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->node.index == id.index || (box->kind == ADJ_BOX_CHIP && box->anchor == own))
        highlight->boxes[i] |= LIT;
    }
  for (guint i = 0; i < adj_scene_get_n_edges (scene); i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, i);

      if (edge->from == own || edge->to == own || edge->value.index == id.index)
        {
          highlight->edges[i] |= LIT;
          light_box (highlight, scene, edge->from);
          light_box (highlight, scene, edge->to);
        }
    }
  light_thread (highlight, scene, own);
  light_bridges (highlight, scene);

  return highlight;
}

static void
light_between (AdjHighlight *highlight, const AdjScene *scene)
{
  for (guint i = 0; i < adj_scene_get_n_edges (scene); i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, i);
      guint n = adj_scene_get_n_boxes (scene);

      if (edge->from < n && edge->to < n && (highlight->boxes[edge->from] & CHOSEN) &&
          (highlight->boxes[edge->to] & CHOSEN))
        highlight->edges[i] |= LIT;
    }
}

AdjHighlight *
adj_highlight_new_for_nodes (const AdjScene *scene, const GArray *nodes, gboolean chosen)
{
  AdjHighlight *highlight = highlight_new (scene);

  light_frames (highlight, scene);
  for (guint i = 0; i < nodes->len; i++)
    {
      guint box = adj_scene_find_node (scene, (AdjNodeId){ g_array_index (nodes, guint32, i) });

      light_box (highlight, scene, box);
      if (chosen && box < adj_scene_get_n_boxes (scene))
        highlight->boxes[box] |= CHOSEN;
    }
  if (chosen)
    {
      light_between (highlight, scene);
      light_bridges (highlight, scene);
    }

  return highlight;
}

AdjHighlight *
adj_highlight_new_for_role (const AdjScene *scene, AdjRole role)
{
  AdjHighlight *highlight = highlight_new (scene);

  light_frames (highlight, scene);
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    if (adj_scene_get_box (scene, i)->role == role)
      light_box (highlight, scene, i);

  return highlight;
}

gboolean
adj_highlight_has_box (const AdjHighlight *highlight, guint box)
{
  return highlight->boxes[box] != 0;
}

gboolean
adj_highlight_has_chosen (const AdjHighlight *highlight, guint box)
{
  return (highlight->boxes[box] & CHOSEN) != 0;
}

gboolean
adj_highlight_has_edge (const AdjHighlight *highlight, guint edge)
{
  return highlight->edges[edge] != 0;
}
