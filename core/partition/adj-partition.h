/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include "base/adj-cancellable.h"
#include "ir/adj-recompute.h"
#include "partition/adj-partition-cost.h"
#include "partition/adj-partition-rule.h"

G_BEGIN_DECLS

/* A partitioned joint graph: a forward graph that returns the outputs and the saved values, and a
 * backward graph that takes the saved values and the tangents.  Immutable, counted atomically.
 *
 * A joint graph takes primals, then tangents, and returns the outputs of forward, then those of
 * backward.  The kind of a placeholder follows from its target, which PyTorch names: "tangents_1"
 * is a tangent, "fwd_seed" and "bwd_seed" are of random numbers, anything else is a primal. */

/* Where a node of the joint graph went. */
typedef enum
{
  ADJ_DECISION_GONE,       /* unused, or replaced by an equal node */
  ADJ_DECISION_FORWARD,    /* forward only; backward does not read it */
  ADJ_DECISION_SAVED,      /* forward computes it, backward reads what was saved */
  ADJ_DECISION_RECOMPUTED, /* in both */
  ADJ_DECISION_BACKWARD,   /* backward only */
  ADJ_N_DECISION_KINDS,
} AdjDecisionKind;

ADJ_PUBLIC const char *adj_decision_kind_name (AdjDecisionKind kind); /* "recomputed" */

/* The class of a node for partitioning (partition/SPEC.md §2.4). */
typedef enum
{
  ADJ_NODE_CLASS_INPUT,     /* a primal, or a placeholder of forward's random numbers */
  ADJ_NODE_CLASS_FORWARD,   /* outputs of forward depend on it */
  ADJ_NODE_CLASS_UNCLAIMED, /* only backward depends on it, without a tangent: may go to either */
  ADJ_NODE_CLASS_BACKWARD,  /* depends on a tangent, or is a gradient */
  ADJ_NODE_CLASS_GONE,
} AdjNodeClass;

/* One decision. */
typedef struct
{
  AdjDecisionKind kind;
  AdjNodeClass node_class;
  AdjPartitionRule rule;  /* the rule that decided @kind */
  AdjPartitionRule ban;   /* why it may not be recomputed; ADJ_RULE_NONE: it may be */
  AdjNodeId because;      /* the other node that @rule or @ban names; or ADJ_NO_NODE */
  AdjRecompute recompute; /* its tag after cleanup */
  guint32 distance;       /* number of calls to the first one that backward reads; 10^9: none */
  guint64 bytes;          /* of its value; symbolic sizes by their hints */
  gint64 weight; /* capacity of saving it in the cut; -1: cannot be saved, or no cut was made */
} AdjNodeDecision;

/* A value passed from forward to backward. */
typedef enum
{
  ADJ_SAVED_TENSOR,
  ADJ_SAVED_RNG_STATE, /* state of the generator before a random operator that backward repeats */
  ADJ_SAVED_SIZE,      /* a symbolic scalar */
} AdjSavedKind;

typedef struct
{
  AdjSavedKind kind;
  AdjNodeId node;     /* of the joint graph; for RNG_STATE the random operator */
  guint64 bytes;      /* of the value */
  guint64 held_bytes; /* bytes kept alive by saving it: 0 for a value that shares the storage of an
                         input or of an earlier saved value */
  gboolean of_input;  /* it is an input of forward, or a view of one */
} AdjSavedValue;

typedef struct
{
  gatomicrefcount refs;
  const char *partitioner;
  AdjGraph *joint;    /* (owned) */
  AdjGraph *forward;  /* (owned): origins point into @joint */
  AdjGraph *backward; /* (owned) */
  guint num_fwd_outputs;
  guint n_saved;
  AdjSavedValue *saved;   /* (owned): in the order of forward's outputs: tensors, states, sizes */
  guint64 saved_bytes;    /* sum of held_bytes */
  guint64 counted_bytes;  /* sum of bytes, as PyTorch counts */
  gint64 cut_value;       /* of the minimum cut; -1: no cut was made */
  AdjNodeDecision *nodes; /* (owned): one for each node of @joint */
  AdjPartitionCost cost;  /* (owned) */
} AdjPartition;

ADJ_PUBLIC AdjPartition *adj_partition_ref (AdjPartition *partition); /* (transfer full) */
ADJ_PUBLIC void adj_partition_unref (AdjPartition *partition);        /* not %NULL */

/* -- what is asked for -- */

