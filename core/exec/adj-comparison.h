/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-deviation.h"
#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Compares two ways to compute the same graph, node by node.  Each side is judged by the result of
 * its operator in float64 on the inputs that this side had (AdjDeviation).  Where these are unknown
 * or differ already, its error against the float64 run of the graph is compared with the peer's. */

/* Why a value differs. */
typedef enum
{
  ADJ_CAUSE_NONE,
  ADJ_CAUSE_TYPE,    /* another shape or dtype */
  ADJ_CAUSE_BITS,    /* integers or bools are not the same */
  ADJ_CAUSE_CLASS,   /* NaN or infinite on one side only */
  ADJ_CAUSE_OWN,     /* the candidate's operator deviates from float64 on its own inputs */
  ADJ_CAUSE_PEER,    /* the peer's operator does */
  ADJ_CAUSE_FURTHER, /* further from float64 than the peer and rounding explain */
  ADJ_CAUSE_OTHER,   /* the peer is so far from float64 that it must have computed something else */
  ADJ_CAUSE_TOLERANCE, /* not within the tolerance that was asked for */
  ADJ_CAUSE_INPUT,     /* its inputs differ, and there is no value to compare it with */
  ADJ_CAUSE_ABSENT,    /* a tensor on one side only */
  ADJ_CAUSE_DRAWS, /* skipped: it depends on random numbers that the peer draws by other operators
                    */
} AdjCause;

typedef struct
{
  AdjNodeId node; /* of the candidate's graph; for outputs: the node that computes it */
  guint output;   /* for outputs: its position */
  AdjTensorDifference difference; /* between candidate and peer */
  AdjDeviation own, peer_own;     /* of the operator on the inputs of each side */
  AdjBand band;                   /* of the operator, with its reduction length */
  double reduction;
  double accumulated; /* rel-L2 of the candidate against float64; NaN when not measured */
  double peer;        /* rel-L2 of the peer against float64; NaN when not measured */
  double accumulated_limit, peer_limit; /* the parts that rounding explains; NaN: not computed */
  double perturbation;   /* rel-L2 of a float64 run with every value moved by a rounding; NaN: not
                            computed */
  gboolean inputs_agree; /* every input of the node was equal or within */
  gboolean inputs_alone; /* none differs, but some could not be compared with a recorded value */
  gboolean alone;        /* no value to compare with: decided by its own error */
  AdjDType dtype;        /* of the tensor */
  AdjCause cause;
  AdjVerdict verdict;
} AdjValueComparison;

/* The verdict as a word: "differs"; "inherits" where it differs only because of its inputs. */
ADJ_PUBLIC const char *adj_value_comparison_describe (const AdjValueComparison *value);

typedef struct
{
  guint n_outputs;
  AdjValueComparison *outputs; /* (owned) */
  guint n_nodes;
  AdjValueComparison *nodes; /* (owned) (nullable): in order of execution; if asked for */
  gint first;                /* index into nodes of the first one that differs; -1: none */
  AdjVerdict verdict;        /* the worst of the outputs, and of the nodes when asked for */
  GError *failure; /* (owned) (nullable): the run failed; there are no outputs then, and @nodes has
                      those before the failure, one of which differs */
  guint64 spilled; /* bytes of values that were moved to disk */
  gboolean of_graphs;     /* as in the request */
  char *note, *peer_note; /* (owned) (nullable): AdjRunResult.note of either side's run */
} AdjComparison;

