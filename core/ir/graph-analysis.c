/* SPDX-License-Identifier: MIT */
/* The results of analyses, kept with their graph: a list that grows at its head, without a lock. */

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

gconstpointer
adj_graph_analyse (const AdjGraph *graph, const AdjGraphAnalysis *analysis)
{
  AdjAnalysisResult **head = &((AdjGraph *) graph)->analyses;
  AdjAnalysisResult *known = g_atomic_pointer_get (head);
  gconstpointer result = find (known, analysis);
  AdjAnalysisResult *mine;

  if (result != NULL)
    return result;
  mine = g_new (AdjAnalysisResult, 1);
  *mine = (AdjAnalysisResult){ analysis, analysis->compute (graph), NULL };
  do
    {
      known = g_atomic_pointer_get (head);
      result = find (known, analysis);
      mine->next = known;
    }
  while (result == NULL && !g_atomic_pointer_compare_and_exchange (head, known, mine));
  if (result == NULL)
    return mine->result;
  analysis->free (mine->result);
  g_free (mine);
  return result;
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
