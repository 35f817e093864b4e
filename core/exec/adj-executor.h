/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object.h"
#include "device/adj-gpu.h"
#include "interpreter/adj-interpreter.h"

G_BEGIN_DECLS

/* Something that runs graphs.  Values at this border are immutable: DATA, numbers and containers
 * of them. */

typedef struct
{
  AdjGraph *graph;
  const AdjValue *inputs; /* one per placeholder */
  guint n_inputs;
  const AdjValue *rng;           /* (nullable): recorded generator states; "cpu", "cuda:N": DATA of
                                    bytes */
  AdjRandomSource random_source; /* of the PyTorch that recorded */
  gint64 gpu_threads;            /* that fit at once on its GPUs; 0: of an H100 */
  const char *release;           /* (nullable): the same, as adj_context_set_release() has it */
  gboolean float64;              /* compute every floating value in double */
  const AdjValue *like; /* (nullable): of a float64 run, by node what a run in the types of the
                           graph gave: in these random numbers are drawn */
  gboolean timed;       /* each region, even where that is slower than all at once */
  guint64 memory_limit; /* bytes; 0: four fifths of what the machine has free */
  AdjGpu *gpu; /* (nullable) (unowned): where executors of GPUs run it; %NULL: the first there is */
  /* (nullable) Hears of every call before it is made, in the thread that runs, which goes on when
   * it returns; the interpreter alone does that. */
  void (*before) (AdjNodeId id, gpointer data);
  /* (nullable) Hears of every call that drew random numbers, and of what from; the interpreter
   * alone does that. */
  void (*drew) (AdjNodeId id, const AdjDrawState *state, gpointer data);
  /* (nullable) Sees every node's result as immutable data; called in the thread that runs.  %FALSE
   * stops the run with G_IO_ERROR_CANCELLED. */
  gboolean (*tap) (AdjNodeId id, const AdjValue *value, gpointer data);
  /* (nullable) Replaces the result of a node: fills @out (transfer full) and returns %TRUE. */
  gboolean (*replace) (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data);
  /* (nullable) The recorded result of a call of an object that is not here (a hook of another
   * process): fills @out (transfer full) and returns %TRUE. */
  gboolean (*recall) (AdjNodeId id, AdjValue *out, gpointer data);
  /* (nullable) Nodes done so far of all. */
  void (*progress) (guint done, guint total, gpointer data);
  gpointer data;
} AdjRunRequest;

/* What the graph of a backward added to a leaf. */
typedef struct
{
  AdjNodeId node;      /* the accumulation */
  AdjTensorData *grad; /* (owned) */
} AdjRunGradient;

/* What ran as one, by an executor that runs more than single nodes. */
typedef struct
{
  const char *kind; /* (unowned): "fused", a constant; on a GPU also "on cpu", what the CPU ran
                       instead, and "copies" to it and back, of no nodes */
  AdjNodeId last;   /* its last node */
  guint n_nodes;
  gint64 ns;
  guint64 bytes; /* that it read and wrote in memory */
  double flops;
} AdjRunRegion;

/* An object that was an input or an attribute, and what became of it.  The run called a copy. */
typedef struct
{
  AdjNodeId node;    /* of an attribute of a graph that is called, the one that holds that graph */
  AdjObject *before; /* (owned): as it was given; in float64 what was called in its place */
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
  AdjNodeId
      *recalled; /* (owned) (nullable): calls that were not made: what they gave once stood in */
  guint n_nodes;
  gint64 *node_ns; /* (owned): time of each node, 0 for those that cost nothing */
  guint n_regions;
  AdjRunRegion *regions; /* (owned) (nullable): in the order in which they ran */
  gint64 total_ns;
  gint64 cpu_ns; /* that the process took, all its threads together, with what prepares the run */
  gint64
      device_ns; /* of @total_ns: what a GPU computed, without what went there and back; else 0 */
  guint64 peak_bytes; /* most bytes alive at once, inputs included */
  char *note; /* (owned) (nullable): what was done otherwise than the executor does, and why */
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
/* (nullable): %NULL with ADJ_ERROR_NOT_FOUND, which names those that there are. */
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
