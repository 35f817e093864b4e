/* SPDX-License-Identifier: MIT */
/* Elements of a batch: operands that broadcast are brought to one rank behind the batch dimension.
 */

#include <string.h>

#include "autograd/batching-private.h"
#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "tensor/adj-promotion.h"

AdjTensor *
batching_pad (AdjContext *cx, AdjTensor *tensor, guint rank)
{
  return adj_tensor_get_rank (tensor) == rank + 1 ? tensor
                                                  : batching_view_padded (cx, tensor, rank);
}

AdjTensor *
batching_view_padded (AdjContext *cx, AdjTensor *tensor, guint rank)
{
  const AdjShape *shape = &adj_tensor_get_meta (tensor)->shape;
  AdjValue sizes[ADJ_MAX_RANK];
  guint n_more = rank + 1 - shape->rank;

  if (rank >= ADJ_MAX_RANK)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_LIMIT, "a batch has more than %d dimensions",
                        ADJ_MAX_RANK);
      return NULL;
    }
  sizes[0] = adj_value_from_size (shape->size[0]);
  for (guint i = 0; i < n_more; i++)
    sizes[i + 1] = ADJ_INT (1);
  for (guint i = 1; i < shape->rank; i++)
    sizes[i + n_more] = adj_value_from_size (shape->size[i]);
  return ADJ_APPLY (cx, ADJ_OP_view, ADJ_TENSOR (tensor),
                    { .kind = ADJ_VALUE_LIST, .n = rank + 1, .items = sizes });
}

gboolean
batching_as_it_is (Batching *b, AdjValue *out)
{
  const AdjSchema *schema = b->call->schema;
  AdjValue args[ADJ_MAX_ARGUMENTS];

  memcpy (args, b->call->args, schema->n_arguments * sizeof *args);
  args[0].tensor = level_unwrap (b->level, args[0].tensor, &b->dim);
  return adj_call_bound (b->call->cx, b->call->op, args, out);
}

static gboolean
is_number_of_each (const Batching *b, guint arg)
{
  return batching_is_batched (b, arg) && batching_rank (b, arg) == 0;
}

/* Whether @op takes two tensors and no third, and writes none. */
static gboolean
takes_pair (const AdjSchema *schema)
{
  guint n = 0;

  for (guint i = 0; i < schema->n_arguments; i++)
    n += schema->arguments[i].type.kind == ADJ_TYPE_KIND_TENSOR;
  return n == 2 && schema->n_arguments >= 2 && !adj_schema_mutates (schema) &&
         schema->arguments[0].type.kind == ADJ_TYPE_KIND_TENSOR &&
         schema->arguments[1].type.kind == ADJ_TYPE_KIND_TENSOR;
}

/* The dtype that both operands are converted to where one of them is a number for each entry and
 * the other is not: as a vector it would promote otherwise.  ADJ_DTYPE_NONE: of no other call. */
static AdjDType
pair_dtype (const Batching *b)
{
  const AdjOpCall *call = b->call;
  AdjPromotion promotion = ADJ_PROMOTION_INIT;

  if (!takes_pair (call->schema) || is_number_of_each (b, 0) == is_number_of_each (b, 1))
    return ADJ_DTYPE_NONE;
  for (guint i = 0; i < 2; i++)
    {
      const AdjValue *value = &call->args[i];

      if (value->kind == ADJ_VALUE_TENSOR)
        adj_promotion_add_tensor (&promotion, adj_tensor_get_meta (value->tensor)->dtype,
                                  batching_rank (b, i));
      else if (adj_op_number_dtype (value) != ADJ_DTYPE_NONE)
        adj_promotion_add_number (&promotion,
                                  adj_dtype_info (adj_op_number_dtype (value))->category,
                                  adj_context_get_default_dtype (call->cx));
      else
        return ADJ_DTYPE_NONE;
    }
  return adj_promotion_result (&promotion);
}

/* @value, a tensor or a number, as a tensor of @dtype where it is of another. */
static gboolean
convert (AdjContext *cx, AdjDType dtype, AdjValue *value)
{
  AdjDType own = value->kind == ADJ_VALUE_TENSOR ? adj_tensor_get_meta (value->tensor)->dtype
                                                 : adj_op_number_dtype (value);

  return own == dtype ||
         adj_call_bound (cx, adj_op (ADJ_OP__to_copy),
                         (const AdjValue[]){ *value,
                                             { .kind = ADJ_VALUE_DTYPE, .dtype = dtype },
                                             ADJ_NONE,
                                             ADJ_NONE,
                                             ADJ_NONE,
                                             ADJ_BOOL (FALSE),
                                             ADJ_NONE },
                         value);
}

/* Calls the operator on operands that are brought to one rank, of which the first two are
 * converted to @dtype, if it is one. */
static gboolean
call_on_elements (Batching *b, AdjDType dtype, AdjValue *out)
{
  const AdjSchema *schema = b->call->schema;
  AdjValue args[ADJ_MAX_ARGUMENTS];
  guint rank = 0;

  for (guint i = 0; i < schema->n_arguments; i++)
    if (b->call->args[i].kind == ADJ_VALUE_TENSOR)
      rank = MAX (rank, batching_rank (b, i));
  for (guint i = 0; i < schema->n_arguments; i++)
    {
      gboolean batched = batching_is_batched (b, i);

      args[i] = b->call->args[i];
      if (batched)
        args[i].tensor = batching_front (b, i);
      if (batched && args[i].tensor == NULL)
        return FALSE;
      if (dtype != ADJ_DTYPE_NONE && i < 2 && !convert (b->call->cx, dtype, &args[i]))
        return FALSE;
    }
  for (guint i = 0; i < schema->n_arguments; i++)
    {
      if (!batching_is_batched (b, i))
        continue;
      args[i].tensor = batching_pad (b->call->cx, args[i].tensor, rank);
      if (args[i].tensor == NULL)
        return FALSE;
    }
  return adj_call_bound (b->call->cx, b->call->op, args, out);
}

gboolean
batching_elements (Batching *b, AdjValue *out)
{
  const AdjSchema *schema = b->call->schema;
  guint n_tensors = 0;

  for (guint i = 0; i < schema->n_arguments; i++)
    n_tensors += b->call->args[i].kind == ADJ_VALUE_TENSOR;
  if (n_tensors == 1 && batching_is_batched (b, 0))
    return batching_as_it_is (b, out);
  if (schema->arguments[0].type.written && !batching_is_batched (b, 0))
    return adj_op_call_fail (b->call, "writes a batch into a tensor that has none");
  return call_on_elements (b, ADJ_DTYPE_NONE, out);
}

gboolean
batching_pointwise (Batching *b, AdjValue *out)
{
  AdjDType dtype = pair_dtype (b);

  return dtype == ADJ_DTYPE_NONE ? batching_elements (b, out) : call_on_elements (b, dtype, out);
}
