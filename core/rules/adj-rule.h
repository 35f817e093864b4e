/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-expr.h"
#include "call/adj-schema.h"
#include "rules/adj-apply.h"

G_BEGIN_DECLS

/* Rules of the operator table: parsed and resolved once, evaluated through a context, so that one
 * rule computes under the eager mode and is traced under the tracer. */

typedef enum
{
  ADJ_RULE_GRAD,      /* `.grad`: an entry for each argument that has a gradient */
  ADJ_RULE_DECOMPOSE, /* `.decompose`: one entry */
  ADJ_RULE_INVERSE,   /* `.inverse`: one entry */
  ADJ_RULE_FORWARD,   /* a row of ops/forward.inc: one entry */
  ADJ_N_RULE_KINDS,
} AdjRuleKind;

#define ADJ_RULE_MAX_LOCALS 32 /* names that one rule may give by let */

typedef struct _AdjRuleTerm AdjRuleTerm;

/* What an entry reads: bit i for argument or result i. */
typedef struct
{
  guint64 args;
  guint64 described_args; /* of these only the metadata */
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
  const AdjSchema *schema; /* of the record that the rule stands in */
  guint n_entries;
  const AdjRuleEntry *entries;
  guint64 grads;  /* GRAD: bit i: the gradient of result i counts, so result i requires one */
  guint n_shared; /* calls of which single results are used */
  const guint8 *by_name;         /* the arguments of @schema in the order of their names */
  const guint8 *results_by_name; /* likewise its results; those without one as they are */
} AdjRule;

/* That which @op has in @release ("2.15"); %NULL and others: that of its record.  %NULL when the
 * operator has none.  An in-place variant has the gradient of its record. */
const AdjRule *adj_rule_find (const AdjOp *op, AdjRuleKind kind, const char *release);

/* What gradient rules see, `result`, `g`, `grads`, `output_mask`; FORWARD: `result` alone. */
typedef struct
{
  const AdjValue *results;      /* by result; META where only that was kept */
  const AdjTensorMeta *outputs; /* (array length=n_grads): what the gradients look like */
  AdjTensor *const *grads;      /* entries are %NULL when undefined */
  guint n_grads;
  const gboolean *needed; /* by entry */
} AdjRuleGrads;

/* A rule being evaluated: the values of its names. */
typedef struct
{
  AdjContext *cx;
  const AdjRule *rule;
  const AdjValue *args;      /* by argument; TENSOR, or META where only that was kept */
  const AdjRuleGrads *grads; /* (nullable) */
  const AdjValue *bindings;  /* INVERSE: base, mutated, part; FORWARD: tangents by argument: TENSOR,
                                META where there is none */

  AdjTensor *(*zeros) (AdjContext *cx, const AdjTensorMeta *meta); /* FORWARD: (nullable): what
                          operators get for tangents that are zeros, borrowed from the scope */

  AdjArena *arena;  /* (owned): lists */
  AdjValue *shared; /* results of shared calls; NONE until made */
  AdjValue locals[ADJ_RULE_MAX_LOCALS];
} AdjRuleCall;

/* Calls @func for every operator that @rule may call by itself, in the order of its text; one that
 * stands there twice comes twice. */
void adj_rule_foreach_op (const AdjRule *rule,
                          void (*func) (const AdjOp *op, gpointer data),
                          gpointer data);

void adj_rule_call_init (AdjRuleCall *call);
void adj_rule_call_clear (AdjRuleCall *call);
/* @out: borrowed from the innermost scope of the context and from @call.  %FALSE: the context is in
 * error. */
gboolean adj_rule_call_eval (AdjRuleCall *call, guint entry, AdjValue *out);
/* All entries that are needed, in the order of their arguments' names, as PyTorch's formulas go.
 * @out: (array length=n_entries): NONE where it is not needed; borrowed likewise. */
gboolean adj_rule_call_eval_needed (AdjRuleCall *call, AdjValue *out);

/* A LIST of sizes in @arena. */
AdjValue adj_rule_list_sizes (AdjArena *arena, const AdjSize *sizes, guint n);

G_END_DECLS
