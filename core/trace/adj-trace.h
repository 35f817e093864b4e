/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"
#include "ir/adj-value.h"
#include "trace/adj-decompose.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name; /* (nullable): class name of the graph; else "<lambda>" */
  const char *const
      *parameters;      /* (nullable): one name for each example input; else arg0, arg1 … */
  const char *unlisted; /* (nullable): one of @parameters, a tensor, whose placeholder has just this
                           name and is not a parameter in the graph's text */
  const AdjGraph *like; /* (nullable): its placeholders give names and metadata, instead of
                           @parameters; the header is taken over too */
  const AdjNodeMeta *const
      *input_metas;               /* (nullable): by leaf, %NULL where unknown; used without @like */
  guint n_input_metas;            /* later leaves have none */
  const AdjNodeId *input_origins; /* (nullable): by leaf: the origin of its placeholder */
  AdjSymbols *symbols;            /* (nullable): symbols in the sizes of the example inputs */
  const AdjDecompositions *decompositions; /* (nullable): applied to the calls that are traced */
  gboolean functionalize; /* writes become views and new values; the values of written inputs are
                             copied into them at the end.  Written inputs must not alias others. */
  AdjSizePolicy sizes;    /* how sizes of example inputs are converted: STATIC, or to symbols */
  gboolean unbacked; /* data-dependent sizes and numbers become symbols, else they are refused by
                        name; not with @real */
  gboolean real;     /* compute with the CPU kernels; else tensors are fake */
  gboolean items_when_read; /* a result of several gets its getitem node when first read; else all
                               get one at once, as in make_fx */
  gboolean drop_dead;       /* drop nodes that no output and no effect depends on */
} AdjTraceOptions;

/**
 * adj_trace:
 * @function: what to trace
 * @example_inputs: (array length=n): its arguments.  TENSOR and DATA give shapes, and values when
 *   @options asks for them; META gives a shape.  Those that share storage alias.  Every leaf of a
 *   container is an input of its own; it is passed on in the container.
 * @options: (nullable)
 *
 * Calls @function once and records every operator call in it as a node, as PyTorch's make_fx does
 * (names too).  Each node has the metadata of the place of its call: the node of a graph that is
 * interpreted, or a line of C.
 *
 * Returns: (transfer full) (nullable): %NULL with the error of the call that failed, mostly
 *   ADJ_ERROR_SHAPE, or with ADJ_ERROR_UNSUPPORTED for an input or a result that a graph cannot
 * have
 */
ADJ_PUBLIC AdjGraph *adj_trace (AdjFunction *function,
                                const AdjValue *example_inputs,
                                guint n,
                                const AdjTraceOptions *options,
                                GError **error);

/* (transfer full) (nullable): traces @graph itself, with inputs by its annotations.  The result has
 * the same structure if nothing in @graph is unknown and @decompositions (nullable) applies
 * nowhere. %NULL with the errors of adj_trace(). */
ADJ_PUBLIC AdjGraph *
adj_retrace (AdjGraph *graph, const AdjDecompositions *decompositions, GError **error);

G_END_DECLS
