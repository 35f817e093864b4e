/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/adj-op-id.h"
#include "rules/rule-arguments-private.h"

G_BEGIN_DECLS

/* Steps of gradients that are algorithms (steps.c). */

/* (nullable) */
AdjTensor *rule_tensor_of (const AdjValue *value);
const AdjShape *rule_shape_of (const AdjTensor *x);
/* Size of dimension @dim of @x, from the end; 1 if it has fewer dimensions. */
AdjSize rule_size_of (const AdjTensor *x, gint dim);
gboolean rule_is_larger (AdjRuleCall *call, AdjSize a, AdjSize b);
/* NONE for %NULL. */
AdjValue rule_value_of (AdjTensor *tensor);
AdjValue rule_list_of_sizes (AdjRuleCall *call, const AdjShape *shape);
/* Stores a list, with NONE for %NULL; %FALSE if the context is in error. */
gboolean rule_give_list (AdjRuleCall *call, AdjTensor *const *tensors, guint n, AdjValue *out);

/* -- steps: each gives %NULL for %NULL, and when it fails -- */

/* Calls an operator on one or two tensors, or a tensor and a number. */
AdjTensor *rule_apply_one (AdjRuleCall *call, AdjOpId op, AdjTensor *x);
AdjTensor *rule_apply_two (AdjRuleCall *call, AdjOpId op, AdjTensor *x, AdjTensor *y);
AdjTensor *rule_apply_int (AdjRuleCall *call, AdjOpId op, AdjTensor *x, gint64 number);
AdjTensor *rule_matmul (AdjRuleCall *call, AdjTensor *x, AdjTensor *y);
AdjTensor *rule_times (AdjRuleCall *call, AdjTensor *x, AdjTensor *y);
AdjTensor *rule_add (AdjRuleCall *call, AdjTensor *x, AdjTensor *y);
AdjTensor *rule_sub (AdjRuleCall *call, AdjTensor *x, AdjTensor *y);
/* x + y, or the one that is not %NULL. */
AdjTensor *rule_sum_given (AdjRuleCall *call, AdjTensor *x, AdjTensor *y);
AdjTensor *rule_shaped (AdjRuleCall *call, AdjTensor *x, const AdjValue *sizes);
AdjTensor *rule_neg (AdjRuleCall *call, AdjTensor *x);
AdjTensor *rule_mH (AdjRuleCall *call, AdjTensor *x);
/* The lower or upper triangle, without the diagonal when @without. */
AdjTensor *rule_triangle (AdjRuleCall *call, AdjTensor *x, gboolean upper, gboolean without);
AdjTensor *rule_unsqueeze (AdjRuleCall *call, AdjTensor *x, gint64 dim);
AdjTensor *rule_scaled (AdjRuleCall *call, AdjTensor *x, double factor);
AdjTensor *rule_diagonal (AdjRuleCall *call, AdjTensor *x);
AdjTensor *rule_put_diagonal (AdjRuleCall *call, AdjTensor *x, AdjTensor *on);
AdjTensor *rule_slice (AdjRuleCall *call, AdjTensor *x, gint dim, AdjSize start, AdjSize end);
AdjTensor *rule_join (AdjRuleCall *call, AdjTensor *a, AdjTensor *b, gint dim);

G_END_DECLS
