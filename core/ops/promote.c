/* SPDX-License-Identifier: MIT */
/* Type promotion of the arguments of one call. */

#include <string.h>

#include "ops/kernel-private.h"
#include "tensor/adj-promotion.h"
#include "tensor/adj-symbols-internal.h"

static AdjDTypeCategory
number_category (const AdjOpCall *call, const AdjValue *value)
{
  if (value->kind == ADJ_VALUE_SIZE &&
      adj_symbols_is_float (adj_context_get_symbols (call->cx), value->size))
    return ADJ_CATEGORY_FLOAT;
  if (value->kind == ADJ_VALUE_BOOL)
    return ADJ_CATEGORY_BOOL;
  if (value->kind == ADJ_VALUE_FLOAT)
    return ADJ_CATEGORY_FLOAT;
  return value->kind == ADJ_VALUE_COMPLEX ? ADJ_CATEGORY_COMPLEX : ADJ_CATEGORY_INTEGER;
}

/* Whether a number in @argument takes part in promotion: factors and thresholds do not. */
static gboolean
takes_part (const AdjArgument *argument, const AdjValue *value)
{
  if (argument->type.kind == ADJ_TYPE_KIND_TENSOR)
    return TRUE;
  return argument->type.kind == ADJ_TYPE_KIND_SCALAR && !argument->keyword_only &&
         value->kind != ADJ_VALUE_NONE && strcmp (argument->name, "alpha") != 0 &&
         strcmp (argument->name, "threshold") != 0;
}

static AdjDType
promote_all (const AdjOpCall *call)
{
  AdjPromotion promotion = ADJ_PROMOTION_INIT;
  AdjDType default_dtype = adj_context_get_default_dtype (call->cx);

  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjValue *value = &call->args[i];

      if (value->kind == ADJ_VALUE_TENSOR)
        {
          const AdjTensorMeta *meta = adj_tensor_get_meta (value->tensor);

          adj_promotion_add_tensor (&promotion, meta->dtype, meta->shape.rank);
        }
      else if (value->kind != ADJ_VALUE_NONE && takes_part (&call->schema->arguments[i], value))
        adj_promotion_add_number (&promotion, number_category (call, value), default_dtype);
    }
  return adj_promotion_result (&promotion);
}

static AdjDType
first_dtype (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (call->args[i].kind == ADJ_VALUE_TENSOR)
      return adj_tensor_get_meta (call->args[i].tensor)->dtype;
  return ADJ_DTYPE_NONE;
}

AdjDType
op_promote (const AdjOpCall *call, AdjDType *compute)
{
  AdjPromote promote = call->op->promote;
  gboolean real = promote == ADJ_PROMOTE_REAL || promote == ADJ_PROMOTE_FLOAT_REAL;
  gboolean first = promote == ADJ_PROMOTE_FIRST || real;
  AdjDType dtype = first ? first_dtype (call) : promote_all (call);
  gboolean integral;

  if (dtype >= ADJ_N_DTYPES)
    {
      adj_op_call_fail (call, "the operands have no common dtype");
      return ADJ_DTYPE_NONE;
    }
  integral = adj_dtype_info (dtype)->category <= ADJ_CATEGORY_INTEGER;
  if (promote == ADJ_PROMOTE_FLOAT_ONLY && integral)
    {
      adj_op_call_fail (call, "needs floating point, not %s", adj_dtype_info (dtype)->torch_name);
      return ADJ_DTYPE_NONE;
    }
  if ((promote == ADJ_PROMOTE_FLOAT || promote == ADJ_PROMOTE_FLOAT_REAL) && integral)
    dtype = adj_context_get_default_dtype (call->cx);
  if (promote == ADJ_PROMOTE_BOOL_TO_INT && dtype == ADJ_DTYPE_BOOL)
    dtype = ADJ_DTYPE_I64;
  *compute = dtype;
  if (real)
    return adj_dtype_get_real (dtype);
  return promote == ADJ_PROMOTE_BOOL ? ADJ_DTYPE_BOOL : dtype;
}
