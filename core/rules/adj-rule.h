/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-expr.h"
#include "call/adj-schema.h"
#include "rules/adj-apply.h"

G_BEGIN_DECLS

/* Rules of the operator table: parsed and resolved once, evaluated through a context, so that a
 * rule computes under the eager mode and is traced under the tracer. */

typedef enum
{
  ADJ_RULE_GRAD,      /* `.grad`: an entry for each argument that has a gradient */
  ADJ_RULE_DECOMPOSE, /* `.decompose`: one entry */
  ADJ_RULE_INVERSE,   /* `.inverse`: one entry */
  ADJ_RULE_FORWARD,   /* a row of ops/forward.inc: one entry */
  ADJ_N_RULE_KINDS,
} AdjRuleKind;

#define ADJ_RULE_MAX_LOCALS 32 /* bound of the let names in a rule */

typedef struct _AdjRuleTerm AdjRuleTerm;

/* What an entry reads: bit i for argument or result i. */
typedef struct
{
  guint64 args;
  guint64 described_args; /* of these, only the metadata is read */
  guint64 results;
  guint64 described_results;
} AdjRuleUse;

typedef struct
{
  guint
      arg; /* GRAD: the argument whose gradient it is: a tensor, or a list for a list of tensors */
  const AdjRuleTerm *term;
  AdjRuleUse use;
} AdjRuleEntry;

typedef struct
{
  AdjRuleKind kind;
  const AdjSchema *schema; /* of the operator whose record has the rule */
  guint n_entries;
  const AdjRuleEntry *entries;
  guint64 grads;                 /* GRAD: bit i: result i may require a gradient */
  guint n_shared;                /* number of calls of which single results are used */
  const guint8 *by_name;         /* indices of the arguments of @schema, sorted by name */
  const guint8 *results_by_name; /* the same for results; unnamed ones keep their order */
} AdjRule;

/* The rule of @op in @release ("2.15"); for %NULL and other releases the one in its record.  %NULL:
 * no rule.  An in-place variant has the gradient of its record. */
const AdjRule *adj_rule_find (const AdjOp *op, AdjRuleKind kind, const char *release);

/* Bindings of gradient rules: `result`, `g`, `grads`, `output_mask`; FORWARD: only `result`. */
typedef struct
{
  const AdjValue *results;      /* by result; META if only metadata was saved */
  const AdjTensorMeta *outputs; /* (array length=n_grads): metadata of the gradients */
  AdjTensor *const *grads;      /* entries are %NULL when undefined */
  guint n_grads;
  const gboolean *needed; /* by entry */
} AdjRuleGrads;

/* The evaluation of a rule. */
typedef struct
{
  AdjContext *cx;
  const AdjRule *rule;
  const AdjValue *args;      /* by argument; TENSOR, or META if only metadata was saved */
  const AdjRuleGrads *grads; /* (nullable) */
  const AdjValue *bindings;  /* INVERSE: base, mutated, part; FORWARD: tangents by argument: TENSOR,
                                META where there is none */

  /* FORWARD: (nullable): makes zero tangents for operators, borrowed from the scope. */
  AdjTensor *(*zeros) (AdjContext *cx, const AdjTensorMeta *meta);

  AdjArena *arena;  /* (owned): lists */
  AdjValue *shared; /* results of shared calls; NONE until made */
  AdjValue locals[ADJ_RULE_MAX_LOCALS];
} AdjRuleCall;

/* Calls @func for every operator that @rule may call directly, in the order of the text, with
 * repetitions. */
void adj_rule_foreach_op (const AdjRule *rule,
                          void (*func) (const AdjOp *op, gpointer data),
                          gpointer data);

void adj_rule_call_init (AdjRuleCall *call);
void adj_rule_call_clear (AdjRuleCall *call);
/* @out: borrowed from the innermost scope of the context and from @call.  %FALSE: the context is in
 * error. */
gboolean adj_rule_call_eval (AdjRuleCall *call, guint entry, AdjValue *out);
/* Evaluates all needed entries, in the order of their arguments' names, as PyTorch's formulas do.
 * @out: (array length=n_entries): NONE if not needed; borrowed likewise. */
gboolean adj_rule_call_eval_needed (AdjRuleCall *call, AdjValue *out);

/* Whether the release of @cx has FORMULA (…, @name) of ops/releases.inc. */
gboolean adj_rule_has_formula (AdjContext *cx, const char *name);

/* A LIST of sizes in @arena. */
AdjValue adj_rule_list_sizes (AdjArena *arena, const AdjSize *sizes, guint n);

G_END_DECLS
