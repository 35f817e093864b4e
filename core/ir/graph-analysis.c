/* SPDX-License-Identifier: MIT */
/* Results of analyses, kept with their graph in a lock-free list that grows at its head. */

#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph-private.h"

struct _AdjAnalysisResult
{
  const AdjGraphAnalysis *analysis;
  gpointer result; /* (owned) */
  AdjAnalysisResult *next;
};

static gconstpointer
find (const AdjAnalysisResult *results, const AdjGraphAnalysis *analysis)
{
  for (; results != NULL; results = results->next)
    if (results->analysis == analysis)
      return results->result;
  return NULL;
}

/* Keeps @result (taken) for @analysis unless another thread was first; returns the result that is
 * kept. */
static gconstpointer
keep (const AdjGraph *graph, const AdjGraphAnalysis *analysis, gpointer result)
{
  AdjAnalysisResult **head = &((AdjGraph *) graph)->analyses;
  AdjAnalysisResult *mine = g_new (AdjAnalysisResult, 1);
  gconstpointer other;

  *mine = (AdjAnalysisResult){ analysis, result, NULL };
  do
    {
      AdjAnalysisResult *known = g_atomic_pointer_get (head);

      other = find (known, analysis);
      mine->next = known;
    }
  while (other == NULL && !g_atomic_pointer_compare_and_exchange (head, mine->next, mine));
  if (other == NULL)
    return result;
  analysis->free (result);
  g_free (mine);
  return other;
}

gconstpointer
adj_graph_analyse (const AdjGraph *graph, const AdjGraphAnalysis *analysis)
{
  gconstpointer result = find (g_atomic_pointer_get (&((AdjGraph *) graph)->analyses), analysis);

  return result != NULL ? result : keep (graph, analysis, analysis->compute (graph));
}

void
adj_graph_keep_analysis (const AdjGraph *graph, const AdjGraphAnalysis *analysis, gpointer result)
{
  keep (graph, analysis, result);
}

void
adj_graph_free_analyses (AdjGraph *graph)
{
  while (graph->analyses != NULL)
    {
      AdjAnalysisResult *first = graph->analyses;

      graph->analyses = first->next;
      first->analysis->free (first->result);
      g_free (first);
    }
}
