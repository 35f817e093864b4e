/* SPDX-License-Identifier: MIT */
/* The origins and descendants of a node, over all stages. */

#include "model/adj-provenance.h"

#include "ir/adj-graph.h"
#include "model/adj-maker.h"
#include "model/adj-stage-summaries.h"
#include "model/adj-stages.h"

/* The related nodes of each step. */
typedef struct
{
  AdjDocument *document;
  AdjStageSummaries *summaries;
  GArray *steps; /* of AdjStep */
  GArray **kin;  /* of guint32: one array per step */
} Search;

static gint
find_step (const Search *search, gint graph)
{
  for (guint i = 0; graph >= 0 && i < search->steps->len; i++)
    if (g_array_index (search->steps, AdjStep, i).graph == (guint) graph)
      return (gint) i;
  return -1;
}

static const AdjGraph *
get_graph (const Search *search, guint step)
{
  return adj_graph_set_get (adj_document_get_graphs (search->document),
                            g_array_index (search->steps, AdjStep, step).graph)
      ->graph;
}

/* Adds the nodes of the step whose origin is @wanted. */
static void
add_descendants (Search *search, guint step, const AdjStageSummary *summary, guint32 wanted)
{
  guint n = adj_graph_get_n_nodes (get_graph (search, step));

  for (guint i = 0; i < n && search->kin[step]->len < ADJ_MAX_KIN; i++)
    if (summary->origins[i] == wanted)
      g_array_append_val (search->kin[step], i);
}

static void
search_up (Search *search, guint step, guint32 node)
{
  const AdjStageSummary *summary = adj_stage_summaries_get (search->summaries, step);

  while (summary != NULL && summary->origins != NULL && summary->origins[node] != G_MAXUINT32)
    {
      gint before = find_step (search, summary->before);

      if (before < 0 || search->kin[before]->len > 0)
        return;
      node = summary->origins[node];
      g_array_append_val (search->kin[before], node);
      summary = adj_stage_summaries_get (search->summaries, (guint) before);
    }
}

/* Visits every step whose stage was made from one with related nodes. */
static void
search_down (Search *search)
{
  for (guint i = 0; i < search->steps->len; i++)
    {
      const AdjStageSummary *summary = adj_stage_summaries_get (search->summaries, i);
      gint before = summary != NULL ? find_step (search, summary->before) : -1;

      if (before < 0 || summary->origins == NULL || search->kin[i]->len > 0)
        continue;
      for (guint k = 0; k < search->kin[before]->len; k++)
        add_descendants (search, i, summary, g_array_index (search->kin[before], guint32, k));
    }
}

static GArray *
collect (const Search *search, guint current)
{
  AdjRecording *recording = adj_stages_get_recording (search->document);
  GArray *found = g_array_new (FALSE, FALSE, sizeof (AdjKin));

  for (guint i = 0; i < search->steps->len; i++)
    {
      const AdjStep *step = &g_array_index (search->steps, AdjStep, i);

      for (guint k = 0; i != current && step->stage >= 0 && k < search->kin[i]->len; k++)
        {
          AdjKin kin = { adj_recording_get_stage (recording, (guint) step->stage)->name,
                         step->graph,
                         { g_array_index (search->kin[i], guint32, k) } };

          g_array_append_val (found, kin);
        }
    }
  return found;
}

/* Whether the graph of the step is the shown one: a requested graph is shown only when its picture
 * is ready, and the step of a failed pass has none. */
static gboolean
is_shown (const Search *search, guint step)
{
  const AdjBundleGraph *shown = adj_document_get_graph (search->document);
  AdjGraphSet *graphs = adj_document_get_graphs (search->document);
  guint index = g_array_index (search->steps, AdjStep, step).graph;

  return shown != NULL && index < adj_graph_set_get_n (graphs) &&
         adj_graph_set_get (graphs, index) == shown;
}

/* The origin of an input of backward is the forward node that saved it. */
GArray *
adj_provenance_find (AdjDocument *document, AdjNodeId node)
{
  gint current = adj_stages_get_current_step (document);
  Search search = { document, adj_stage_summaries_of (document), NULL, NULL };
  GArray *found;
  AdjMaker maker;
  gint made;

  if (current < 0 || !adj_node_id_is_valid (node))
    return g_array_new (FALSE, FALSE, sizeof (AdjKin));
  search.steps = adj_stages_list_steps (document);
  if (!is_shown (&search, (guint) current))
    {
      g_array_unref (search.steps);
      return g_array_new (FALSE, FALSE, sizeof (AdjKin));
    }
  search.kin = g_new (GArray *, search.steps->len);
  for (guint i = 0; i < search.steps->len; i++)
    search.kin[i] = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_val (search.kin[current], node.index);
  if (adj_maker_find (document, node, &maker) &&
      (made = find_step (&search, (gint) maker.graph)) >= 0)
    {
      g_array_append_val (search.kin[made], maker.node.index);
      search_up (&search, (guint) made, maker.node.index);
    }
  else
    search_up (&search, (guint) current, node.index);
  search_down (&search);
  found = collect (&search, (guint) current);
  for (guint i = 0; i < search.steps->len; i++)
    g_array_unref (search.kin[i]);
  g_free (search.kin);
  g_array_unref (search.steps);
  return found;
}
