/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/adj-op-id.h"
#include "rules/rule-arguments-private.h"

G_BEGIN_DECLS

/* What gradients of linear algebra are made of. */

#define BUILTIN(word, help)                                                                        \
  gboolean rule_##word (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out);
#include "ops/linalg-builtins.inc"
#undef BUILTIN

/* (nullable) */
AdjTensor *rule_tensor_of (const AdjValue *value);
/* %FALSE for what is no bool or number. */
gboolean rule_truth_of (const AdjValue *value);
/* Of @x, or 1 where it has fewer dimensions; @dim counts from the end. */
AdjSize rule_size_of (const AdjTensor *x, gint dim);
gboolean rule_is_larger (AdjRuleCall *call, AdjSize a, AdjSize b);

/* -- steps: each gives %NULL for %NULL, and when it fails -- */

/* An operator of one or two tensors, or a tensor and a number. */
AdjTensor *rule_apply_one (AdjRuleCall *call, AdjOpId op, AdjTensor *x);
AdjTensor *rule_apply_two (AdjRuleCall *call, AdjOpId op, AdjTensor *x, AdjTensor *y);
AdjTensor *rule_apply_int (AdjRuleCall *call, AdjOpId op, AdjTensor *x, gint64 number);
AdjTensor *rule_matmul (AdjRuleCall *call, AdjTensor *x, AdjTensor *y);
AdjTensor *rule_times (AdjRuleCall *call, AdjTensor *x, AdjTensor *y);
AdjTensor *rule_add (AdjRuleCall *call, AdjTensor *x, AdjTensor *y);
AdjTensor *rule_sub (AdjRuleCall *call, AdjTensor *x, AdjTensor *y);
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
/* The X with A X = B, or X A = B when not @left; A has ones on its diagonal when @unit. */
AdjTensor *rule_solve_triangular (
    AdjRuleCall *call, AdjTensor *a, AdjTensor *b, gboolean upper, gboolean left, gboolean unit);
AdjTensor *rule_lu_solve (AdjRuleCall *call,
                          const AdjValue *lu,
                          const AdjValue *pivots,
                          AdjTensor *b,
                          gboolean left,
                          gboolean adjoint);

/* Results of a call that gives several, by number. */
gboolean
rule_call_several (AdjRuleCall *call, AdjOpId op, const AdjValue *args, guint n, AdjValue *out);
/* A list; %FALSE where one is missing. */
gboolean rule_give_both (AdjRuleCall *call, AdjTensor *a, AdjTensor *b, AdjValue *out);

G_END_DECLS
