/* SPDX-License-Identifier: MIT */
#pragma once

#include "interpreter/adj-interpreter.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The walk over a graph for who runs captured graphs, and one call of it. */

/* As adj_interpret(), but @args (transfer full) (array length=n_args) are NONE afterwards, and each
 * of them ends with its last use. */
gboolean adj_interpret_taking (AdjContext *cx,
                               const AdjGraph *graph,
                               AdjValue *args,
                               guint n_args,
                               const AdjInterpreterHooks *hooks,
                               AdjValue *result);

/* What a call_function node calls, an operator or a Python builtin such as getitem, on @args
 * (TUPLE) and @kwargs (DICT) without nodes in them.  @result (out) (transfer full).  %FALSE: the
 * context is in error. */
gboolean adj_interpret_call (AdjContext *cx,
                             const AdjNode *node,
                             const AdjValue *args,
                             const AdjValue *kwargs,
                             AdjValue *result);

/* Whether functions that torch.func transforms are in @graph: it has to be run under a mode that
 * records gradients. */
gboolean adj_graph_takes_transforms (const AdjGraph *graph);

G_END_DECLS
