/* SPDX-License-Identifier: MIT */
/* Calls of the wrappers: defaults, the check of arguments, and the results. */

#include "call/adj-mode.h"
#include "ops/adj-op-table.h"
#include "wrappers/wrappers-private.h"

AdjValue
adj_wrapper_default (guint op, guint argument)
{
  const AdjArgument *found = &adj_op_get_schema (adj_ops_get (op))->arguments[argument];

  return found->has_default ? found->default_value : ADJ_NONE;
}

/* %NULL for a required tensor is an error of its own, unless the context already has one. */
static gboolean
call (AdjContext *cx, guint index, const AdjValue *args, AdjValue *result)
{
  const AdjOp *op = adj_ops_get (index);
  const AdjSchema *schema = adj_op_get_schema (op);

  *result = ADJ_NONE;
  if (adj_context_has_error (cx))
    return FALSE;
  for (guint i = 0; i < schema->n_arguments; i++)
    if (!adj_type_accepts (&schema->arguments[i].type, &args[i]))
      {
        adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s: argument '%s' must not be %s",
                          schema->target, schema->arguments[i].name,
                          args[i].kind == ADJ_VALUE_NONE ? "NULL"
                                                         : adj_value_kind_name (args[i].kind));
        return FALSE;
      }
  return adj_call_bound (cx, op, args, result);
}

AdjTensor *
adj_wrapper_call_one (AdjContext *cx, guint op, const AdjValue *args)
{
  AdjValue result;

  return call (cx, op, args, &result) && result.kind == ADJ_VALUE_TENSOR ? result.tensor : NULL;
}

AdjTensor *const *
adj_wrapper_call_list (AdjContext *cx, guint op, const AdjValue *args, guint *n_results)
{
  AdjTensor **tensors;
  AdjValue result;

  *n_results = 0;
  if (!call (cx, op, args, &result) || !adj_value_is_container (&result))
    return NULL;
  tensors = adj_scope_alloc (cx, MAX (result.n, 1) * sizeof *tensors);
  for (guint i = 0; i < result.n; i++)
    tensors[i] = result.items[i].kind == ADJ_VALUE_TENSOR ? result.items[i].tensor : NULL;
  *n_results = result.n;
  return tensors;
}

gboolean
adj_wrapper_call_several (AdjContext *cx,
                          guint op,
                          const AdjValue *args,
                          AdjTensor **const *results)
{
  guint n = adj_op_get_schema (adj_ops_get (op))->n_returns;
  AdjValue result;
  gboolean done = call (cx, op, args, &result);

  for (guint i = 0; i < n; i++)
    if (results[i] != NULL)
      *results[i] = done && i < result.n && result.items[i].kind == ADJ_VALUE_TENSOR
                        ? result.items[i].tensor
                        : NULL;
  return done;
}
