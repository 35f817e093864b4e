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
  const char *unlisted; /* (nullable): which of @parameters, a tensor, is a placeholder of that very
                           name, and no parameter of the graph's text */
  const AdjGraph *like; /* (nullable): its placeholders give names and metadata, instead of
                           @parameters; the header is taken over too */
  const AdjNodeMeta *const
      *input_metas;               /* (nullable): by leaf, %NULL where unknown; used without @like */
  guint n_input_metas;            /* leaves beyond have none */
  const AdjNodeId *input_origins; /* (nullable): by leaf: the node that it represents */
  AdjSymbols *symbols;            /* (nullable): what sizes in the example inputs refer to */
  const AdjDecompositions *decompositions; /* (nullable): applied to the calls that are traced */
  gboolean functionalize;   /* without writes: views and new values instead; what was written to an
                               input is copied there at the end.  Inputs that are written must not
                               alias others. */
  AdjSizePolicy sizes;      /* what the sizes of example inputs become: STATIC, or symbols */
  gboolean unbacked;        /* sizes and numbers that data decide become symbols, else they are
                               refused by name; not with @real */
  gboolean real;            /* compute with the CPU kernels; else nothing has bytes */
  gboolean items_when_read; /* one of several results gets its node when it is first read;
                               else all of them at once, as make_fx does */
  gboolean drop_dead;       /* leave out what no output and no effect depends on */
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
 * (names too).  Each node carries what is known of the place that called it: the node of a graph
 * that is being interpreted, or a line of C.
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

/* (transfer full) (nullable): traces @graph itself, with inputs as its annotations say, and gives a
 * graph of the same structure when nothing in it is unknown and @decompositions (nullable) takes
 * nothing apart.  %NULL with the errors of adj_trace(). */
ADJ_PUBLIC AdjGraph *
adj_retrace (AdjGraph *graph, const AdjDecompositions *decompositions, GError **error);

G_END_DECLS