typedef struct
{
  AdjGraph *graph;
  const AdjValue *inputs;
  guint n_inputs;
  const AdjValue *rng; /* (nullable): as in AdjRunRequest */
  AdjRandomSource random_source;
  gint64 gpu_threads;          /* as in AdjRunRequest */
  const char *release;         /* (nullable): as in AdjRunRequest */
  const AdjExecutor *executor; /* of the candidate */
  AdjGpu *gpu;                 /* (nullable): as in AdjRunRequest */
  const AdjValue *expected; /* (nullable): recorded outputs, a container like the graph's result */
  gboolean partial;         /* NONE in @expected is unknown, and not compared */
  /* (nullable) The peer's value of a node or, with @float64, its recorded reference; borrowed;
   * %NULL: not recorded. Without a recorded reference the float64 run is used. */
  AdjTensorData *(*expected_node) (AdjNodeId id, gboolean float64, gpointer data);
  gboolean of_graphs; /* the peer is a graph that was run: nodes without a value have no counterpart
                         there */
  /* (nullable) (array): per node, whether its value and the peer's depend on random numbers that
   * the two draw by different operators, so that they cannot be equal. */
  const guint8 *drawn_otherwise;
  gboolean nodes;      /* also compare every node */
  guint64 keep_memory; /* bytes of kept values that may stay in memory; 0: an eighth of what the
                          machine has free */
  double rtol, atol;   /* NaN: the bands decide; else allclose with these decides */
  /* (nullable) As in AdjRunRequest; without it, the expected value of a node with one tensor is
   * used. */
  gboolean (*recall) (AdjNodeId id, AdjValue *out, gpointer data);
  /* (nullable) As in AdjRunRequest: to inject faults. */
  gboolean (*replace) (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data);
  void (*progress) (guint done, guint total, gpointer data);
  /* (nullable) Called for each node whose value is not equal, with the value that it was compared
   * with. */
  void (*beside) (AdjNodeId id, AdjTensorData *other, gpointer data);
  gpointer data;
} AdjComparisonRequest;

/**
 * adj_comparison_run:
 *
 * Runs the graph, in float64 too, and compares its values with those of @request.
 *
 * Returns: (transfer full) (nullable): %NULL with the errors of adj_executor_run() when it could
 *   not begin or was cancelled, with ADJ_ERROR_SHAPE when the structure of @request's expected
 *   outputs differs; with nodes, the result also has a run that failed on the way
 */
ADJ_PUBLIC AdjComparison *
adj_comparison_run (const AdjComparisonRequest *request, GCancellable *cancellable, GError **error);
ADJ_PUBLIC void adj_comparison_free (AdjComparison *comparison); /* not %NULL */

/* How many values have each verdict; each value is counted once. */
typedef struct
{
  guint n, equal, within, differ;
  guint inherit;        /* no value to compare with, and its inputs differ */
  guint unrecorded;     /* no value to compare with, and it agrees with float64 */
  guint not_comparable; /* uninitialised memory, or random numbers drawn by other operators */
} AdjComparisonCounts;

/* Of @n values, nodes or outputs of a comparison. */
ADJ_PUBLIC AdjComparisonCounts adj_comparison_count (const AdjValueComparison *values, guint n);
/* Whether values were skipped because they depend on random numbers that the two draw by different
 * operators. */
ADJ_PUBLIC gboolean adj_comparison_draws_otherwise (const AdjComparison *comparison);
/* (transfer full): "327 nodes: 310 equal, 15 within, 2 nothing recorded", between graphs "2 without
 * counterpart"; counts outputs where nodes were not asked for. */
ADJ_PUBLIC char *adj_comparison_summarize (const AdjComparison *comparison);

/* One number that a verdict is based on. */
typedef struct
{
  const char *what;     /* "its own error" */
  double number, limit; /* NaN: none */
  char *origin;         /* (owned): where the limit comes from, in words */
} AdjEvidence;

/* Why values of @comparison have nothing to be compared with: "nothing was recorded for it". */
ADJ_PUBLIC const char *adj_comparison_describe_alone (const AdjComparison *comparison);

/* (transfer full) (element-type AdjEvidence): every number that was measured for @value */
ADJ_PUBLIC GArray *adj_value_comparison_explain (const AdjValueComparison *value);
/* The cause of a difference in words, "its own error is beyond the band"; "" for none. */
ADJ_PUBLIC const char *adj_cause_describe (AdjCause cause);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjComparison, adj_comparison_free)

G_END_DECLS
