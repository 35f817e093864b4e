/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Runs a graph node by node through a context: the reference for every other executor, kept simple.
 * Under other modes the same walk traces, fakes or differentiates. */

typedef struct
{
  /* Gets the result of every node right after it ran, before it may be released; @value is
   * borrowed.  %FALSE stops the run (the context must be in error then). */
  gboolean (*node) (const AdjGraph *graph, AdjNodeId id, const AdjValue *value, gpointer data);
  /* (nullable) May replace the result of a node, by writing to @value and freeing the old one. For
   * planted faults and recorded random values. */
  gboolean (*amend) (
      const AdjGraph *graph, AdjNodeId id, AdjContext *cx, AdjValue *value, gpointer data);
  /* (nullable) May compute the result of a call instead (transfer full), from its arguments, a
   * TUPLE: then returns %TRUE. */
  gboolean (*replace) (
      const AdjGraph *graph, AdjNodeId id, const AdjValue *args, AdjValue *value, gpointer data);
  gpointer data;
} AdjInterpreterHooks;

/**
 * adj_interpret:
 * @args: one per placeholder, in order; borrowed
 * @hooks: (nullable)
 * @result: (out) (transfer full): what the output node returns
 *
 * The thread settings of @graph hold while it runs.  Nodes that depend on one that is not
 * understood are skipped; if the output does, nothing runs.  Values are released after their last
 * use.  Each node has a scope of its own and sets the context's place.
 *
 * Returns: %FALSE when the context is in error; the message names the node
 */
ADJ_PUBLIC gboolean adj_interpret (AdjContext *cx,
                                   const AdjGraph *graph,
                                   const AdjValue *args,
                                   guint n_args,
                                   const AdjInterpreterHooks *hooks,
                                   AdjValue *result);

/* By node: the node on which its value depends and that is not understood (a statement or argument
 * that was kept as text); else ADJ_NO_NODE.  Other nodes may depend on such a node by memory that
 * it should have written, or by random numbers that it should have drawn.  (transfer none) (array):
 * valid as long as @graph */
ADJ_PUBLIC const AdjNodeId *adj_graph_find_opaque (const AdjGraph *graph);
/* %FALSE with ADJ_ERROR_UNSUPPORTED "line:column: …" if an output of @graph depends on such a node,
 * which the error blames. */
ADJ_PUBLIC gboolean adj_graph_check_understood (const AdjGraph *graph, GError **error);

/* (nullable): function @index that graphs may call besides operators, Python functions and
 * higher-order operators; %NULL after the last one. */
ADJ_PUBLIC const char *adj_interpreter_get_function (guint index);

/* (transfer full): the graph as a function, which holds a reference to @graph. */
ADJ_PUBLIC AdjFunction *adj_graph_function_new (AdjGraph *graph);

/* Peak memory in bytes of running @graph, by liveness and annotations, inputs included (views
 * share).  With @float64, as if floats were float64.  G_MAXUINT64 when unknown. */
ADJ_PUBLIC guint64 adj_graph_estimate_memory (const AdjGraph *graph, gboolean float64);

/* Bytes of memory that the system has available; G_MAXUINT64 when unknown. */
ADJ_PUBLIC guint64 adj_memory_get_available (void);

G_END_DECLS
