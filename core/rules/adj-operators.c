/* SPDX-License-Identifier: MIT */

/* The operators as contexts call them: found by name, the composite ones and those over lists that
 * overlap taken apart. */

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
