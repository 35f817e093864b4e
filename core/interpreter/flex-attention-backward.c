/* SPDX-License-Identifier: MIT */
/* flex_attention_backward (query, key, value, out, logsumexp, grad_out, grad_logsumexp, score_mod,
 * joint of score_mod, block_mask, scale, options, score_buffers, mask_buffers): gradients of query,
 * key, value and the score's buffers. */

#include <math.h>

#include "interpreter/adj-interpreter.h"
#include "interpreter/builtins-private.h"
#include "interpreter/flex-attention-private.h"
#include "ir/adj-value-internal.h"

typedef struct
{
  AdjTensor *out, *logsumexp;
  AdjTensor *grad_out, *grad_logsumexp; /* (nullable) */
  AdjFunction *joint;                   /* (owned) */
} Given;

static AdjTensor *
scale_by (AdjContext *cx, AdjTensor *tensor, double factor)
{
  return ADJ_APPLY (cx, ADJ_OP_mul_Scalar, ADJ_TENSOR (tensor), ADJ_FLOAT (factor));
}

/* e^(changed − logsumexp); 0 for a row that is fully masked. */
static AdjTensor *
weigh_again (const Flex *flex, AdjTensor *logsumexp)
{
  AdjContext *cx = flex->cx;
  AdjTensor *row = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (logsumexp), ADJ_INT (-1));
  AdjTensor *empty = ADJ_APPLY (cx, ADJ_OP_eq_Scalar, ADJ_TENSOR (row), ADJ_FLOAT (-INFINITY));
  AdjTensor *apart =
      ADJ_APPLY (cx, ADJ_OP_sub_Tensor, ADJ_TENSOR (flex->changed), ADJ_TENSOR (row));

  return ADJ_APPLY (cx, ADJ_OP_masked_fill_Scalar,
                    ADJ_TENSOR (ADJ_APPLY (cx, ADJ_OP_exp, ADJ_TENSOR (apart))), ADJ_TENSOR (empty),
                    ADJ_INT (0));
}

/* The gradient of the changed scores, through softmax. */
static AdjTensor *
differentiate_softmax (const Flex *flex, const Given *given, AdjTensor *weights)
{
  AdjContext *cx = flex->cx;
  AdjTensor *grad_out = flex_convert (cx, given->grad_out, flex->wide);
  AdjTensor *out = flex_convert (cx, given->out, flex->wide);
  AdjTensor *grad =
      flex_multiply (cx, grad_out, TRANSPOSED (flex_convert (cx, flex->value, flex->wide)));
  AdjTensor *sums = ADJ_APPLY (
      cx, ADJ_OP_sum_dim_IntList,
      ADJ_TENSOR (ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (out), ADJ_TENSOR (grad_out))),
      (AdjValue){ .kind = ADJ_VALUE_LIST, .n = 1, .items = &ADJ_INT (-1) }, ADJ_BOOL (TRUE));

  grad = ADJ_APPLY (cx, ADJ_OP_sub_Tensor, ADJ_TENSOR (grad), ADJ_TENSOR (sums));
  if (given->grad_logsumexp != NULL)
    {
      AdjTensor *row =
          ADJ_APPLY (cx, ADJ_OP_unsqueeze,
                     ADJ_TENSOR (flex_divide_by_ln2 (cx, given->grad_logsumexp)), ADJ_INT (-1));

      grad = ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (grad), ADJ_TENSOR (row));
    }
  return ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (weights), ADJ_TENSOR (grad));
}

