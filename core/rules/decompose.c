/* SPDX-License-Identifier: MIT */
/* Composite operators are decomposed when called, so that no mode sees them. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "rules/rule-private.h"

/* Fails for a number in place of a tensor, which only the right operand of arithmetic may be. */
static gboolean
check_tensors (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjArgument *argument = &call->schema->arguments[i];

      if (argument->type.kind == ADJ_TYPE_KIND_TENSOR && !argument->type.is_list &&
          call->args[i].kind != ADJ_VALUE_TENSOR && call->args[i].kind != ADJ_VALUE_NONE &&
          strcmp (argument->name, "other") != 0)
        return adj_op_call_fail (call, "argument '%s' must be a tensor, not %s", argument->name,
                                 adj_value_kind_name (call->args[i].kind));
    }
  return TRUE;
}

gboolean
rule_decompose (AdjOpCall *call, AdjValue *result)
{
  AdjRuleCall rule = {
    .cx = call->cx,
    .rule = adj_rule_find (call->op, ADJ_RULE_DECOMPOSE, adj_context_get_release (call->cx)),
    .args = call->args,
  };
  AdjValue value;
  gboolean done;

  if (rule.rule == NULL)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "has no decomposition");
  if (!check_tensors (call))
    return FALSE;

  adj_rule_call_init (&rule);
  done = adj_rule_call_eval (&rule, 0, &value) && !adj_context_has_error (call->cx);
  *result = done ? adj_value_copy (&value) : ADJ_NONE;
  adj_rule_call_clear (&rule);
  return done;
}
