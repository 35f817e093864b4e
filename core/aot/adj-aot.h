/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/adj-aot-metadata.h"
#include "call/adj-function.h"
#include "ir/adj-value.h"
#include "trace/adj-decompose.h"
#include "trace/adj-tape.h"

G_BEGIN_DECLS

/* From any function to one graph, and back to something that is called as the function was
 * (aot-autograd).  A function is run under functionalization to learn what it does to its inputs;
 * then it goes through stages, each of which changes how it is called and knows how to undo that
 * at run time; then it is traced: to an inference graph, or with its gradients to a joint one. */

/* How often a result that is kept for the backward passes detach. */
typedef enum
{
  ADJ_DETACHES_ONCE,
  ADJ_DETACHES_2_15, /* and once more where it is read, as in PyTorch 2.15 */
  ADJ_DETACHES_2_6,  /* each of these two twice, as in PyTorch 2.6 */
} AdjDetaches;

typedef struct
{
  gboolean keep_input_mutations;        /* writes that autograd does not see stay, as copy_ nodes */
  gboolean no_grad;                     /* as if called while grad mode was off */
  AdjAutocast autocast[ADJ_N_AUTOCAST]; /* as if called under it, forward and backward */
  gboolean functionalize_rng;           /* seed and offset become inputs */
  AdjDetaches detaches;
  gboolean copy_written;   /* gradients of writes through views: ADJ_AUTOGRAD_COPY_WRITTEN */
  const char *release;     /* (nullable): a literal; whose gradients are traced, 2.6's for %NULL */
  gboolean tag_writes;     /* copies into inputs say where they must be, as in PyTorch 2.15 */
  gboolean maxima_by_sign; /* Max(1, s0 - 1) stays, as in PyTorch 2.15 */
  gboolean like_outputs;   /* tangents have the strides of what they are gradients of */
  gboolean defer_hooks;    /* hooks on tensors stay calls in the backward (adj_trace_wrapped()) */
  gboolean export_joint;   /* no tangents: backward starts at the scalar output @loss */
  guint loss;
  gboolean deterministic;     /* as if only deterministic algorithms could run */
  gboolean keep_dead;         /* keep what no output depends on */
  const AdjValue *parameters; /* (nullable): live tensors that every call gets first */
  guint n_parameters;
  AdjSymbols *symbols;   /* (nullable): what sizes of the inputs refer to */
  const guint32 *lifted; /* nodes of @like whose tensors are inputs, before its placeholders */
  guint n_lifted;
  const AdjGraph *like; /* (nullable): its placeholders give names and metadata of the inputs */
  const AdjDecompositions *decompositions; /* (nullable): applied while tracing */
} AdjAotOptions;

/* What a stage did.  All is borrowed. */
typedef struct
{
  const char *name;               /* "metadata", "dedupe", "joint", "dce" … */
  const char *note;               /* its result: one sentence, or a table of lines */
  AdjGraph *graph;                /* (nullable): where it made one */
  const AdjAotMetadata *metadata; /* as it is after the stage */
  gint64 ns;                      /* the time it took */
} AdjAotStep;

typedef struct
{
  void (*step) (const AdjAotStep *step, gpointer data); /* (nullable) */
  /* (nullable): hears what contexts were warned of while the function ran, perhaps twice */
  void (*warn) (const char *text, gpointer data);
  gpointer data;
  /* (nullable): what functionalization does while the function is traced; %NULL: it begins, anew
   * where it is traced twice */
  AdjTapeFunc tape;
} AdjAotObserver;

typedef struct _AdjAotGraph AdjAotGraph;

/**
 * adj_aot_trace:
 * @function: gives one value or a container of them; without parameters it gets @inputs alone
 * @inputs: (array length=n): TENSORs tell what requires a gradient, what is a leaf, a view, the
 *   same object or shares storage; META and DATA are tensors of their own where storage numbers
 *   differ, and leaves; containers are flattened
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

/* (transfer full) (nullable): as adj_aot_trace() of what @graph does, with inputs as its
 * annotations say, parameters named.  %NULL with the errors of adj_aot_trace(). */
ADJ_PUBLIC AdjAotGraph *adj_aot_trace_graph (AdjGraph *graph,
                                             const AdjAotOptions *options,
                                             const AdjAotObserver *observer,
                                             GError **error);

ADJ_PUBLIC AdjAotGraph *adj_aot_graph_ref (AdjAotGraph *aot); /* (transfer full) */
ADJ_PUBLIC void adj_aot_graph_unref (AdjAotGraph *aot);       /* @aot: (nullable) */

ADJ_PUBLIC AdjGraph *adj_aot_graph_get_graph (const AdjAotGraph *aot); /* (transfer none) */
ADJ_PUBLIC gboolean adj_aot_graph_is_joint (const AdjAotGraph *aot);
/* Of the function as the user calls it, and of the one that was traced. */
ADJ_PUBLIC const AdjAotMetadata *adj_aot_graph_get_user_metadata (const AdjAotGraph *aot);
ADJ_PUBLIC const AdjAotMetadata *adj_aot_graph_get_metadata (const AdjAotGraph *aot);
/* How many of the joint graph's outputs are the forward's, as partitioners need to know. */
ADJ_PUBLIC guint adj_aot_graph_get_n_forward (const AdjAotGraph *aot);

/**
 * adj_aot_compile:
 * @forward: the inference graph, or the forward part of the joint one: it gives what that one
 *   gives, then saved tensors, then @n_saved_sizes saved sizes
 * @backward: (nullable): called with saved sizes, saved tensors and tangents; gives a gradient for
 *   each primal.  Not called before the first backward; it may compile itself then
 * @backward_graph: (nullable): inputs whose gradient is None in it take no part in backward
 *
 * Returns: (transfer full): called as the function that was traced.  Under a context with autograd
 *   its results can be differentiated.
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
