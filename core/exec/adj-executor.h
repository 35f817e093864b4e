/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object.h"
#include "device/adj-gpu.h"
#include "interpreter/adj-interpreter.h"

G_BEGIN_DECLS

/* Something that runs graphs.  Values in its interface are immutable: DATA, numbers and containers
 * of them. */

typedef struct
{
  AdjGraph *graph;
  const AdjValue *inputs; /* one per placeholder */
  guint n_inputs;
  const AdjValue *rng;           /* (nullable): recorded generator states; "cpu", "cuda:N": DATA of
                                    bytes */
  AdjRandomSource random_source; /* of the PyTorch that recorded the call */
  gint64 gpu_threads; /* resident threads of its GPU, which random numbers depend on; 0: those of an
                         H100 */
  const char *release;  /* (nullable): its release, as for adj_context_set_release() */
  gboolean float64;     /* compute every floating value in double */
  const AdjValue *like; /* (nullable): for a float64 run: the values of nodes in a run in the
                           graph's dtypes, whose dtypes random numbers are drawn in */
  gboolean timed;       /* time each region, even where that is slower than running all at once */
  guint64 memory_limit; /* bytes; 0: four fifths of what the machine has free */
  AdjGpu *gpu; /* (nullable) (unowned): the device for GPU executors; %NULL: the first one */
  /* (nullable) Called before every call, in the thread that runs, which waits; only the interpreter
   * supports it. */
  void (*before) (AdjNodeId id, gpointer data);
  /* (nullable) Called after every call that drew random numbers, with the state it drew from; only
   * the interpreter supports it. */
  void (*drew) (AdjNodeId id, const AdjDrawState *state, gpointer data);
  /* (nullable) Sees every node's result as immutable data; called in the thread that runs.  %FALSE
   * stops the run with G_IO_ERROR_CANCELLED. */
  gboolean (*tap) (AdjNodeId id, const AdjValue *value, gpointer data);
  /* (nullable) Replaces the result of a node: fills @out (transfer full) and returns %TRUE. */
  gboolean (*replace) (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data);
  /* (nullable) The recorded result of a call of an object that does not exist here (a hook of
   * another process): fills @out (transfer full) and returns %TRUE. */
  gboolean (*recall) (AdjNodeId id, AdjValue *out, gpointer data);
  /* (nullable) Number of nodes done, and of all. */
  void (*progress) (guint done, guint total, gpointer data);
  gpointer data;
} AdjRunRequest;

/* A gradient that the graph of a backward added to a leaf. */
typedef struct
{
  AdjNodeId node;      /* the accumulation node */
  AdjTensorData *grad; /* (owned) */
} AdjRunGradient;

/* Calls that ran as one region, for executors that fuse nodes. */
typedef struct
{
  const char *kind; /* (unowned): "fused", a constant; on a GPU also "on cpu" for regions that ran
                       on the CPU, and "copies" (without nodes) to it and back */
  AdjNodeId last;   /* its last node */
  guint n_nodes;
  gint64 ns;
  guint64 bytes; /* bytes that it read and wrote in memory */
  double flops;
} AdjRunRegion;

/* An object that was an input or an attribute, before and after the run, which called a copy. */
typedef struct
{
  AdjNodeId node; /* its node; for an attribute of a subgraph, the node that holds the subgraph */
  AdjObject *before; /* (owned): as it was given; in float64 its replacement that was called */
  AdjObject *after;  /* (owned) */
} AdjRunObject;

typedef struct
{
  AdjValue output; /* (owned): what the graph returns */
  guint n_gradients;
  AdjRunGradient *gradients; /* (owned) (nullable): in order */
  guint n_objects;
  AdjRunObject *objects; /* (owned) (nullable): in order of their nodes, each once */
  guint n_recalled;
  AdjNodeId *recalled; /* (owned) (nullable): calls that were replaced by recorded results */
  guint n_nodes;
  gint64 *node_ns; /* (owned): nanoseconds of each node, 0 for those that compute nothing */
  guint n_regions;
  AdjRunRegion *regions; /* (owned) (nullable): in the order in which they ran */
  gint64 total_ns;
  gint64 cpu_ns;      /* CPU time of all threads of the process, including preparation */
  gint64 device_ns;   /* part of @total_ns that a GPU computed, without copies; else 0 */
  guint64 peak_bytes; /* most bytes alive at once, inputs included */
  char *note; /* (owned) (nullable): how and why the run deviated from what the executor usually
                 does */
} AdjRunResult;

typedef struct
{
  const char *name;    /* "interpreter" */
  const char *summary; /* one line */
  /* %FALSE with ADJ_ERROR_DEVICE and one sentence saying why it cannot run here. */
  gboolean (*available) (GError **error);
  gboolean (*run) (const AdjRunRequest *request,
                   AdjRunResult *result,
                   GCancellable *cancellable,
                   GError **error);
} AdjExecutor;

/* In the order of lists. */
ADJ_PUBLIC guint adj_executors_get_n (void);
ADJ_PUBLIC const AdjExecutor *adj_executors_get (guint index);
/* (nullable): %NULL with ADJ_ERROR_NOT_FOUND, which lists the executors that there are. */
ADJ_PUBLIC const AdjExecutor *adj_executor_find (const char *name, GError **error);

/* Checks inputs against the placeholders and memory against the limit (ADJ_ERROR_MEMORY with the
 * estimate), then runs.  @result: (out caller-allocates): cleared with adj_run_result_clear(). */
ADJ_PUBLIC gboolean adj_executor_run (const AdjExecutor *executor,
                                      const AdjRunRequest *request,
                                      AdjRunResult *result,
                                      GCancellable *cancellable,
                                      GError **error);
ADJ_PUBLIC void adj_run_result_clear (AdjRunResult *result);

G_END_DECLS
