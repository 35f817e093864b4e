/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-comparison.h"
#include "formats/adj-format.h"
#include "plan/adj-plan.h"

G_BEGIN_DECLS

/* The one entry for the command line and the window: a graph of a file, run or compared with its
 * recorded call.  Everything here blocks, polls @cancellable, and may be called in any thread. */

/* "FILE[#ID][@HOW]" taken apart. */
typedef struct
{
  char *path;
  char *id;  /* (nullable) */
  char *how; /* (nullable): an executor */
} AdjGraphName;

/* A '#' or '@' that belongs to an existing path is not taken for a separator. */
ADJ_PUBLIC void adj_graph_name_init (AdjGraphName *name, const char *text);
ADJ_PUBLIC void adj_graph_name_clear (AdjGraphName *name);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjGraphName, adj_graph_name_clear)

typedef struct
{
  AdjBundle *bundle; /* (unowned) */
  const AdjBundleGraph *graph;
  const AdjBundleGraph *recorded; /* (nullable): graph whose recorded calls are used instead of
                                     @graph's; values of its nodes are not, since names differ */
  const AdjExecutor *executor;    /* (nullable): the interpreter */
  guint call;                     /* which recorded call supplies the inputs */
  const AdjRecordedCall *kept;    /* (nullable): a run that was kept supplies them instead */
  const AdjValue *inputs;         /* (nullable): instead of a recorded call */
  guint n_inputs;
  const AdjRecordedCall *recalled; /* (nullable): only with @inputs: a call whose recorded values
                                      replace calls that cannot run here (hooks), by node name */
  AdjBundle *recalled_from;        /* (unowned) (nullable): the bundle of @recalled */
  const AdjValue *rng; /* (nullable): generator states, instead of the recorded call's */
  gboolean random; /* without inputs: draw those that the file lacks, by annotations and @seed */
  guint32 seed;
  gboolean float64;
  guint64 memory_limit;
  gboolean timed; /* as in AdjRunRequest */
  AdjGpu *gpu;    /* (nullable) (unowned): as in AdjRunRequest */
  guint64
      keep_memory; /* bytes of kept values that may stay in memory; 0: an eighth of what is free */
  /* (nullable) As in AdjRunRequest; @tap is called beside keeping values. */
  void (*before) (AdjNodeId id, gpointer data);
  gboolean (*tap) (AdjNodeId id, const AdjValue *value, gpointer data);
  /* (nullable) As in AdjRunRequest: to inject faults. */
  gboolean (*replace) (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data);
  void (*progress) (guint done, guint total, gpointer data);
  gpointer data;
  /* (nullable) Filled by comparisons of nodes: name of a node whose value is not equal →
   * AdjTensorData that it was compared with. */
  GHashTable *beside;
} AdjSessionRun;

/* Runs; @values (nullable): gets node name → AdjTensorData of every tensor result; values that do
 * not fit into memory go to a private temporary file.  %FALSE with ADJ_ERROR_UNRECORDED when there
 * are no inputs, or the errors of adj_executor_run(). */
ADJ_PUBLIC gboolean adj_session_run (const AdjSessionRun *run,
                                     AdjRunResult *result,
                                     GHashTable *values,
                                     GCancellable *cancellable,
                                     GError **error);

/* Runs the calls @nodes (%NULL-terminated names) of the graph of @run alone, on the values that
 * they read in a run of the whole graph by the interpreter.  @part: (out) (transfer full): what was
 * run: a graph of these calls that returns, in order, the results that other nodes or none read.
 * %FALSE with ADJ_ERROR_NOT_FOUND when there is no such node, ADJ_ERROR_UNSUPPORTED when one draws
 * random numbers, has an effect, reads a value that is not a tensor, or comes after a write, or the
 * errors of adj_session_run(). */
ADJ_PUBLIC gboolean adj_session_run_nodes (const AdjSessionRun *run,
                                           const char *const *nodes,
                                           AdjGraph **part,
                                           AdjRunResult *result,
                                           GCancellable *cancellable,
                                           GError **error);

/* (transfer full) (nullable): the memory plan of @run: for its inputs, or by the annotations where
 * it has none.  %NULL with the errors of adj_plan_new_annotated(). */
ADJ_PUBLIC AdjPlan *adj_session_plan (const AdjSessionRun *run, GError **error);

/* Runs of at most this many bytes are kept without asking. */
#define ADJ_SESSION_MAX_KEPT (G_GUINT64_CONSTANT (64) << 20)

/* (transfer full) (nullable): a run named @name to be kept: the inputs and results of @run, dated
 * now.  @values: (nullable): as adj_session_run() filled them.  @inputs: (nullable): describes the
 * inputs when @run has its own.  ADJ_ERROR_UNSUPPORTED when the graph is not one of the bundle. */
ADJ_PUBLIC AdjRecordedCall *adj_session_make_run (const AdjSessionRun *run,
                                                  const AdjRunResult *result,
                                                  GHashTable *values,
                                                  const char *name,
                                                  const char *inputs,
                                                  GError **error);
