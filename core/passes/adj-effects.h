/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The side effects of a graph (printing, methods of objects) in the order in which they must
 * happen, and the tokens that order them (passes/SPEC.md §5). */

/* Whether each call of with_effects takes the token of the one before, in the forward and in the
 * backward. %FALSE with ADJ_ERROR_VERIFY, which names the node: its token is none, was taken
 * already, is of the other direction or of another chain, or its new token is lost. */
ADJ_PUBLIC gboolean adj_graph_verify_tokens (const AdjGraph *graph, GError **error);

/* Whether @after has the effects of @before, in their order; if @before has no backward, in the
 * forward of @after.  %FALSE with ADJ_ERROR_VERIFY, which names the first node that differs. */
ADJ_PUBLIC gboolean adj_graph_verify_effects_kept (const AdjGraph *before,
                                                   const AdjGraph *after,
                                                   GError **error);

/* (transfer full): the effects of one direction, one a line: "call_torchbind push of primals_2". */
ADJ_PUBLIC char *adj_graph_print_effects (const AdjGraph *graph, gboolean backward);

/* The with_effects call whose token node @index takes, and the one that takes the token of node
 * @index; ADJ_NO_NODE: there is none, or the node is no such call. */
ADJ_PUBLIC AdjNodeId adj_graph_get_effect_before (const AdjGraph *graph, guint index);
ADJ_PUBLIC AdjNodeId adj_graph_get_effect_after (const AdjGraph *graph, guint index);

/* The next (@step 1) or previous (-1) ordered effect after node @from, in the order of the graph:
 * forward, then backward. ADJ_NO_NODE as @from: the first or last one; as the result: none. */
ADJ_PUBLIC AdjNodeId adj_graph_step_effect (const AdjGraph *graph, AdjNodeId from, int step);

G_END_DECLS
