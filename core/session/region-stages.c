/* SPDX-License-Identifier: MIT */
/* The graphs of a region of a file as stages of a recording. */

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "session/adj-region-stages.h"

/* By role: the roles that it may be made from, the nearest first, and its description in one line.
 */
static const struct
{
  const char *role;
  const char *parents[5];
  const char *summary;
} kinds[] = {
  { "dynamo", { NULL }, "The program as it was captured" },
  { "user", { NULL }, "A graph that somebody wrote" },
  { "pre_grad", { "dynamo" }, "What Inductor begins with" },
  { "after_pre_grad", { "pre_grad", "dynamo" }, "After Inductor's passes on what was captured" },
  { "joint",
    { "after_pre_grad", "pre_grad", "dynamo", "user" },
    "Forward and backward in one graph" },
  { "inference",
    { "after_pre_grad", "pre_grad", "dynamo", "user" },
    "Without writes, and without a backward" },
  { "forward", { "joint" }, "What runs in forward, and saves for backward" },
  { "backward", { "joint" }, "What runs in backward" },
  { "compiled_autograd",
    { "compiled_autograd_pre_reordering" },
    "A backward, captured whole with its hooks" },
};

static const char *
get_summary (const char *role)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (role, kinds[i].role))
      return kinds[i].summary;
  return "What a pass of the compiler made";
}

/* How many inputs of @a have the name of one of @b. */
static guint
count_common_inputs (const AdjGraph *a, const AdjGraph *b)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_inputs (a); i++)
    n += adj_node_id_is_valid (
        adj_graph_find_node (b, adj_graph_get_node (a, adj_graph_get_input (a, i).index)->name));
  return n;
}

/* The stage that a graph with unknown parent was made from: the last one with the most common
 * inputs, preferably with equally many inputs; so each post_grad finds its own forward or backward.
 * -1: none. */
static gint
find_alike (const AdjRecording *recording, const AdjGraph *graph)
{
  guint best = 0;
  gint found = -1;

  for (guint i = 0; i < adj_recording_get_n_stages (recording); i++)
    {
      const AdjGraph *other = adj_recording_get_stage (recording, i)->graph;
      guint n = count_common_inputs (graph, other);

      if (adj_graph_get_n_inputs (other) == adj_graph_get_n_inputs (graph) && n > 0)
        n += ADJ_MAX_NODES;
      if (n > 0 && n >= best)
        {
          best = n;
          found = (gint) i;
        }
    }
  return found;
}

static gint
find_parent (const AdjRecording *recording, const AdjBundleGraph *graph)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (graph->role, kinds[i].role))
      {
        for (guint k = 0; kinds[i].parents[k] != NULL; k++)
          if (adj_recording_find (recording, kinds[i].parents[k]) >= 0)
            return adj_recording_find (recording, kinds[i].parents[k]);
        return -1;
      }
  return find_alike (recording, graph->graph);
}

static gboolean
is_part (const AdjBundleGraph *graph)
{
  return g_str_equal (graph->role, "subgraph");
}

static void
add (AdjRecording *recording, const AdjBundleGraph *graph)
{
  adj_recording_add (recording, &(AdjStage){ .name = (char *) graph->role,
                                             .summary = (char *) get_summary (graph->role),
                                             .graph = graph->graph,
                                             .from = find_parent (recording, graph),
                                             .ns = -1 });
}

gboolean
adj_region_stages_contain (const AdjRecording *recording, const AdjGraph *graph)
{
  for (guint i = 0; i < adj_recording_get_n_stages (recording); i++)
    if (adj_recording_get_stage (recording, i)->graph == graph)
      return TRUE;
  return FALSE;
}

AdjRecording *
adj_region_stages_new (AdjBundle *bundle, const AdjBundleGraph *graph)
{
  AdjRecording *recording = adj_bundle_get_recording (bundle);
  const AdjRegion *region = adj_bundle_find_region (bundle, graph);

  if (recording != NULL && adj_region_stages_contain (recording, graph->graph))
    return adj_recording_ref (recording);
  recording = adj_recording_new ();
  if (region == NULL || is_part (graph))
    add (recording, graph);
  else
    for (guint i = 0; i < region->n_graphs; i++)
      if (!is_part (region->graphs[i]))
        add (recording, region->graphs[i]);
  return recording;
}
