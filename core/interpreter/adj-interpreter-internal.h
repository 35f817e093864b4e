/* SPDX-License-Identifier: MIT */
#pragma once

#include "interpreter/adj-interpreter.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Interpretation for code that runs captured graphs, and a single call of it. */

/* As adj_interpret(), but @args (transfer full) (array length=n_args) are NONE afterwards: each is
 * released after its last use. */
gboolean adj_interpret_taking (AdjContext *cx,
                               const AdjGraph *graph,
                               AdjValue *args,
                               guint n_args,
                               const AdjInterpreterHooks *hooks,
                               AdjValue *result);

/* Calls the callee of a call_function node, an operator or a Python builtin such as getitem, with
 * @args (TUPLE) and @kwargs (DICT) that contain no nodes.  @result (out) (transfer full).  %FALSE:
 * the context is in error. */
gboolean adj_interpret_call (AdjContext *cx,
                             const AdjNode *node,
                             const AdjValue *args,
                             const AdjValue *kwargs,
                             AdjValue *result);

/* Whether @graph has torch.func transforms: it must then run under a mode that records gradients.
 */
gboolean adj_graph_takes_transforms (const AdjGraph *graph);

/* adj_graph_estimate_memory() of a run whose inputs are in a file, each read when a node uses it.
 */
guint64 adj_graph_estimate_memory_reading (const AdjGraph *graph, gboolean float64);

G_END_DECLS
