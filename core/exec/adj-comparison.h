/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-deviation.h"
#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Two ways to compute the same graph, laid side by side node by node.  Each side is judged by what
 * its operator gives in float64 on the inputs that this side fed it (AdjDeviation).  Where these
 * are not known, or differ already, its error against the float64 run of the graph is laid beside
 * that of the peer. */

/* Why a value differs. */
typedef enum
{
  ADJ_CAUSE_NONE,
  ADJ_CAUSE_TYPE,      /* another shape or dtype */
  ADJ_CAUSE_BITS,      /* integers or bools are not the same */
  ADJ_CAUSE_CLASS,     /* NaN or infinite on one side only */
  ADJ_CAUSE_OWN,       /* the candidate's operator differs from float64 on its own inputs */
  ADJ_CAUSE_PEER,      /* the peer's is */
  ADJ_CAUSE_FURTHER,   /* further from float64 than the peer and rounding explain */
  ADJ_CAUSE_OTHER,     /* the peer is so far from float64 that it computed something else */
  ADJ_CAUSE_TOLERANCE, /* not within the tolerance that was asked for */
  ADJ_CAUSE_INPUT,     /* its inputs differ, and there is no value to compare it with */
  ADJ_CAUSE_ABSENT,    /* a tensor on one side only */
  ADJ_CAUSE_DRAWS,     /* skipped: it depends on random numbers that the peer draws otherwise */
} AdjCause;

typedef struct
{
  AdjNodeId node; /* of the candidate's graph; for outputs: the node that makes it */
  guint output;   /* for outputs: its position */
  AdjTensorDifference difference; /* candidate against peer */
  AdjDeviation own, peer_own;     /* of the operator on either side */
  AdjBand band;                   /* of the operator, and its reduction length */
  double reduction;
  double accumulated; /* rel-L2 of the candidate against float64; NaN when not measured */
  double peer;        /* rel-L2 of the peer against float64; NaN when not measured */
  double accumulated_limit, peer_limit; /* what rounding explains of either; NaN: not asked */
  double perturbation;   /* rel-L2 of a float64 run with every value moved by a rounding; NaN: not
                            asked */
  gboolean inputs_agree; /* every input of the node was equal or within */
  gboolean inputs_alone; /* none differs, but some could not be compared with a recorded value */
  gboolean alone;        /* no value to compare with: its own error decided */
  AdjDType dtype;        /* of the tensor */
  AdjCause cause;
  AdjVerdict verdict;
} AdjValueComparison;

/* The verdict as a word: "differs"; "inherits" where it differs because of its inputs. */
ADJ_PUBLIC const char *adj_value_comparison_describe (const AdjValueComparison *value);

typedef struct
{
  guint n_outputs;
  AdjValueComparison *outputs; /* (owned) */
  guint n_nodes;
  AdjValueComparison *nodes; /* (owned) (nullable): in order of execution; with nodes asked for */
  gint first;                /* index into nodes of the first that differs; -1: none */
  AdjVerdict verdict;        /* the worst of the outputs, and of the nodes when asked for */
  GError *failure;    /* (owned) (nullable): the run broke down; there are no outputs then, and the
                     nodes are those until there, one of which differs */
  guint64 spilled;    /* bytes of values that were kept on disk */
  gboolean of_graphs; /* as in the request */
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
  /* (nullable) The peer's value of a node or, with @float64, its recorded truth; borrowed; %NULL:
   * not recorded. Without a recorded truth the float64 run is used. */
  AdjTensorData *(*expected_node) (AdjNodeId id, gboolean float64, gpointer data);
  gboolean
      of_graphs; /* the peer is a graph that was run: nodes without a value do not exist there */
  /* (nullable) (array): of each node, whether its value and the peer's depend on random numbers
   * that the two draw by other operators, which no comparison makes the same. */
  const guint8 *drawn_otherwise;
  gboolean nodes;      /* also compare every node */
  guint64 keep_memory; /* bytes of kept values that may stay in memory; 0: an eighth of what the
                          machine has free */
  double rtol, atol;   /* NaN: the bands decide; else allclose with these decides */
  /* (nullable) As in AdjRunRequest; without it, what was expected of a node that gives one tensor.
   */
  gboolean (*recall) (AdjNodeId id, AdjValue *out, gpointer data);
  /* (nullable) As in AdjRunRequest: for planted faults. */
  gboolean (*replace) (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data);
  void (*progress) (guint done, guint total, gpointer data);
  /* (nullable) Called with the value that a node was compared with, where the two are not equal. */
  void (*beside) (AdjNodeId id, AdjTensorData *other, gpointer data);
  gpointer data;
} AdjComparisonRequest;

/**
 * adj_comparison_run:
 *
 * Runs the graph, in float64 too, and lays its values beside those of @request.
 *
 * Returns: (transfer full) (nullable): %NULL with the errors of adj_executor_run() when it could
 * not begin or was cancelled, with ADJ_ERROR_SHAPE when what @request expects is of another form;
 * with nodes, a run that broke down on the way is in the result
 */
ADJ_PUBLIC AdjComparison *
adj_comparison_run (const AdjComparisonRequest *request, GCancellable *cancellable, GError **error);
ADJ_PUBLIC void adj_comparison_free (AdjComparison *comparison); /* not %NULL */

/* How many of each; every value is in one of them. */
typedef struct
{
  guint n, equal, within, differ;
  guint inherit;        /* no value to compare with, and their inputs differ */
  guint unrecorded;     /* no value to compare with, and they agree with float64 */
  guint not_comparable; /* uninitialised memory, random numbers drawn otherwise */
} AdjComparisonCounts;

/* Of @n values, nodes or outputs of a comparison. */
ADJ_PUBLIC AdjComparisonCounts adj_comparison_count (const AdjValueComparison *values, guint n);
/* Whether values were left out because they depend on random numbers that the two draw by other
 * operators. */
ADJ_PUBLIC gboolean adj_comparison_draws_otherwise (const AdjComparison *comparison);
/* (transfer full): "327 nodes: 310 equal, 15 within, 2 nothing recorded", between graphs "2 without
 * counterpart"; of the outputs where nodes were not asked for. */
ADJ_PUBLIC char *adj_comparison_summarize (const AdjComparison *comparison);

/* One number that a verdict is based on. */
typedef struct
{
  const char *what;     /* "its own error" */
  double number, limit; /* NaN: none */
  char *origin;         /* (owned): the origin of the limit, in words */
} AdjEvidence;

/* "nothing was recorded for it": the reason why a value of @comparison has nothing to be compared
 * with. */
ADJ_PUBLIC const char *adj_comparison_describe_alone (const AdjComparison *comparison);

/* (transfer full) (element-type AdjEvidence): every number that was measured of @value */
ADJ_PUBLIC GArray *adj_value_comparison_explain (const AdjValueComparison *value);
/* The cause of a difference in words, "its own error is beyond the band"; "" for none. */
ADJ_PUBLIC const char *adj_cause_describe (AdjCause cause);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjComparison, adj_comparison_free)

G_END_DECLS