/* The bytes that keeping @run adds to a file of @bundle, without those that the file has already.
 * @values: with the values of nodes */
ADJ_PUBLIC guint64 adj_session_count_kept_bytes (const AdjBundle *bundle,
                                                 const AdjRecordedCall *run,
                                                 gboolean values);

/* (transfer full) (nullable): @run of @from moved to the graph of the same id in @to, which was
 * read from the same file: tensors that @to has are shared, so that a file stores them once.
 * ADJ_ERROR_STALE when the graph there computes something else. */
ADJ_PUBLIC AdjRecordedCall *adj_session_move_run (const AdjBundle *from,
                                                  const AdjRecordedCall *run,
                                                  const AdjBundle *to,
                                                  GError **error);

/* (transfer full) (nullable): runs and compares with the recorded results, or with those of the
 * kept run whose inputs it has; with @nodes node by node.  %NULL with ADJ_ERROR_UNRECORDED when
 * nothing was recorded, or the errors of adj_comparison_run(). */
ADJ_PUBLIC AdjComparison *adj_session_compare_recorded (const AdjSessionRun *run,
                                                        gboolean nodes,
                                                        double rtol,
                                                        double atol,
                                                        GCancellable *cancellable,
                                                        GError **error);

/* (transfer full) (nullable): runs and compares with @values, of adj_session_read_values().  Nodes
 * and outputs without a value are "alone" in the result.  ADJ_ERROR_NOT_FOUND when no node or
 * output asked for has one; ADJ_ERROR_UNSUPPORTED when @values have other inputs than the run. */
ADJ_PUBLIC AdjComparison *adj_session_compare_values (const AdjSessionRun *run,
                                                      GHashTable *values,
                                                      gboolean nodes,
                                                      double rtol,
                                                      double atol,
                                                      GCancellable *cancellable,
                                                      GError **error);

/* (transfer full) (nullable): runs both on the inputs of @a (or, where none were recorded, on those
 * of @b) and compares @a with the reference @b, value by value where both compute the same. Inputs
 * are matched by name, or by position where names differ.  %NULL with ADJ_ERROR_UNRECORDED when
 * neither has inputs, ADJ_ERROR_UNSUPPORTED when they do not fit, or the errors of
 * adj_comparison_run(). */
ADJ_PUBLIC AdjComparison *adj_session_compare (const AdjSessionRun *a,
                                               const AdjSessionRun *b,
                                               gboolean nodes,
                                               double rtol,
                                               double atol,
                                               GCancellable *cancellable,
                                               GError **error);

/* (transfer full) (array length=n), freed by adj_session_free_inputs(): random inputs for every
 * placeholder of @graph: normal floats, small non-negative integers.  %NULL with
 * ADJ_ERROR_UNSUPPORTED when one has no known shape, ADJ_ERROR_MEMORY when they are too large. */
ADJ_PUBLIC AdjValue *
adj_session_random_inputs (const AdjGraph *graph, guint32 seed, guint *n, GError **error);

/* (transfer full): where the inputs of @run come from, in words: "recorded call 1", "seed 3". */
ADJ_PUBLIC char *adj_session_describe_inputs (const AdjSessionRun *run);
/* Whether the file has only some of the inputs (weights of a program), so that the others are
 * drawn. */
ADJ_PUBLIC gboolean adj_session_draws_beside_weights (const AdjSessionRun *run);

/* (transfer full) (array length=n): the inputs in the file @path of safetensors or torch.save: by
 * the names of placeholders or of the parameters and buffers behind them, or in order where the
 * file has no names.  @call: (nullable): supplies the inputs that a file of parameters lacks. %NULL
 * with ADJ_ERROR_PARSE or G_IO_ERROR, or with ADJ_ERROR_NOT_FOUND where one is missing. */
ADJ_PUBLIC AdjValue *adj_session_read_inputs (
    const AdjGraph *graph, const char *path, const AdjRecordedCall *call, guint *n, GError **error);
ADJ_PUBLIC void adj_session_free_inputs (AdjValue *inputs, guint n); /* @inputs: (nullable) */

/* Whether @path is a file of tensors without a graph, for these functions. */
ADJ_PUBLIC gboolean adj_session_is_values_file (const char *path);

/* The name of an output in files of values: its position. */
#define ADJ_OUTPUT_NAME "output_%u"

/* (transfer full) (nullable): name → AdjTensorData of the file @path of safetensors or torch.save.
 * Each name must be a node of the graph of @run, or ADJ_OUTPUT_NAME of an output (tensors without
 * names are the outputs in order), and each value must have the type and size that the graph has
 * there: %NULL with ADJ_ERROR_NOT_FOUND or ADJ_ERROR_SHAPE naming it, or with the errors of
 * adj_safetensors_load(). */
ADJ_PUBLIC GHashTable *
adj_session_read_values (const AdjSessionRun *run, const char *path, GError **error);

G_END_DECLS
