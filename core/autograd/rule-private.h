/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-expr.h"
#include "call/adj-context.h"
#include "ops/adj-ops.h"

G_BEGIN_DECLS

/* Gradient rules of the operator table: parsed and resolved once, evaluated through a context, so
 * that one rule computes under the eager mode and is traced under the tracer. */

typedef struct _RuleTerm RuleTerm;
typedef struct _RuleCall RuleCall;

/* @out is borrowed from the scope of the context and the arena of @call. */
typedef gboolean (*RuleFunc) (RuleCall *call, const AdjValue *args, guint n, AdjValue *out);

typedef struct
{
  const char *name;
  RuleFunc func;
} RuleBuiltin;

const RuleBuiltin *rule_builtin_find (const char *name);
/* Bits of the arguments of which it reads only the metadata. */
guint32 rule_builtin_describes (const RuleBuiltin *builtin);

/* What an entry reads: bit i for argument or result i. */
typedef struct
{
  guint64 args;
  guint64 described_args; /* of these only the metadata */
  guint64 results;
  guint64 described_results;
} RuleUse;

/* The gradient of one argument: a tensor, or a list for a list of tensors. */
typedef struct
{
  guint arg;
  const RuleTerm *term;
  RuleUse use;
} RuleEntry;

typedef struct
{
  const AdjSchema *schema; /* of the record that the rule stands in */
  guint n_entries;
  RuleEntry *entries;
  guint64 grads;  /* bit i: the gradient of result i counts, so result i requires one */
  guint n_shared; /* calls whose results are picked apart */
} GradRule;

/* %NULL when the operator has no gradient.  An in-place twin has the rule of its record. */
const GradRule *grad_rule_find (const AdjOp *op);

struct _RuleCall
{
  AdjContext *cx;
  const GradRule *rule;
  const AdjValue *args;         /* by argument; TENSOR, or META where only that was kept */
  const AdjValue *results;      /* by result */
  const AdjTensorMeta *outputs; /* (array length=n_grads): what the gradients look like */
  AdjTensor *const *grads;      /* entries are %NULL when undefined */
  guint n_grads;
  const gboolean *needed; /* by entry */

  AdjArena *arena;  /* (owned): lists */
  AdjValue *shared; /* results of shared calls; NONE until made */
  AdjValue locals[8];
};

void rule_call_init (RuleCall *call);
void rule_call_clear (RuleCall *call);
gboolean rule_eval (RuleCall *call, const RuleTerm *term, AdjValue *out);

/* Calls an operator with positional arguments; %NULL when that fails or gives no tensor. */
AdjTensor *rule_apply (AdjContext *cx, AdjOpId op, const AdjValue *args, guint n);
#define RULE_APPLY(cx, op, ...)                                                                    \
  rule_apply ((cx), (op), (const AdjValue[]){ __VA_ARGS__ },                                       \
              G_N_ELEMENTS (((const AdjValue[]){ __VA_ARGS__ })))

AdjTensor *rule_clone_contiguous (AdjContext *cx, AdjTensor *tensor);

/* The gradient of result @index: zeros when it is undefined. */
AdjTensor *rule_call_get_grad (RuleCall *call, guint index);
/* A LIST of sizes in the arena of @call. */
AdjValue rule_call_list_sizes (RuleCall *call, const AdjSize *sizes, guint n);

G_END_DECLS
