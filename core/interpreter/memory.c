/* SPDX-License-Identifier: MIT */
/* The memory that a run needs, read off the annotations: every value lives from its node to the
 * last use of it or of a view on it. */

#include <stdio.h>

#include "analysis/adj-aliases.h"
#include "analysis/adj-node-bytes.h"
#include "interpreter/adj-interpreter.h"

/* The node whose bytes the result of node @index is a part of: several results are counted where
 * they are made. */
static guint
find_owner (const AdjGraph *graph, guint index, const AdjAlias *aliases, const AdjLifetime *lives)
{
  const AdjAlias *alias = &aliases[index];
  gboolean is_part = alias->must == index && alias->kind == ADJ_ALIAS_ITEM &&
                     adj_graph_get_node (graph, alias->base)->val.kind != ADJ_VALUE_NONE;

  if (is_part)
    return lives[alias->base].owner;
  return alias->must != index ? lives[alias->must].owner : index;
}

AdjLifetime *
adj_graph_get_lifetimes (const AdjGraph *graph, gboolean float64)
{
  guint n = adj_graph_get_n_nodes (graph);
  AdjLifetime *lives = g_new0 (AdjLifetime, MAX (n, 1));
  const AdjAlias *aliases = adj_graph_get_aliases (graph);
  const AdjNodeBytes *bytes = adj_graph_get_bytes (graph);

  for (guint i = 0; i < n; i++)
    {
      AdjLifetime *owner;

      lives[i].owner = find_owner (graph, i, aliases, lives);
      owner = &lives[lives[i].owner];
      if (lives[i].owner == i)
        lives[i].bytes = float64 ? bytes[i].in_float64 : bytes[i].bytes;
      owner->last = MAX (owner->last, adj_graph_get_last_use (graph, i).index);
    }
  return lives;
}

static guint64 estimate (const AdjGraph *graph, gboolean float64, gboolean with_inputs);

/* By subgraph: what running it needs beside what the caller holds.  (transfer full) */
static guint64 *
estimate_subgraphs (const AdjGraph *graph, gboolean float64)
{
  guint n = adj_graph_get_n_subgraphs (graph);
  guint64 *inner = g_new0 (guint64, n + 1);

  for (guint i = 0; i < n; i++)
    inner[i] = estimate (adj_graph_get_subgraph (graph, i, NULL), float64, FALSE);
  return inner;
}

/* The most that a graph needs that @node calls. */
static guint64
find_inner (const AdjGraph *graph, const AdjNode *node, const guint64 *inner)
{
  guint64 most = 0;

  for (guint i = 0; i < node->n_inputs; i++)
    {
      const AdjNode *input = adj_graph_get_node (graph, node->inputs[i].index);

      for (guint k = 0;
           input->opcode == ADJ_OPCODE_GET_ATTR && k < adj_graph_get_n_subgraphs (graph); k++)
        {
          const char *name;

          adj_graph_get_subgraph (graph, k, &name);
          if (g_str_equal (name, input->target))
            most = MAX (most, inner[k]);
        }
    }
  return most;
}

static guint64
estimate (const AdjGraph *graph, gboolean float64, gboolean with_inputs)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree AdjLifetime *lives = adj_graph_get_lifetimes (graph, float64);
  g_autofree guint64 *freed = g_new0 (guint64, n);
  g_autofree guint64 *inner = estimate_subgraphs (graph, float64);
  guint64 alive = 0, peak = 0;

  for (guint i = 0; i < adj_graph_get_n_inputs (graph) && !with_inputs; i++)
    lives[adj_graph_get_input (graph, i).index].bytes = 0;
  for (guint i = 0; i < n; i++)
    if (!g_uint64_checked_add (&freed[lives[i].last], freed[lives[i].last], lives[i].bytes))
      return G_MAXUINT64;
  for (guint i = 0; i < n; i++)
    {
      guint64 now;

      if (!g_uint64_checked_add (&alive, alive, lives[i].bytes) ||
          !g_uint64_checked_add (&now, alive,
                                 find_inner (graph, adj_graph_get_node (graph, i), inner)))
        return G_MAXUINT64;
      peak = MAX (peak, now);
      alive -= MIN (alive, freed[i]);
    }
  return peak;
}

guint64
adj_graph_estimate_memory (const AdjGraph *graph, gboolean float64)
{
  return estimate (graph, float64, TRUE);
}

guint64
adj_memory_get_available (void)
{
  g_autofree char *text = NULL;
  const char *line;
  guint64 kib;

  if (!g_file_get_contents ("/proc/meminfo", &text, NULL, NULL))
    return G_MAXUINT64;
  line = g_strstr_len (text, -1, "MemAvailable:");
  if (line == NULL || sscanf (line, "MemAvailable: %" G_GUINT64_FORMAT, &kib) != 1)
    return G_MAXUINT64;
  return kib * 1024;
}
