/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"
#include "interpreter/adj-numeric.h"

G_BEGIN_DECLS

/* Two ways to compute the same graph, laid side by side node by node (operators §5.3–5.4).  Three
 * numbers decide for each value: its *local* error (the operator recomputed in float64 on the
 * candidate's own inputs), its *accumulated* error (against the float64 run), and their ratio to
 * the accumulated error of the peer (what PyTorch recorded). */

typedef struct
{
  AdjNodeId node; /* of the candidate's graph; for outputs: the node that makes it */
  guint output;   /* for outputs: its position */
  AdjTensorDifference difference; /* candidate against peer */
  double local;                   /* rel-L2; NaN when not measured */
  double local_limit;             /* the band's limit for it */
  double accumulated;    /* rel-L2 of the candidate against float64; NaN when not measured */
  double peer;           /* rel-L2 of the peer against float64; NaN when not measured */
  gboolean inputs_agree; /* every input of the node was equal or within */
  gboolean inputs_alone; /* none differs, but to lay some beside nothing was there */
  gboolean alone;        /* nothing was there to lay it beside: its own error decided */
  AdjVerdict verdict;
} AdjValueComparison;

typedef struct
{
  guint n_outputs;
  AdjValueComparison *outputs; /* (owned) */
  guint n_nodes;
  AdjValueComparison *nodes; /* (owned) (nullable): in order of execution; with nodes asked for */
  gint first;                /* index into nodes of the first that differs; -1: none */
  AdjVerdict verdict;        /* the worst of the outputs, and of the nodes when asked for */
  GError *failure; /* (owned) (nullable): the run broke down; there are no outputs then, and the
                  nodes are those until there, one of which differs */
  guint64 spilled; /* bytes of values that were kept on disk */
} AdjComparison;

typedef struct
{
  AdjGraph *graph;
  const AdjValue *inputs;
  guint n_inputs;
  const AdjValue *rng;         /* (nullable): as in AdjRunRequest */
  const AdjExecutor *executor; /* of the candidate */
  const AdjValue *expected; /* (nullable): recorded outputs, a container like the graph's result */
  gboolean partial;         /* NONE in @expected: not known, and so not compared */
  /* (nullable) What the peer computed for a node, or, with @float64, what is true for it; borrowed,
   * %NULL: not recorded.  Where no truth was recorded our own float64 run stands in. */
  AdjTensorData *(*expected_node) (AdjNodeId id, gboolean float64, gpointer data);
  gboolean nodes; /* also compare every node */
  guint64
      keep_memory; /* bytes of kept values that may stay in memory; 0: as adj_spill_new () has it */
  double rtol, atol; /* NaN: the bands decide; else allclose with these decides */
  /* (nullable) As in AdjRunRequest: for planted faults. */
  gboolean (*replace) (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data);
  void (*progress) (guint done, guint total, gpointer data);
  /* (nullable) What the value of a node was laid beside, where the two are not equal. */
  void (*beside) (AdjNodeId id, AdjTensorData *other, gpointer data);
  gpointer data;
} AdjComparisonRequest;

/**
 * adj_comparison_run:
 *
 * Runs the graph, in float64 too, and lays its values beside those of @request.
 *
 * Returns: (transfer full) (nullable): %NULL when it could not begin; a run that broke down on the
 *   way is in the result
 */
ADJ_PUBLIC AdjComparison *
adj_comparison_run (const AdjComparisonRequest *request, GCancellable *cancellable, GError **error);
ADJ_PUBLIC void adj_comparison_free (AdjComparison *comparison); /* not %NULL */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjComparison, adj_comparison_free)

G_END_DECLS
