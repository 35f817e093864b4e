/* SPDX-License-Identifier: MIT */
/* AdjComparison: compares a run with what was recorded or with a peer, node by node.
 *
 * The candidate runs once with every value kept.  The float64 run is the reference where none was
 * recorded.  Each operator is then called once more in float64 on the candidate's own inputs, and
 * on the peer's inputs where they are known and differ.  A value differs when either side lies
 * further from that result than the rounding of the operator allows.  Only where this cannot be
 * decided, the distances from the float64 run count, and what rounding alone does to them, which a
 * third run measures. */

#include "exec/adj-comparison.h"

#include <gio/gio.h>
#include <math.h>

#include "exec/adj-executor-internal.h"
#include "exec/comparing-private.h"
#include "exec/perturbation-private.h"
#include "ir/adj-graph.h"

static AdjVerdict
worst_verdict (const AdjValueComparison *values, guint n, AdjVerdict worst)
{
  for (guint i = 0; i < n; i++)
    if (values[i].verdict != ADJ_VERDICT_SKIPPED)
      worst = MAX (worst, values[i].verdict);
  return worst;
}

/* Runs both sides.  If the candidate fails, the values computed before are compared nevertheless:
 * the cause is often a value that differs long before. */
static gboolean
run_both (Comparing *comparing, AdjRunResult *result, AdjComparison *comparison, GError **error)
{
  g_autoptr (GError) failure = NULL;
  AdjRunResult truth = { 0 };
  gboolean done = comparing_run (comparing, comparing->candidate, result, &failure);

  if (!done &&
      (!comparing->request->nodes || comparing->done == 0 || failure->domain == G_IO_ERROR ||
       g_error_matches (failure, ADJ_ERROR, ADJ_ERROR_MEMORY)))
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }
  if (!done)
    comparison->failure = g_steal_pointer (&failure);
  done = comparing_run (comparing, comparing->truth, &truth, comparison->failure ? NULL : error);
  adj_run_result_clear (&truth);
  return done || (comparison->failure != NULL &&
                  !g_cancellable_set_error_if_cancelled (comparing->cancellable, error));
}

static void
forget_nodes (AdjComparison *comparison)
{
  g_clear_pointer (&comparison->nodes, g_free);
  comparison->n_nodes = 0;
  comparison->first = -1;
}

static gboolean
compare (Comparing *comparing, AdjComparison *comparison, GError **error)
{
  const AdjComparisonRequest *request = comparing->request;
  AdjRunResult result = { 0 };
  gboolean done, differs;

  done = run_both (comparing, &result, comparison, error) &&
         (request->expected == NULL || comparison->failure != NULL ||
          comparing_compare_outputs (comparing, &result, comparison, error));
  differs = done && worst_verdict (comparison->outputs, comparison->n_outputs, ADJ_VERDICT_EQUAL) ==
                        ADJ_VERDICT_DIFFERS;
  if (done && (request->nodes || differs))
    done = comparing_compare_nodes (comparing, comparison, error);
  if (done && isnan (request->rtol))
    comparing_settle_outputs (comparing, comparison);
  if (!request->nodes)
    forget_nodes (comparison);
  comparison->note = g_steal_pointer (&result.note);
  adj_run_result_clear (&result);
  if (done && comparison->failure != NULL && comparison->first < 0)
    {
      g_propagate_error (error, g_steal_pointer (&comparison->failure));
      return FALSE;
    }
  comparison->verdict =
      worst_verdict (comparison->outputs, comparison->n_outputs, ADJ_VERDICT_EQUAL);
  comparison->verdict = worst_verdict (comparison->nodes, comparison->n_nodes, comparison->verdict);
  return done;
}

AdjComparison *
adj_comparison_run (const AdjComparisonRequest *request, GCancellable *cancellable, GError **error)
{
  guint n = adj_graph_get_n_nodes (request->graph);
  Comparing comparing = {
    .request = request, .graph = request->graph, .total = 2 * n, .coarsest = ADJ_DTYPE_F64
  };
  g_autoptr (AdjComparison) comparison = g_new0 (AdjComparison, 1);
  gboolean done;

  comparison->first = -1;
  comparison->of_graphs = request->of_graphs;
  comparing.candidate = g_new0 (AdjValue, n);
  comparing.truth = g_new0 (AdjValue, n);
  comparing.verdicts = g_new0 (guint8, n);
  comparing.alone = g_new0 (gboolean, n);
  comparing.unset = g_new0 (gboolean, n);
  comparing.returned = g_new0 (AdjTensorData *, n);
  comparing.same = g_new0 (gboolean, n);
  comparing.peer = g_new0 (AdjValue, n);
  comparing.versions = alias_versions_new (request->graph);
  comparing.drawn = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_bytes_unref);
  comparing.items = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  comparing.spill = adj_spill_new (request->keep_memory);
  comparing.cancellable = cancellable;
  comparing.cannot_perturb = !perturbation_applies (request->graph);
  comparing_note_returned (&comparing);
  done = compare (&comparing, comparison, error) &&
         exec_check_read (request->graph, request->inputs, request->n_inputs, error);
  comparison->spilled = adj_spill_get_spilled (comparing.spill);
  for (guint i = 0; i < n; i++)
    {
      adj_value_clear (&comparing.candidate[i]);
      adj_value_clear (&comparing.truth[i]);
      adj_value_clear (&comparing.peer[i]);
      if (comparing.perturbation != NULL)
        adj_value_clear (&comparing.perturbation[i]);
    }
  g_free (comparing.candidate);
  g_free (comparing.truth);
  g_free (comparing.perturbation);
  g_free (comparing.verdicts);
  g_free (comparing.alone);
  g_free (comparing.unset);
  g_free (comparing.returned);
  g_free (comparing.same);
  g_free (comparing.peer);
  alias_versions_free (comparing.versions);
  g_hash_table_unref (comparing.drawn);
  g_hash_table_unref (comparing.items);
  adj_spill_free (comparing.spill);
  return done ? g_steal_pointer (&comparison) : NULL;
}

const char *
adj_value_comparison_describe (const AdjValueComparison *value)
{
  return value->cause == ADJ_CAUSE_INPUT ? "inherits" : adj_verdict_name (value->verdict);
}

void
adj_comparison_free (AdjComparison *comparison)
{
  g_free (comparison->outputs);
  g_free (comparison->nodes);
  g_free (comparison->note);
  g_free (comparison->peer_note);
  g_clear_error (&comparison->failure);
  g_free (comparison);
}
