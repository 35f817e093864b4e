/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/adj-aot-metadata.h"
#include "call/adj-function.h"
#include "ir/adj-value.h"
#include "trace/adj-decompose.h"
#include "trace/adj-tape.h"

G_BEGIN_DECLS

/* From any function to one graph, and back to a function with the original calling convention
 * (aot-autograd).  The function is run under functionalization to learn its mutations and aliasing;
 * then stages change its calling convention, each of which can undo its change at run time; then it
 * is traced: to an inference graph, or with its gradients to a joint one. */

/* How often a saved result is detached. */
typedef enum
{
  ADJ_DETACHES_ONCE,
  ADJ_DETACHES_2_15, /* also where it is unpacked, as in PyTorch 2.15 */
  ADJ_DETACHES_2_6,  /* twice when saved and twice when unpacked, as in PyTorch 2.6 */
} AdjDetaches;

typedef struct
{
  gboolean keep_input_mutations; /* writes hidden from autograd stay in the graph, as copy_ nodes */
  gboolean no_grad;              /* traced as with grad mode off */
  AdjAutocast autocast[ADJ_N_AUTOCAST]; /* autocast state of forward and backward */
  gboolean functionalize_rng;           /* seed and offset become inputs */
  AdjDetaches detaches;
  gboolean copy_written;      /* gradients of writes through views: ADJ_AUTOGRAD_COPY_WRITTEN */
  const char *release;        /* (nullable): a literal; whose gradients are traced; %NULL: 2.6 */
  gboolean tag_writes;        /* copies into inputs have a phase tag, as in PyTorch 2.15 */
  gboolean maxima_by_sign;    /* Max(1, s0 - 1) stays, as in PyTorch 2.15 */
  gboolean floats_as_tensors; /* read off tensors, in arithmetic, as in PyTorch 2.15 */
  gboolean like_outputs;      /* tangents have the strides of their outputs */
  gboolean defer_hooks;  /* hooks on tensors become calls in the backward (adj_trace_wrapped()) */
  gboolean export_joint; /* no tangents: backward starts at the scalar output @loss */
  guint loss;
  gboolean deterministic;     /* as if only deterministic algorithms were allowed */
  gboolean keep_dead;         /* keep nodes that no output depends on */
  const AdjValue *parameters; /* (nullable): live tensors that every call passes first */
  guint n_parameters;
  AdjSymbols *symbols;   /* (nullable): symbols in the sizes of the inputs */
  const guint32 *lifted; /* nodes of @like whose tensors become inputs, before its placeholders */
  guint n_lifted;
  const AdjGraph *like; /* (nullable): its placeholders give names and metadata of the inputs */
  const AdjDecompositions *decompositions; /* (nullable): applied while tracing */
} AdjAotOptions;

/* The result of a stage.  All is borrowed. */
typedef struct
{
  const char *name;               /* "metadata", "dedupe", "joint", "dce" … */
  const char *note;               /* its result: one sentence, or a table of lines */
  AdjGraph *graph;                /* (nullable): the graph after the stage */
  const AdjAotMetadata *metadata; /* the metadata after the stage */
  gint64 ns;                      /* duration */
} AdjAotStep;

typedef struct
{
  void (*step) (const AdjAotStep *step, gpointer data); /* (nullable) */
  /* (nullable): gets warnings of contexts while the function runs, perhaps twice */
  void (*warn) (const char *text, gpointer data);
  gpointer data;
  /* (nullable): gets the steps of functionalization while the function is traced; called with %NULL
   * when a trace begins, again if there is a second one */
  AdjTapeFunc tape;
} AdjAotObserver;

typedef struct _AdjAotGraph AdjAotGraph;

/**
 * adj_aot_trace:
 * @function: returns one value or a container of them; called with the parameters, then @inputs
 * @inputs: (array length=n): TENSORs define what requires a gradient, is a leaf, a view or the same
 * object, and what shares storage; META and DATA are leaves, which alias if their storage numbers
 * are equal; containers are flattened
 * @options: (nullable)
 * @observer: (nullable)
 *
 * Calls @function twice, with fake tensors.
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_UNSUPPORTED and the row of the error
 *   catalogue, naming the input, output or node; or with the errors of adj_trace()
 */
ADJ_PUBLIC AdjAotGraph *adj_aot_trace (AdjFunction *function,
                                       const AdjValue *inputs,
                                       guint n,
                                       const AdjAotOptions *options,
                                       const AdjAotObserver *observer,
                                       GError **error);

/* (transfer full) (nullable): as adj_aot_trace() of @graph interpreted, with inputs by its
 * annotations and parameters by name.  %NULL with the errors of adj_aot_trace(). */
ADJ_PUBLIC AdjAotGraph *adj_aot_trace_graph (AdjGraph *graph,
                                             const AdjAotOptions *options,
                                             const AdjAotObserver *observer,
                                             GError **error);

ADJ_PUBLIC AdjAotGraph *adj_aot_graph_ref (AdjAotGraph *aot); /* (transfer full) */
ADJ_PUBLIC void adj_aot_graph_unref (AdjAotGraph *aot);       /* @aot: (nullable) */

ADJ_PUBLIC AdjGraph *adj_aot_graph_get_graph (const AdjAotGraph *aot); /* (transfer none) */
ADJ_PUBLIC gboolean adj_aot_graph_is_joint (const AdjAotGraph *aot);
/* Of the function as the user calls it, and of the traced one. */
ADJ_PUBLIC const AdjAotMetadata *adj_aot_graph_get_user_metadata (const AdjAotGraph *aot);
ADJ_PUBLIC const AdjAotMetadata *adj_aot_graph_get_metadata (const AdjAotGraph *aot);
/* Number of forward outputs of the joint graph, which partitioners need. */
ADJ_PUBLIC guint adj_aot_graph_get_n_forward (const AdjAotGraph *aot);

/**
 * adj_aot_compile:
 * @forward: the inference graph, or the forward part of the joint one: it returns the forward
 * outputs, then saved tensors, then @n_saved_sizes saved sizes
 * @backward: (nullable): called with saved sizes, saved tensors and tangents; returns a gradient
 * for each primal.  First called by the first backward, which may compile it
 * @backward_graph: (nullable): inputs whose gradient is None in it are detached
 *
 * Returns: (transfer full): with the calling convention of the traced function.  Under a context
 * with autograd its results can be differentiated.
 */
ADJ_PUBLIC AdjFunction *adj_aot_compile (AdjAotGraph *aot,
                                         AdjFunction *forward,
                                         AdjFunction *backward,
                                         AdjGraph *backward_graph,
                                         guint n_saved_sizes);

/* The codes of the error catalogue; %NULL after the last.  Messages end with "[aot: CODE]". */
ADJ_PUBLIC const char *adj_aot_get_error_code (guint index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjAotGraph, adj_aot_graph_unref)

G_END_DECLS
