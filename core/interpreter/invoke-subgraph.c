/* SPDX-License-Identifier: MIT */
/* invoke_subgraph (graph, identifier, operands), or (graph, identifier, operand, …): a function
 * that is traced once for all its calls, which have the same identifier. */

#include "interpreter/higher-private.h"

enum
{
  GRAPH = 0,
  IDENTIFIER = 1,
  OPERANDS = 2,
};

static gboolean
invoke_check (const AdjHigherCall *call)
{
  const AdjValue *identifier = &call->args[IDENTIFIER];

  return identifier->kind == ADJ_VALUE_STRING || identifier->kind == ADJ_VALUE_NONE ||
         adj_higher_fail (call, ADJ_ERROR_SHAPE, "the identifier must be a string or None");
}

static gboolean
invoke_run (AdjHigherCall *call)
{
  const AdjValue *operands = &call->args[OPERANDS];

  return adj_higher_call_body (call, 0, operands->items, operands->n, &call->result);
}

static gboolean
invoke_infer (AdjHigherCall *call, const AdjValue *outs)
{
  call->result = adj_value_copy (&outs[0]);
  return TRUE;
}

const AdjHigherOp adj_higher_invoke_subgraph = {
  .target = "torch.ops.higher_order.invoke_subgraph",
  .help = "a function that is traced once for all its calls",
  .grad = "InvokeSubgraphAutogradOp",
  .n_args = 3,
  .n_bodies = 1,
  .bodies = { GRAPH },
  .body_names = { "the function" },
  .graph_names = { "repeated_subgraph" },
  .n_groups = 1,
  .groups = { OPERANDS },
  .groups_kind = ADJ_VALUE_TUPLE,
  .is_spread = TRUE,
  .identifier = IDENTIFIER,
  .tangents_contiguous = TRUE,
  .gives_outputs = TRUE,
  .check = invoke_check,
  .run = invoke_run,
  .infer = invoke_infer,
};
