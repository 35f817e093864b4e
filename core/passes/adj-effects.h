/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The effects of a graph: calls that are made for what they do (printing, methods of objects), in
 * the order in which they must happen, and the tokens that order them (passes/SPEC.md §5). */

/* Whether each call of with_effects takes the token that the one before it gave, in the forward and
 * in the backward. %FALSE with ADJ_ERROR_VERIFY, which names the node: its token is none, was taken
 * already, is of the other direction or of another chain, or the one that it gives is lost. */
ADJ_PUBLIC gboolean adj_graph_verify_tokens (const AdjGraph *graph, GError **error);

/* Whether @after has the effects of @before, in their order; where it has a backward and @before
 * has none, in its forward.  %FALSE with ADJ_ERROR_VERIFY, which names the first node that
 * differs. */
ADJ_PUBLIC gboolean adj_graph_verify_effects_kept (const AdjGraph *before,
                                                   const AdjGraph *after,
                                                   GError **error);

/* (transfer full): the effects of one direction, one a line: "call_torchbind push of primals_2". */
ADJ_PUBLIC char *adj_graph_print_effects (const AdjGraph *graph, gboolean backward);

/* The call of with_effects whose token node @index takes, and the one that takes the token which it
 * gives; ADJ_NO_NODE: it is none, or there is none. */
ADJ_PUBLIC AdjNodeId adj_graph_get_effect_before (const AdjGraph *graph, guint index);
ADJ_PUBLIC AdjNodeId adj_graph_get_effect_after (const AdjGraph *graph, guint index);

/* The ordered effect behind node @from (@step 1) or before it (-1), in the order of the graph:
 * forward and then backward. ADJ_NO_NODE as @from: the first one and the last; as the result: there
 * is none. */
ADJ_PUBLIC AdjNodeId adj_graph_step_effect (const AdjGraph *graph, AdjNodeId from, int step);

G_END_DECLS
