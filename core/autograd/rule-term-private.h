/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/rule-private.h"

G_BEGIN_DECLS

/* A rule expression with its names resolved. */
typedef enum
{
  RULE_CONSTANT,
  RULE_ARG,
  RULE_RESULT,
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
  RULE_N_KINDS,
} RuleKind;

struct _RuleTerm
{
  RuleKind kind;
  guint index; /* of an argument, result, gradient, local; ITEM: which shared call */
  AdjValue value;
  AdjSizeOp binary;
  const AdjOp *op;
  const RuleBuiltin *builtin;
  const AdjExpr *expr; /* as written */
  guint n_args;
  const RuleTerm **args;
  const char **arg_names; /* (nullable) */
};

G_END_DECLS
