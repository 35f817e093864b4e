/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/steps-private.h"

G_BEGIN_DECLS

/* Steps of gradients of linear algebra. */

#define BUILTIN(word, help)                                                                        \
  gboolean rule_##word (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out);
#include "ops/linalg-builtins.inc"
#undef BUILTIN

/* The X with A X = B, or X A = B when not @left; A has ones on its diagonal when @unit. */
AdjTensor *rule_solve_triangular (
    AdjRuleCall *call, AdjTensor *a, AdjTensor *b, gboolean upper, gboolean left, gboolean unit);
AdjTensor *rule_lu_solve (AdjRuleCall *call,
                          const AdjValue *lu,
                          const AdjValue *pivots,
                          AdjTensor *b,
                          gboolean left,
                          gboolean adjoint);

/* The results of a call that returns several, by index. */
gboolean
rule_call_several (AdjRuleCall *call, AdjOpId op, const AdjValue *args, guint n, AdjValue *out);
/* Stores both as a list; %FALSE if one is %NULL. */
gboolean rule_give_both (AdjRuleCall *call, AdjTensor *a, AdjTensor *b, AdjValue *out);

G_END_DECLS
