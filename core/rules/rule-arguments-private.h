/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/rule-private.h"

G_BEGIN_DECLS

/* What builtins read from their arguments, and how they answer. */

/* Of a tensor or a description; that of an empty one, with the context in error, of anything else.
 */
const AdjTensorMeta *rule_meta_of (AdjRuleCall *call, const AdjValue *value);
/* %FALSE where there is no argument @index. */
gboolean rule_is_true (const AdjValue *args, guint n, guint index);
double rule_number_of (const AdjValue *value, double if_none);
/* Sizes of a LIST into @out; returns how many. */
guint rule_sizes_of (const AdjValue *list, AdjSize *out);
guint rule_wrap_dim (gint64 dim, guint rank);
/* The dimensions that argument @index names as bits: a number, a list, or nothing, which is all. */
guint32 rule_dims_of (const AdjValue *args, guint n, guint index, guint rank);
/* Whether it names any. */
gboolean rule_names_dims (const AdjValue *args, guint n, guint index);
/* %FALSE for %NULL. */
gboolean rule_give (AdjValue *out, AdjTensor *tensor);

/* -- of composite operators, which a program calls: the context has the error -- */

AdjSymbols *rule_symbols (const AdjRuleCall *call);
/* That of an empty tensor for what is none. */
const AdjShape *rule_shape_given (AdjRuleCall *call, const AdjValue *value);
/* Entries of a LIST, or a lone number, into @out; returns how many. */
guint rule_sizes_given (AdjRuleCall *call, const AdjValue *value, AdjSize *out);
gint64 rule_int_of (AdjRuleCall *call, const AdjValue *value);
/* Counted from the front. */
gint64 rule_wrapped_dim (AdjRuleCall *call, gint64 dim, gint64 rank);
gboolean rule_give_sizes (AdjRuleCall *call, const AdjSize *sizes, guint n, AdjValue *out);

/* -- shapes (shapes.c) -- */

/* view, or clone and _unsafe_view where no strides do; %NULL for %NULL. */
AdjTensor *rule_reshape (AdjRuleCall *call, AdjTensor *tensor, const AdjValue *sizes);
/* The product of those @sizes that @dims names. */
AdjSize rule_reduced_numel (AdjRuleCall *call, const AdjSize *sizes, guint rank, guint32 dims);
/* @tensor with those of @rank dimensions put back, of size 1, that @dims names. */
AdjTensor *rule_restore_dims (AdjRuleCall *call, AdjTensor *tensor, guint32 dims, guint rank);
/* @tensor, the result of a reduction, with the dimensions that it took away; one over everything
 * broadcasts as it is. */
AdjTensor *rule_restore_reduced (AdjRuleCall *call,
                                 AdjTensor *tensor,
                                 const AdjValue *args,
                                 guint n,
                                 guint first, /* dims and keepdim stand at first, first + 1 */
                                 guint rank);

/* A float computed from symbolic sizes by @target; identified by @text, sympy's spelling, so that a
 * trace computes it. */
AdjValue rule_float_of_sizes (
    AdjRuleCall *call, const char *target, const AdjValue *args, guint n, const char *text);

G_END_DECLS
