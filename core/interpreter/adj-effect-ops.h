/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-effect-call.h"
#include "call/adj-function.h"
#include "ir/adj-opaque.h"

G_BEGIN_DECLS

/* The operators that are called for what they do (interpreter/SPEC.md §5.6). */

/* (transfer none) (nullable): by "torch.ops.higher_order.print". */
ADJ_PUBLIC const AdjEffectOp *adj_effect_op_find (const char *target);

/* -- leaf functions: neither a trace nor autograd looks into them -- */

/* What invoke_leaf_function takes before the arguments of the function. */
enum
{
  ADJ_LEAF_REAL,     /* an object that is called */
  ADJ_LEAF_FAKE,     /* one that gives tensors which look so, where there are no elements */
  ADJ_LEAF_SPEC,     /* how the arguments were nested */
  ADJ_LEAF_WRITTEN,  /* "0,2": arguments that are written */
  ADJ_LEAF_N_BEFORE, /* the arguments */
};

/* (transfer full): @function as such an object. */
ADJ_PUBLIC AdjOpaque *adj_leaf_function_new (AdjFunction *function);
/* Calls such an object; one result is a TUPLE of it.  %FALSE: the context is in error: also where
 * the object is only known to have been there.  @result (out) (transfer full). */
ADJ_PUBLIC gboolean adj_leaf_function_call (
    AdjContext *cx, const AdjValue *function, const AdjValue *args, guint n_args, AdjValue *result);
/* (transfer full): how @n arguments are nested that are not. */
ADJ_PUBLIC AdjOpaque *adj_tree_spec_new (guint n);

/**
 * adj_call_leaf:
 * @real: gives the result, a tensor, None, or a TUPLE of these; does not write to its arguments
 * @fake: (nullable): gives what looks so, without elements; %NULL: @real does
 * @result: (out) (transfer full): TUPLE
 *
 * Calls @real with @args as one operator of its own: a trace has one node of it.
 *
 * Returns: %FALSE when the context is, or comes to be, in error
 */
ADJ_PUBLIC gboolean adj_call_leaf (AdjContext *cx,
                                   AdjFunction *real,
                                   AdjFunction *fake,
                                   const AdjValue *args,
                                   guint n_args,
                                   AdjValue *result);

G_END_DECLS