typedef enum
{
  ADJ_SOLVER_DP,     /* PyTorch's: exact in steps of a ten-thousandth of the budget */
  ADJ_SOLVER_GREEDY, /* by value for memory */
  ADJ_SOLVER_EXACT,  /* branch and bound over exact bytes */
  ADJ_N_SOLVERS,
} AdjBudgetSolver;

typedef enum
{
  ADJ_RUNTIME_FLOPS,    /* of matrix products and convolutions; 1 for everything else */
  ADJ_RUNTIME_MEASURED, /* node_ns of the options */
  ADJ_RUNTIME_UNIT,     /* 1 for everything */
  ADJ_N_RUNTIMES,
} AdjRuntimeEstimate;

/* A request by name of a node; it replaces the node's tag. */
typedef struct
{
  const char *node;
  AdjRecompute recompute;
} AdjPartitionDemand;

typedef struct
{
  gint num_fwd_outputs; /* -1: all outputs except one gradient for each primal other than tokens */
  gboolean compat;      /* as PyTorch 2.6 decides, accidents included */
  gboolean no_cse;
  gboolean no_far, no_long, no_materialized, no_allowlist, no_reduction; /* rules not to apply */
  gboolean recompute_views;
  gboolean merge_by_need;    /* equal calls are merged only if backward needs both or neither */
  gboolean recompute_splits; /* `split` and others of 2.15 are among what is cheap to repeat */
  gboolean save_effects;     /* results of forward calls with an effect are saved */
  gboolean free_parameters;  /* saving a parameter costs nothing, since it is alive anyway */
  gboolean forgets_tokens;   /* free_parameters counts inputs without the effect tokens before them:
                                with one token, what comes before a parameter is free in its place */
  gboolean aggressive;       /* no_far, no_long, no_materialized and no_allowlist */
  guint max_distance;        /* 0: 1000 */
  double budget; /* 0…1, a share of the bytes that the cut would save; NAN: the budget in the
                    graph's nodes, else @usual_budget */
  double usual_budget; /* 0…1; NAN: 1 */
  AdjBudgetSolver solver;
  AdjRuntimeEstimate runtime;
  const gint64 *node_ns; /* (nullable): measured time of each node of the joint graph */
  guint n_demands;
  const AdjPartitionDemand *demands;
  /* Used by `optimal` only. */
  double recompute_limit; /* times the runtime of one forward: recompute at most that; NAN: as much
                             as PyTorch's plan under the same budget */
  guint64 memory_limit;   /* bytes of peak: recompute as little as fits; 0: none */
  guint effort; /* plans to evaluate before it gives up, fewer on large graphs; 0: 8,000 */
  /* Used by all. */
  GCancellable *cancellable; /* (nullable): ends the work, with G_IO_ERROR_CANCELLED */
} AdjPartitionOptions;

#define ADJ_PARTITION_OPTIONS_INIT                                                                 \
  {                                                                                                \
    .num_fwd_outputs = -1, .budget = NAN, .usual_budget = NAN, .recompute_limit = NAN              \
  }

/* -- partitioners: rows of a table -- */

typedef struct
{
  const char *name;    /* "min-cut" */
  const char *summary; /* one line */
  const char *explain; /* Markdown */
  AdjPartition *(*run) (AdjGraph *joint, const AdjPartitionOptions *options, GError **error);
} AdjPartitioner;

/* In the order of lists. */
ADJ_PUBLIC guint adj_partitioners_get_n (void);
ADJ_PUBLIC const AdjPartitioner *adj_partitioners_get (guint index);
/* (nullable): %NULL with ADJ_ERROR_NOT_FOUND, which names those that there are. */
ADJ_PUBLIC const AdjPartitioner *adj_partitioner_find (const char *name, GError **error);

/**
 * adj_partition:
 * @joint: sealed; kept by the result
 * @options: (nullable)
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_SHAPE for a graph that is no joint
 *   graph, ADJ_ERROR_NOT_FOUND for a demand on an unknown node, ADJ_ERROR_UNSUPPORTED when a value
 *   can neither be saved nor recomputed, ADJ_ERROR_LIMIT when there is too much to count; messages
 *   name nodes and regions
 */
ADJ_PUBLIC AdjPartition *adj_partition (const AdjPartitioner *partitioner,
                                        AdjGraph *joint,
                                        const AdjPartitionOptions *options,
                                        GError **error);

/* One sentence for a node of the joint graph: where it went and by which rule.  (transfer full) */
ADJ_PUBLIC char *adj_partition_explain (const AdjPartition *partition, AdjNodeId node);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjPartition, adj_partition_unref)

G_END_DECLS
