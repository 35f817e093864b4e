/* SPDX-License-Identifier: MIT */
/* Liveness of memory, in one walk in order of execution: the owner of a result's memory by the
 * aliases, and its end by the last reader. */

#include "analysis/adj-lifetimes.h"

#include "analysis/adj-aliases.h"
#include "analysis/adj-node-bytes.h"
#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"

/* Several results are counted at the node that makes them, unless it has no annotation. */
static guint32
find_owner (const AdjGraph *graph, guint32 index, const AdjLifetime *lifetimes)
{
  const AdjAlias *alias = &adj_graph_get_aliases (graph)[index];
  gboolean is_part = alias->must == index && alias->kind == ADJ_ALIAS_ITEM &&
                     adj_graph_get_node (graph, alias->base)->val.kind != ADJ_VALUE_NONE;

  if (is_part)
    return lifetimes[alias->base].owner;
  return alias->must != index ? lifetimes[alias->must].owner : index;
}

static gpointer
compute (const AdjGraph *graph)
{
  guint32 n = adj_graph_get_n_nodes (graph);
  const AdjNodeBytes *bytes = adj_graph_get_bytes (graph);
  AdjLifetime *lifetimes = g_new0 (AdjLifetime, n + 1);

  for (guint32 i = 0; i < n; i++)
    {
      guint32 owner = find_owner (graph, i, lifetimes);
      AdjLifetime *own = &lifetimes[i];

      own->owner = owner;
      if (adj_graph_get_node (graph, i)->opcode != ADJ_OPCODE_PLACEHOLDER)
        own->first = i;
      if (owner == i)
        {
          own->bytes = bytes[i].bytes;
          own->in_float64 = bytes[i].in_float64;
        }
      lifetimes[owner].last = MAX (lifetimes[owner].last, adj_graph_get_last_use (graph, i).index);
    }
  return lifetimes;
}

static const AdjGraphAnalysis lifetimes_analysis = { compute, g_free };

const AdjLifetime *
adj_graph_get_lifetimes (const AdjGraph *graph)
{
  return adj_graph_analyse (graph, &lifetimes_analysis);
}

/* -- bytes of each step -- */

/* First the bytes that begin and end at each step, then their sums.  If ranges that end at one step
 * overflow, so does the sum at that step. */
guint64 *
adj_live_ranges_add_up (const AdjLiveRange *ranges, guint n_ranges, guint n_steps, guint *peak)
{
  guint64 *live = g_new0 (guint64, n_steps + 1);
  g_autofree guint64 *gone = g_new0 (guint64, n_steps + 1);
  guint64 now = 0;

  for (guint i = 0; i < n_ranges; i++)
    {
      adj_bytes_add (&live[ranges[i].first], ranges[i].bytes);
      adj_bytes_add (&gone[ranges[i].last], ranges[i].bytes);
    }
  *peak = 0;
  for (guint step = 0; step < n_steps; step++)
    {
      adj_bytes_add (&now, live[step]);
      live[step] = now;
      if (now > live[*peak])
        *peak = step;
      if (now < G_MAXUINT64)
        now -= gone[step];
    }
  return live;
}
