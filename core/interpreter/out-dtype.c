/* SPDX-License-Identifier: MIT */
/* out_dtype (operator, dtype, *args): calls the operator in the promoted dtype of its arguments and
 * dtype, and casts the result to dtype. */

#include "call/adj-op.h"
#include "interpreter/builtins-private.h"
#include "interpreter/higher-private.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "rules/adj-apply.h"

enum
{
  OPERATOR = 0,
  DTYPE = 1,
  ARGS = 2,
};

static const AdjOp *
find_op (const AdjHigherCall *call)
{
  const AdjValue *named = &call->args[OPERATOR];

  return named->kind == ADJ_VALUE_OP ? adj_builtin_find_op (call->cx, named->text) : NULL;
}

static gboolean
out_dtype_check (const AdjHigherCall *call)
{
  const AdjOp *op = find_op (call);
  const AdjSchema *schema;

  if (op == NULL)
    return adj_higher_fail (call, ADJ_ERROR_UNSUPPORTED, "Adjoint has no operator '%s'",
                            call->args[OPERATOR].kind == ADJ_VALUE_OP ? call->args[OPERATOR].text
                                                                      : "");
  if (call->args[DTYPE].kind != ADJ_VALUE_DTYPE)
    return adj_higher_fail (call, ADJ_ERROR_SHAPE, "the second argument must be a dtype");
  schema = adj_op_get_schema (op);
  if (adj_schema_mutates (schema) || schema->n_returns != 1 || schema->returns[0].type.is_list)
    return adj_higher_fail (call, ADJ_ERROR_SHAPE, "%s must give one tensor and write none",
                            schema->target);
  return TRUE;
}

static gboolean
promote_leaf (const AdjValue *leaf, gpointer data)
{
  AdjDType *dtype = data;

  if (leaf->kind == ADJ_VALUE_TENSOR)
    *dtype = adj_dtype_promote (*dtype, adj_tensor_get_meta (leaf->tensor)->dtype);
  return TRUE;
}

static AdjTensor *
cast (AdjContext *cx, AdjTensor *tensor, AdjDType dtype)
{
  return adj_tensor_get_meta (tensor)->dtype == dtype
             ? tensor
             : ADJ_APPLY (cx, ADJ_OP_to_dtype, ADJ_TENSOR (tensor), ADJ_DTYPE (dtype));
}

static gboolean
call_cast (AdjHigherCall *call)
{
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjDType dtype = call->args[DTYPE].dtype;
  guint n = call->n_args - ARGS;
  AdjTensor *tensor;
  AdjValue result;

  if (n > ADJ_MAX_ARGUMENTS)
    return adj_higher_fail (call, ADJ_ERROR_LIMIT, "%u arguments are too many", n);
  for (guint i = 0; i < n; i++)
    adj_value_foreach (&call->args[ARGS + i], promote_leaf, &dtype);
  for (guint i = 0; i < n; i++)
    {
      args[i] = call->args[ARGS + i];
      if (args[i].kind != ADJ_VALUE_TENSOR)
        continue;
      args[i].tensor = cast (call->cx, args[i].tensor, dtype);
      if (args[i].tensor == NULL)
        return FALSE;
    }
  if (!adj_call (call->cx, find_op (call),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n, .items = args }, NULL, &result))
    return FALSE;
  tensor = cast (call->cx, result.tensor, call->args[DTYPE].dtype);
  if (tensor != NULL)
    call->result = ADJ_TENSOR (adj_tensor_ref (tensor));
  return tensor != NULL;
}

static gboolean
out_dtype_run (AdjHigherCall *call)
{
  gboolean done;

  adj_scope_begin (call->cx);
  done = call_cast (call);
  adj_scope_end (call->cx);
  return done;
}

static gboolean
out_dtype_infer (AdjHigherCall *call, const AdjValue *outs)
{
  return out_dtype_run (call);
}

const AdjHigherOp adj_higher_out_dtype = {
  .target = "torch.ops.higher_order.out_dtype",
  .help = "an operator whose result has another dtype",
  .n_args = 2,
  .check = out_dtype_check,
  .run = out_dtype_run,
  .infer = out_dtype_infer,
};
