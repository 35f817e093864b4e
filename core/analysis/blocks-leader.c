/* SPDX-License-Identifier: MIT */
/* Blocks of a stage taken from another stage, by names of nodes. */

#include <string.h>

#include "analysis/adj-counterparts.h"
#include "analysis/blocks-leader-private.h"
#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"

typedef struct
{
  AdjGraph *graph; /* (owned) (nullable) */
} Leader;

static gpointer
lead_by_none (const AdjGraph *graph)
{
  return g_new0 (Leader, 1);
}

static void
leader_free (gpointer data)
{
  Leader *leader = data;

  g_clear_pointer (&leader->graph, adj_graph_unref);
  g_free (leader);
}

static const AdjGraphAnalysis leader_analysis = { lead_by_none, leader_free };

void
adj_graph_follow_blocks (const AdjGraph *graph, AdjGraph *leader)
{
  Leader *result;

  /* @leader may follow another graph itself. */
  while (adj_graph_get_blocks_leader (leader) != NULL)
    leader = adj_graph_get_blocks_leader (leader);
  if (leader == graph)
    return;
  result = g_new (Leader, 1);
  result->graph = adj_graph_ref (leader);
  adj_graph_keep_analysis (graph, &leader_analysis, result);
}

AdjGraph *
adj_graph_get_blocks_leader (const AdjGraph *graph)
{
  return ((const Leader *) adj_graph_analyse (graph, &leader_analysis))->graph;
}

static gboolean
is_call (const AdjNode *node)
{
  return node->opcode != ADJ_OPCODE_PLACEHOLDER && node->opcode != ADJ_OPCODE_OUTPUT &&
         node->opcode != ADJ_OPCODE_GET_ATTR;
}

/* Takes the blocks of nodes with the same name; whether at least half of the calls have one. */
static gboolean
take_named (const AdjGraph *graph, const AdjGraph *leader, const AdjBlocks *its, guint32 *of_node)
{
  guint n_calls = 0, n_known = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      AdjNodeId other = adj_graph_find_node (leader, node->name);

      of_node[i] = ADJ_NO_BLOCK;
      if (!is_call (node))
        continue;
      n_calls++;
      if (!adj_node_id_is_valid (other) ||
          strcmp (adj_graph_get_node (leader, other.index)->target, node->target) != 0)
        continue;
      n_known++;
      of_node[i] = its->of_node[other.index];
    }
  return n_calls > 0 && 2 * n_known >= n_calls;
}

static guint32
block_of_last_gradient (const AdjGraph *graph, guint32 index, const guint32 *of_node)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  guint32 last = 0, block = ADJ_NO_BLOCK;

  for (guint k = 0; k < node->n_inputs && node->opcode != ADJ_OPCODE_OUTPUT; k++)
    {
      guint32 input = node->inputs[k].index;

      if (input >= last && adj_graph_depends_on_tangent (graph, input))
        {
          last = input;
          block = of_node[input];
        }
    }
  return block;
}

guint32
blocks_of_gradient (const AdjGraph *graph,
                    guint32 index,
                    guint32 counterpart,
                    const guint32 *of_node)
{
  return counterpart != G_MAXUINT32 && !adj_graph_adds_gradients (graph, index)
             ? of_node[counterpart]
             : block_of_last_gradient (graph, index, of_node);
}

/* The block of all readers of @node, or ADJ_NO_BLOCK if they differ. */
static guint32
block_of_readers (const AdjNode *node, const guint32 *of_node)
{
  guint32 block = node->n_users > 0 ? of_node[node->users[0].index] : ADJ_NO_BLOCK;

  for (guint k = 1; k < node->n_users; k++)
    if (of_node[node->users[k].index] != block)
      return ADJ_NO_BLOCK;
  return block;
}

void
blocks_take_readers (const AdjGraph *graph, guint32 *of_node)
{
  guint n = adj_graph_get_n_nodes (graph), start = 0;

  while (start < n && (!is_call (adj_graph_get_node (graph, start)) ||
                       !adj_graph_depends_on_tangent (graph, start)))
    start++;
  for (guint i = n; i-- > start;)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (of_node[i] == ADJ_NO_BLOCK && is_call (node) && !adj_graph_depends_on_tangent (graph, i))
        of_node[i] = block_of_readers (node, of_node);
    }
}

/* A call with another name gets the block of its forward call, or that of both neighbours. */
static void
take_others (const AdjGraph *graph, guint32 *of_node)
{
  const guint32 *counterparts = adj_graph_get_counterparts (graph);
  guint n = adj_graph_get_n_nodes (graph);
  guint32 before = ADJ_NO_BLOCK;

  for (guint i = 0; i < n; i++)
    {
      guint next = i + 1;

      if (!is_call (adj_graph_get_node (graph, i)))
        continue;
      if (of_node[i] == ADJ_NO_BLOCK)
        of_node[i] = blocks_of_gradient (graph, i, counterparts[i], of_node);
      while (next < n && of_node[next] == ADJ_NO_BLOCK)
        next++;
      if (of_node[i] == ADJ_NO_BLOCK && next < n && of_node[next] == before)
        for (guint k = i; k < next; k++)
          of_node[k] = before;
      before = of_node[i];
    }
  blocks_take_readers (graph, of_node);
}

const AdjBlocks *
blocks_of_leader (const AdjGraph *graph, guint32 *of_node)
{
  const AdjGraph *leader = adj_graph_get_blocks_leader (graph);
  const AdjBlocks *its = leader != NULL ? adj_graph_get_blocks (leader) : NULL;

  if (its == NULL || its->n_blocks == 0 || !take_named (graph, leader, its, of_node))
    return NULL;
  take_others (graph, of_node);
  return its;
}
