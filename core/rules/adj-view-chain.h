/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* How a view is made from its base: calls of view operators as data, replayed through a context on
 * any base, and inverted by the operators' `.inverse` rules.  Counted, immutable; chains share
 * their common beginning.  %NULL is the empty chain. */
typedef struct _AdjViewChain AdjViewChain;

/* Whether @op makes views of its first tensor and has an inverse. */
gboolean adj_op_is_view (const AdjOp *op);

/**
 * adj_view_chain_append:
 * @chain: (nullable)
 * @args: in schema order, as in an AdjOpCall; the tensor argument is ignored
 * @part: index of the result
 *
 * Returns: (transfer full): @chain with one more step
 */
AdjViewChain *
adj_view_chain_append (AdjViewChain *chain, const AdjOp *op, const AdjValue *args, guint part);
AdjViewChain *adj_view_chain_ref (AdjViewChain *chain); /* (nullable) */
void adj_view_chain_unref (AdjViewChain *chain);

guint adj_view_chain_get_n_steps (const AdjViewChain *chain);
/* The operator of the last step; its other arguments by adj_view_chain_get_arg(), NONE for the
 * base. */
const AdjOp *adj_view_chain_get_op (const AdjViewChain *chain);
const AdjValue *adj_view_chain_get_arg (const AdjViewChain *chain, guint arg);
guint adj_view_chain_get_part (const AdjViewChain *chain);
/* (transfer none) (nullable): all but the last step. */
AdjViewChain *adj_view_chain_get_parent (const AdjViewChain *chain);

/* (transfer full) (nullable): the steps of @chain after those of @done, to which they were
 * appended; %NULL if there are none, or if @chain does not begin with @done. */
AdjViewChain *adj_view_chain_after (const AdjViewChain *chain, const AdjViewChain *done);

/* Whether any step has several results. */
gboolean adj_view_chain_is_multi_output (const AdjViewChain *chain);
/* Whether a step other than the first is as_strided, which ignores the view before it, since it
 * counts from the storage: then there is no inverse. */
gboolean adj_view_chain_has_late_as_strided (const AdjViewChain *chain);

/* The view of @base; borrowed from the innermost scope, %NULL with the context in error.  The empty
 * chain gives @base. */
AdjTensor *adj_view_chain_replay (const AdjViewChain *chain, AdjContext *cx, AdjTensor *base);
/* A new tensor: @base with @mutated written to the view; borrowed likewise. */
AdjTensor *adj_view_chain_invert (const AdjViewChain *chain,
                                  AdjContext *cx,
                                  AdjTensor *base,
                                  AdjTensor *mutated);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjViewChain, adj_view_chain_unref)

G_END_DECLS
