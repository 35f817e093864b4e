/* SPDX-License-Identifier: MIT */
/* The memory that a run needs, by the lifetimes of results and those of subgraphs. */

#include <stdio.h>

#include "analysis/adj-lifetimes.h"
#include "interpreter/adj-interpreter-internal.h"
#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"

typedef enum
{
  INPUTS_UNCOUNTED,
  INPUTS_FROM_START,
  INPUTS_FROM_FIRST_USE,
} Inputs;

static guint64 estimate (const AdjGraph *graph, gboolean float64, Inputs inputs);

/* By subgraph: the memory of running it, without its inputs. (transfer full) */
static guint64 *
estimate_subgraphs (const AdjGraph *graph, gboolean float64)
{
  guint n = adj_graph_get_n_subgraphs (graph);
  guint64 *inner = g_new0 (guint64, n + 1);

  for (guint i = 0; i < n; i++)
    inner[i] = estimate (adj_graph_get_subgraph (graph, i, NULL), float64, INPUTS_UNCOUNTED);
  return inner;
}

/* The largest memory of the subgraphs that @node calls. */
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

/* By node: the first node that reads it; itself if there is none. (transfer full) */
static guint32 *
find_first_uses (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  guint32 *first = g_new (guint32, n + 1);

  for (guint i = 0; i < n; i++)
    first[i] = i;
  for (guint i = n; i-- > 0;)
    for (guint k = 0; k < adj_graph_get_node (graph, i)->n_inputs; k++)
      first[adj_graph_get_node (graph, i)->inputs[k].index] = i;
  return first;
}

static guint64
estimate (const AdjGraph *graph, gboolean float64, Inputs inputs)
{
  guint n = adj_graph_get_n_nodes (graph), peak;
  const AdjLifetime *lives = adj_graph_get_lifetimes (graph);
  g_autofree guint64 *inner = estimate_subgraphs (graph, float64);
  g_autofree guint32 *first_use = find_first_uses (graph);
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (AdjLiveRange));
  g_autofree guint64 *live = NULL;

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      AdjLiveRange own = { lives[i].first, lives[i].last,
                           float64 ? lives[i].in_float64 : lives[i].bytes };
      AdjLiveRange called = { i, i, find_inner (graph, node, inner) };

      if (node->opcode == ADJ_OPCODE_PLACEHOLDER && inputs == INPUTS_FROM_FIRST_USE)
        own.first = first_use[i];
      if (lives[i].owner == i &&
          (inputs != INPUTS_UNCOUNTED || node->opcode != ADJ_OPCODE_PLACEHOLDER))
        g_array_append_val (ranges, own);
      g_array_append_val (ranges, called);
    }
  live = adj_live_ranges_add_up ((const AdjLiveRange *) (gpointer) ranges->data, ranges->len, n,
                                 &peak);
  return live[peak];
}

/* Memory of running a graph: with its dtypes, and in float64. */
typedef struct
{
  guint64 bytes[2], reading[2];
} Needed;

static gpointer
find_needed (const AdjGraph *graph)
{
  Needed *needed = g_new (Needed, 1);

  for (guint i = 0; i < 2; i++)
    {
      needed->bytes[i] = estimate (graph, i == 1, INPUTS_FROM_START);
      needed->reading[i] = estimate (graph, i == 1, INPUTS_FROM_FIRST_USE);
    }
  return needed;
}

static const AdjGraphAnalysis needed_analysis = { find_needed, g_free };

guint64
adj_graph_estimate_memory (const AdjGraph *graph, gboolean float64)
{
  const Needed *needed = adj_graph_analyse (graph, &needed_analysis);

  return needed->bytes[float64 ? 1 : 0];
}

guint64
adj_graph_estimate_memory_reading (const AdjGraph *graph, gboolean float64)
{
  const Needed *needed = adj_graph_analyse (graph, &needed_analysis);

  return needed->reading[float64 ? 1 : 0];
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
