/* SPDX-License-Identifier: MIT */

/* Operators for contexts: lookup by name, and decomposition of composites and of list operators
 * with overlapping tensors. */

#include "rules/adj-operators.h"

#include "call/adj-context-internal.h"
#include "call/adj-mode.h"
#include "ops/adj-ops.h"
#include "rules/rule-private.h"

static const AdjOperators operators = {
  .find = adj_op_find,
  .decompose = rule_decompose,
  .has_coupled_elements = adj_op_call_has_coupled_elements,
  .call_in_turn = adj_op_call_in_turn,
};

AdjContext *
adj_context_new_empty (AdjSymbols *symbols)
{
  return adj_context_new_of (&operators, symbols);
}

AdjContext *
adj_context_new (void)
{
  AdjContext *cx = adj_context_new_empty (NULL);

  adj_context_push_mode (cx, adj_eager_mode_new ());
  return cx;
}
