/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/adj-ops.h"
#include "rules/adj-rule.h"

G_BEGIN_DECLS

/* @out is borrowed from the scope of the context and the arena of @call. */
typedef gboolean (*RuleBuiltinFunc) (AdjRuleCall *call,
                                     const AdjValue *args,
                                     guint n,
                                     AdjValue *out);

typedef struct
{
  const char *name;
  RuleBuiltinFunc func;
} RuleBuiltin;

typedef struct
{
  const RuleBuiltin *rows;
  guint n;
} RuleBuiltinTable;

/* Those that gradients of reductions need (reductions.c), those that only other gradients do
 * (gradients.c), and those of composite operators (composite.c). */
extern const RuleBuiltinTable rule_reduction_builtins;
extern const RuleBuiltinTable rule_gradient_builtins;
extern const RuleBuiltinTable rule_composite_builtins;
extern const RuleBuiltinTable rule_linalg_builtins; /* linalg.c */

/* (nullable): in any of the tables. */
const RuleBuiltin *rule_builtin_find (const char *name);

/* Whether autograd records what happens to @tensor and nobody traces it. */
gboolean rule_records_eagerly (AdjContext *cx, const AdjTensor *tensor);
/* What @op, ones or zeros, makes of @sizes, as PyTorch's formulas have it: of the dtype and on the
 * device of @like. */
AdjTensor *rule_new (AdjRuleCall *call, AdjOpId op, AdjTensor *like, AdjValue sizes);
/* 1, x₀, x₀x₁, …: the products of what stands before each element along @dim. */
AdjTensor *rule_exclusive_product (AdjRuleCall *call, AdjTensor *x, guint dim);
/* Bits of the arguments of which it reads only the metadata. */
guint32 rule_builtin_describes (const RuleBuiltin *builtin);
guint32 rule_gradient_builtin_describes (const RuleBuiltin *builtin);
guint32 rule_linalg_builtin_describes (const RuleBuiltin *builtin);
guint32 rule_composite_builtin_describes (const RuleBuiltin *builtin);

/* A rule expression with its names resolved. */
typedef enum
{
  RULE_CONSTANT,
  RULE_ARG,
  RULE_RESULT,
  RULE_BINDING,
  RULE_GRAD,
  RULE_GRADS,
  RULE_OUTPUT_MASK,
  RULE_LOCAL,
  RULE_OP,
  RULE_BUILTIN,
  RULE_LIST,
  RULE_NEGATE,
  RULE_NOT,
  RULE_AND,
  RULE_OR,
  RULE_BINARY,
  RULE_DIVIDE,
  RULE_CHOICE,
  RULE_ITEM,
  RULE_LET,
  RULE_EACH,
  RULE_N_KINDS,
} RuleTermKind;

struct _AdjRuleTerm
{
  RuleTermKind kind;
  guint index; /* of an argument, result, binding, gradient, local; ITEM: which shared call; EACH:
                  which entry of @each */
  AdjValue value;
  AdjSizeOp binary;
  const AdjOp *op;
  const RuleBuiltin *builtin;
  const AdjExpr *expr; /* as written */
  const AdjRule *each; /* EACH: of the operator that is applied to each element */
  guint n_args;
  const AdjRuleTerm **args;
  const char **arg_names; /* (nullable) */
};

/* (nullable): @text, a rule of @op, in @arena; %NULL with ADJ_ERROR_PARSE (lower.c). */
AdjRule *
rule_lower (AdjArena *arena, const AdjOp *op, AdjRuleKind kind, const char *text, GError **error);
/* The indices of @arguments by their names, in @arena; those without a name stay in order. */
const guint8 *rule_sort_by_name (AdjArena *arena, const AdjArgument *arguments, guint n);

/* Evaluates the `.decompose` rule of @call's operator (decompose.c); @result (out) (transfer full).
 */
gboolean rule_decompose (AdjOpCall *call, AdjValue *result);

/* Whether an entry of a gradient rule says that there is no gradient. */
gboolean rule_refuses (const AdjRule *rule);
/* What @op makes of @args, of which tangents that are zeros are META: %TRUE where PyTorch knows
 * without computing it (@out), or with the context in error; else they become tensors and %FALSE is
 * returned (zeros.c). */
gboolean
rule_apply_to_zeros (AdjRuleCall *call, const AdjOp *op, AdjValue *args, guint n, AdjValue *out);

/* "gradient", "decomposition", "inverse", "tangent". */
const char *rule_kind_noun (AdjRuleKind kind);
/* Sets the context's error: "the gradient of aten::mul.Tensor …"; returns %FALSE. */
gboolean rule_call_fail (AdjRuleCall *call, AdjError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

G_END_DECLS
