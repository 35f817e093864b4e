/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Running a graph node by node through a context: the reference for every other executor.  Short
 * and obviously right; under other modes the same walk traces, fakes or differentiates. */

typedef struct
{
  /* Sees the result of every node right after it ran, before liveness lets it go; @value is
   * borrowed.  %FALSE stops the run (the context must be in error then). */
  gboolean (*node) (const AdjGraph *graph, AdjNodeId id, const AdjValue *value, gpointer data);
  /* (nullable) May replace the result of a node: writes to @value, which it then owns the change
   * of.  For planted faults and recorded random values. */
  gboolean (*amend) (
      const AdjGraph *graph, AdjNodeId id, AdjContext *cx, AdjValue *value, gpointer data);
  /* (nullable) May give the value of a call in its place (transfer full), from its arguments, a
   * TUPLE: %TRUE then. */
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
 * The context is set to what the caller of @graph is set to, for as long as it runs.
 * Nodes that depend on one that is not understood are passed over; when the output is among them,
 * nothing runs.  Values are released after their last use.  Each node has a scope of its own and
 * sets the context's place.
 *
 * Returns: %FALSE when the context is in error; the message names the node
 */
ADJ_PUBLIC gboolean adj_interpret (AdjContext *cx,
                                   const AdjGraph *graph,
                                   const AdjValue *args,
                                   guint n_args,
                                   const AdjInterpreterHooks *hooks,
                                   AdjValue *result);

/* Of every node: the one that its value depends on and that is not understood, a statement or an
 * argument that the reader of a file kept as text; else ADJ_NO_NODE.  What has no value may also
 * leave memory unwritten, and random numbers undrawn, that others depend on.  (transfer none)
 * (array): valid as long as @graph */
ADJ_PUBLIC const AdjNodeId *adj_graph_find_opaque (const AdjGraph *graph);
/* %FALSE with ADJ_ERROR_UNSUPPORTED "line:column: …" when what @graph returns depends on such a
 * node, which the error blames. */
ADJ_PUBLIC gboolean adj_graph_check_understood (const AdjGraph *graph, GError **error);

/* (nullable): what graphs may call beside operators, functions of Python and higher-order
 * operators, one after the other; %NULL behind the last one. */
ADJ_PUBLIC const char *adj_interpreter_get_function (guint index);

/* (transfer full): the graph as a function; @graph is kept. */
ADJ_PUBLIC AdjFunction *adj_graph_function_new (AdjGraph *graph);

/* Bytes that running @graph needs at its worst moment by liveness, inputs included, taken from the
 * annotations (views share).  Scaled to float64 when @float64.  G_MAXUINT64 when unknown. */
ADJ_PUBLIC guint64 adj_graph_estimate_memory (const AdjGraph *graph, gboolean float64);

/* Bytes of memory that the system has available; G_MAXUINT64 where unknown. */
ADJ_PUBLIC guint64 adj_memory_get_available (void);

G_END_DECLS
