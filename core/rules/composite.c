/* SPDX-License-Identifier: MIT */
/* The table of builtins of composite operators; documented in ops/composite-builtins.inc. */

#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/composite-private.h"

/* -- tensors -- */

gboolean
rule_after (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = args[0];
  return TRUE;
}

gboolean
rule_raised (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean recorded = adj_context_get_grad_enabled (call->cx);
  AdjValue pair[] = { args[0], args[1] };
  gboolean done;

  adj_context_set_grad_enabled (call->cx, FALSE);
  done = adj_call (call->cx,
                   adj_op_find (args[1].kind == ADJ_VALUE_TENSOR
                                    ? "torch.ops.aten.clamp_min_.Tensor"
                                    : "torch.ops.aten.clamp_min_.default"),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = pair }, NULL, out);
  adj_context_set_grad_enabled (call->cx, recorded);
  return done;
}

gboolean
rule_spread (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = rule_shape_given (call, &args[0]);
  AdjShape wanted;

  wanted.rank = rule_sizes_given (call, &args[1], wanted.size);
  *out = args[0];
  if (adj_shape_same_sizes (shape, &wanted, rule_symbols (call)))
    return TRUE;
  *out = ADJ_TENSOR (ADJ_APPLY (call->cx, ADJ_OP_expand, args[0], args[1]));
  return out->tensor != NULL;
}

/* -- the table -- */

static const RuleBuiltin rows[] = {
#define BUILTIN(word, help) { #word, rule_##word },
#include "ops/composite-builtins.inc"
#undef BUILTIN
};

const RuleBuiltinTable rule_composite_builtins = { rows, G_N_ELEMENTS (rows) };

guint32
rule_composite_builtin_describes (const RuleBuiltin *builtin)
{
  return builtin->func == rule_rank ? 1 << 0 : 0;
}
