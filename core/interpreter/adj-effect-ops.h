/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-effect-call.h"
#include "call/adj-function.h"
#include "ir/adj-opaque.h"

G_BEGIN_DECLS

/* Operators with side effects (interpreter/SPEC.md §5.6). */

/* (transfer none) (nullable): by "torch.ops.higher_order.print". */
ADJ_PUBLIC const AdjEffectOp *adj_effect_op_find (const char *target);

/* -- leaf functions: neither a trace nor autograd looks into them -- */

/* Arguments of invoke_leaf_function before those of the function. */
enum
{
  ADJ_LEAF_REAL,     /* the object that is called */
  ADJ_LEAF_FAKE,     /* the object for fake tensors: returns fake results with the same metadata */
  ADJ_LEAF_SPEC,     /* the structure of the arguments */
  ADJ_LEAF_WRITTEN,  /* "0,2": indices of arguments that are written */
  ADJ_LEAF_N_BEFORE, /* number of these; the arguments follow */
};

/* (transfer full): @function as an object for ADJ_LEAF_REAL or ADJ_LEAF_FAKE. */
ADJ_PUBLIC AdjOpaque *adj_leaf_function_new (AdjFunction *function);
/* Calls such an object; a single result becomes a TUPLE of it.  %FALSE: the context is in error,
 * also if the object is only a description without a function.  @result (out) (transfer full). */
ADJ_PUBLIC gboolean adj_leaf_function_call (
    AdjContext *cx, const AdjValue *function, const AdjValue *args, guint n_args, AdjValue *result);
/* (transfer full): the structure of @n arguments that are not nested. */
ADJ_PUBLIC AdjOpaque *adj_tree_spec_new (guint n);

/**
 * adj_call_leaf:
 * @real: returns a tensor, None, or a TUPLE of these; must not write to its arguments
 * @fake: (nullable): returns fake results with the same metadata; %NULL: @real is used
 * @result: (out) (transfer full): TUPLE
 *
 * Calls @real with @args as one operator: a trace has one node for it.
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
