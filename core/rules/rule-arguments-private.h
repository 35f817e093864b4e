/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/rule-private.h"

G_BEGIN_DECLS

/* Reading arguments of builtins, and returning results. */

/* The metadata of a tensor or META; anything else sets the error of the context and gives that of
 * an empty tensor. */
const AdjTensorMeta *rule_meta_of (AdjRuleCall *call, const AdjValue *value);
/* %FALSE if there is no argument @index. */
gboolean rule_is_true (const AdjValue *args, guint n, guint index);
double rule_number_of (const AdjValue *value, double if_none);
/* Sizes of a LIST into @out; returns how many. */
guint rule_sizes_of (const AdjValue *list, AdjSize *out);
guint rule_wrap_dim (gint64 dim, guint rank);
/* The dimensions in argument @index as bits: of a number or a list; all if it is absent. */
guint32 rule_dims_of (const AdjValue *args, guint n, guint index, guint rank);
/* Whether that argument names dimensions. */
gboolean rule_names_dims (const AdjValue *args, guint n, guint index);
/* Stores @tensor as result; %FALSE for %NULL. */
gboolean rule_give (AdjValue *out, AdjTensor *tensor);

/* -- of composite operators, which a program calls: the context has the error -- */

AdjSymbols *rule_symbols (const AdjRuleCall *call);
/* The shape of a tensor or META; an empty one for anything else. */
const AdjShape *rule_shape_given (AdjRuleCall *call, const AdjValue *value);
/* Entries of a LIST, or a lone number, into @out; returns how many. */
guint rule_sizes_given (AdjRuleCall *call, const AdjValue *value, AdjSize *out);
gint64 rule_int_of (AdjRuleCall *call, const AdjValue *value);
/* @dim made non-negative. */
gint64 rule_wrapped_dim (AdjRuleCall *call, gint64 dim, gint64 rank);
gboolean rule_give_sizes (AdjRuleCall *call, const AdjSize *sizes, guint n, AdjValue *out);

/* -- shapes (shapes.c) -- */

/* view, or clone and _unsafe_view if no strides allow a view; %NULL for %NULL. */
AdjTensor *rule_reshape (AdjRuleCall *call, AdjTensor *tensor, const AdjValue *sizes);
/* The product of the @sizes of dimensions @dims. */
AdjSize rule_reduced_numel (AdjRuleCall *call, const AdjSize *sizes, guint rank, guint32 dims);
/* @tensor with dimensions @dims, of @rank, inserted with size 1. */
AdjTensor *rule_restore_dims (AdjRuleCall *call, AdjTensor *tensor, guint32 dims, guint rank);
/* @tensor, the result of a reduction, with the reduced dimensions inserted; a full reduction
 * broadcasts unchanged. */
AdjTensor *rule_restore_reduced (AdjRuleCall *call,
                                 AdjTensor *tensor,
                                 const AdjValue *args,
                                 guint n,
                                 guint first, /* index of dims; keepdim follows */
                                 guint rank);

/* A float that @target computes from symbolic sizes; identified by @text, sympy's spelling, so that
 * a trace can compute it. */
AdjValue rule_float_of_sizes (
    AdjRuleCall *call, const char *target, const AdjValue *args, guint n, const char *text);

G_END_DECLS