/* Sums a gradient of key or value over the query heads and batches that share it. */
static AdjTensor *
gather (const Flex *flex, AdjTensor *grad, const AdjTensor *of)
{
  AdjContext *cx = flex->cx;
  AdjValue head = ADJ_INT (2), batch = ADJ_INT (0);
  AdjValue sizes[5];
  const AdjShape *shape;

  if (grad == NULL)
    return NULL;
  shape = flex_shape_of (grad);
  sizes[0] = adj_value_from_size (shape->size[0]);
  sizes[1] = ADJ_INT (-1);
  sizes[2] = ADJ_INT (flex->copies);
  sizes[3] = adj_value_from_size (shape->size[2]);
  sizes[4] = adj_value_from_size (shape->size[3]);
  if (flex->copies > 1)
    grad = ADJ_APPLY (
        cx, ADJ_OP_sum_dim_IntList,
        ADJ_TENSOR (ADJ_APPLY (cx, ADJ_OP_view, ADJ_TENSOR (grad),
                               (AdjValue){ .kind = ADJ_VALUE_LIST, .n = 5, .items = sizes })),
        (AdjValue){ .kind = ADJ_VALUE_LIST, .n = 1, .items = &head });
  if (flex->one_batch)
    grad =
        ADJ_APPLY (cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (grad),
                   (AdjValue){ .kind = ADJ_VALUE_LIST, .n = 1, .items = &batch }, ADJ_BOOL (TRUE));
  return flex_arrange_like (cx, grad, of);
}

/* The gradients of the buffers, which follow those of the score and the indices in @all. (transfer
 * full) */
static gboolean
gather_buffers (const Flex *flex, const AdjValue *all, AdjValue *out)
{
  g_autoptr (GArray) items = adj_value_array_new ();
  const guint first = 1 + N_INDICES;

  for (guint i = 0; i < flex->score_buffers.n; i++)
    {
      const AdjValue *buffer = &flex->score_buffers.items[i];
      const AdjValue *grad = first + i < all->n ? &all->items[first + i] : &ADJ_NONE;
      AdjValue item = ADJ_NONE;

      if (buffer->kind == ADJ_VALUE_TENSOR && grad->kind == ADJ_VALUE_TENSOR)
        {
          AdjTensor *sum =
              adj_apply_sum_to (flex->cx, grad->tensor, flex_shape_of (buffer->tensor));

          if (sum == NULL)
            return FALSE;
          item = ADJ_TENSOR (adj_tensor_ref (sum));
        }
      g_array_append_val (items, item);
    }
  *out = adj_value_array_end (items, ADJ_VALUE_TUPLE);
  return TRUE;
}

/* The gradient of query · key, from the results of the joint graph. */
static AdjTensor *
end_scores (const Flex *flex, const AdjValue *all)
{
  AdjContext *cx = flex->cx;
  AdjTensor *grad;

  if (!adj_value_is_container (all) || all->n < 1 + N_INDICES ||
      all->items[0].kind != ADJ_VALUE_TENSOR)
    {
      flex_fail (cx, "the joint graph must give the gradient of the score first");
      return NULL;
    }
  grad = ADJ_APPLY (cx, ADJ_OP_mul_Scalar, all->items[0], flex->scale);
  grad = flex_convert (cx, grad, flex->dtype);
  return ADJ_APPLY (cx, ADJ_OP_where_ScalarOther, ADJ_TENSOR (flex->seen), ADJ_TENSOR (grad),
                    ADJ_INT (0));
}

static gboolean
differentiate (Flex *flex, Given *given, AdjValue *out)
{
  AdjContext *cx = flex->cx;
  AdjTensor *key = flex->key, *value = flex->value, *weights, *grads[3], *grad;
  g_auto (AdjValue) all = ADJ_NONE;
  g_auto (AdjValue) first = ADJ_NONE;
  AdjValue items[4];

  if (!flex_make_scores (flex))
    return FALSE;
  weights = weigh_again (flex, scale_by (cx, given->logsumexp, M_LN2));
  grads[2] =
      flex_multiply (cx, TRANSPOSED (flex_convert (cx, weights, flex->dtype)), given->grad_out);
  grad = differentiate_softmax (flex, given, weights);
  if (grad == NULL ||
      !flex_call_graph (flex, given->joint, flex->scores, grad, &flex->score_buffers, &all))
    return FALSE;
  grad = end_scores (flex, &all);
  grads[0] = flex_arrange_like (cx, flex_multiply (cx, grad, flex->key), flex->query);
  grads[1] = gather (flex, flex_multiply (cx, TRANSPOSED (grad), flex->query), key);
  grads[2] = gather (flex, grads[2], value);
  if (!flex_give (grads, G_N_ELEMENTS (grads), &first))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    items[i] = adj_value_steal (&first.items[i]);
  if (gather_buffers (flex, &all, &items[3]))
    {
      *out = adj_value_new_items (ADJ_VALUE_TUPLE, items, G_N_ELEMENTS (items));
      return TRUE;
    }
  for (guint i = 0; i < 3; i++)
    adj_value_clear (&items[i]);
  return FALSE;
}

/* (nullable) */
static AdjTensor *
take_gradient (const AdjValue *arg)
{
  return arg->kind == ADJ_VALUE_TENSOR ? arg->tensor : NULL;
}

gboolean
adj_builtin_flex_attention_backward (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  g_auto (Flex) flex = { .cx = cx };
  Given given = { 0 };
  gboolean done;

  if (n_args < 12 || n_args > 14 || !flex_are_tensors (args + 3, 2) ||
      args[7].kind != ADJ_VALUE_GRAPH || args[8].kind != ADJ_VALUE_GRAPH)
    return flex_fail (cx,
                      "the backward takes three tensors, two results, two gradients, two graphs, "
                      "block_mask, scale, options and buffers");
  given = (Given){ args[3].tensor, args[4].tensor, take_gradient (&args[5]),
                   take_gradient (&args[6]), adj_graph_function_new ((AdjGraph *) args[8].graph) };
  flex.score = adj_graph_function_new ((AdjGraph *) args[7].graph);
  adj_scope_begin (cx);
  if (given.grad_out == NULL)
    given.grad_out = ADJ_APPLY (cx, ADJ_OP_zeros_like, args[3]);
  done = flex_take_tensors (&flex, args) && flex_take_rest (&flex, args + 9, n_args - 9) &&
         differentiate (&flex, &given, out);
  adj_scope_end (cx);
  adj_function_unref (given.joint);
  return done;
}

/* zeros_and_scatter (shape, indices, values): the gradient of a buffer that the score reads by an
 * index. */
gboolean
adj_builtin_zeros_and_scatter (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  g_autofree AdjValue *indices = NULL;
  g_autofree AdjValue *sizes = NULL;
  const AdjShape *shape;
  AdjTensor *sum;

  if (n_args != 3 || !adj_value_is_container (&args[0]) || !adj_value_is_container (&args[1]) ||
      !flex_are_tensors (args[1].items, args[1].n) || !flex_are_tensors (&args[2], 1))
    return flex_fail (cx, "zeros_and_scatter takes a shape, indices and values");
  shape = flex_shape_of (args[2].tensor);
  sizes = g_new (AdjValue, shape->rank + 1);
  for (guint i = 0; i < shape->rank; i++)
    sizes[i] = adj_value_from_size (shape->size[i]);
  indices = g_new (AdjValue, args[1].n + 1);
  adj_scope_begin (cx);
  for (guint i = 0; i < args[1].n; i++)
    indices[i] = ADJ_TENSOR (
        ADJ_APPLY (cx, ADJ_OP_expand, args[1].items[i],
                   (AdjValue){ .kind = ADJ_VALUE_LIST, .n = shape->rank, .items = sizes }));
  sum = ADJ_APPLY (cx, ADJ_OP_new_zeros, args[2], args[0]);
  sum = ADJ_APPLY (cx, ADJ_OP_index_put, ADJ_TENSOR (sum),
                   (AdjValue){ .kind = ADJ_VALUE_LIST, .n = args[1].n, .items = indices }, args[2],
                   ADJ_BOOL (TRUE));
  *out = sum != NULL ? ADJ_TENSOR (adj_tensor_ref (sum)) : ADJ_NONE;
  adj_scope_end (cx);
  return sum != NULL;
}
