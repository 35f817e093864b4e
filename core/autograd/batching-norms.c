/* SPDX-License-Identifier: MIT */
/* Layer norm and its backward on a batch; weights may be batched, too. */

#include <string.h>

#include "autograd/batching-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

static gboolean
give (AdjTensor *tensor, AdjValue *out)
{
  *out = ADJ_TENSOR (tensor);
  return tensor != NULL;
}

/* Makes the tensors in @value, results of a call below, tensors of the level. */
static gboolean
wrap_all (Batching *b, AdjValue *value)
{
  for (guint i = 0; i < value->n; i++)
    if (value->items[i].kind == ADJ_VALUE_TENSOR &&
        !give (level_wrap (b->call->cx, b->level, value->items[i].tensor, 0), &value->items[i]))
      return FALSE;
  b->wrapped = TRUE;
  return TRUE;
}

/* y · weight + bias, by calls at the level. */
static AdjTensor *
scale_and_shift (Batching *b, AdjTensor *y)
{
  AdjContext *cx = b->call->cx;
  const AdjValue *args = b->call->args;
  AdjMode *entry = adj_context_set_entry (cx, &b->level->mode);

  if (args[2].kind == ADJ_VALUE_TENSOR)
    y = ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (y), args[2]);
  if (y != NULL && args[3].kind == ADJ_VALUE_TENSOR)
    y = ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (y), args[3]);
  adj_context_set_entry (cx, entry);
  return y;
}

/* (input, normalized_shape, weight, bias, eps) */
gboolean
batching_normalize (Batching *b, AdjValue *out)
{
  const gboolean apart = batching_is_batched (b, 2) || batching_is_batched (b, 3);
  AdjValue args[5];

  memcpy (args, b->call->args, sizeof args);
  if (apart)
    args[2] = args[3] = ADJ_NONE;
  args[0].tensor = level_bring_out (b->call->cx, b->level, args[0].tensor, 0);
  if (args[0].tensor == NULL || !adj_call_bound (b->call->cx, b->call->op, args, out) ||
      !wrap_all (b, out))
    return FALSE;
  return !apart || give (scale_and_shift (b, out->items[0].tensor), &out->items[0]);
}

/* Sums @tensor, which is of the level, over its first @n dimensions. */
static AdjTensor *
sum_first (AdjContext *cx, AdjTensor *tensor, guint n)
{
  AdjValue dims[ADJ_MAX_RANK];

  for (guint i = 0; i < n; i++)
    dims[i] = ADJ_INT (i);
  return tensor == NULL || n == 0 ? tensor
                                  : ADJ_APPLY (cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (tensor),
                                               { .kind = ADJ_VALUE_LIST, .n = n, .items = dims });
}

static gboolean
wants (const Batching *b, guint index)
{
  return b->call->args[7].items[index].boolean;
}

/* Gradients of bias and weight, and that of the normalized input; by calls at the level. */
static gboolean
give_parameters (const Batching *b, AdjValue *parts, AdjTensor **normal)
{
  AdjContext *cx = b->call->cx;
  const AdjValue *args = b->call->args;
  const guint n = batching_rank (b, 0) - args[2].n;
  const gboolean scaled = args[5].kind == ADJ_VALUE_TENSOR;
  AdjTensor *x = NULL;

  *normal = args[0].tensor;
  if (wants (b, 2))
    give (sum_first (cx, args[0].tensor, n), &parts[2]);
  if (wants (b, 1) && scaled)
    {
      x = ADJ_APPLY (cx, ADJ_OP_sub_Tensor, args[1], args[3]);
      x = x != NULL ? ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (x), args[4]) : NULL;
      x = x != NULL ? ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (x), args[0]) : NULL;
      give (sum_first (cx, x, n), &parts[1]);
    }
  if (wants (b, 0) && scaled)
    *normal = ADJ_APPLY (cx, ADJ_OP_mul_Tensor, args[0], args[5]);
  return !adj_context_has_error (cx);
}

static gboolean
give_input (const Batching *b, AdjTensor *normal, AdjValue *out)
{
  AdjContext *cx = b->call->cx;
  AdjValue mask[] = { ADJ_BOOL (TRUE), ADJ_BOOL (FALSE), ADJ_BOOL (FALSE) };
  AdjValue args[8], result;

  memcpy (args, b->call->args, sizeof args);
  args[0].tensor = normal;
  for (guint i = 0; i < 5; i++)
    if (args[i].kind == ADJ_VALUE_TENSOR)
      args[i].tensor = level_bring_out (cx, b->level, args[i].tensor, 0);
  args[5] = args[6] = ADJ_NONE;
  args[7].items = mask;
  return !adj_context_has_error (cx) && adj_call_bound (cx, b->call->op, args, &result) &&
         give (level_wrap (cx, b->level, result.items[0].tensor, 0), out);
}

/* (grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask) */
gboolean
batching_normalize_backward (Batching *b, AdjValue *out)
{
  AdjContext *cx = b->call->cx;
  AdjValue *parts = adj_scope_alloc (cx, 3 * sizeof *parts);
  AdjMode *entry = adj_context_set_entry (cx, &b->level->mode);
  AdjTensor *normal;
  gboolean done;

  parts[0] = parts[1] = parts[2] = ADJ_NONE;
  done = give_parameters (b, parts, &normal);
  adj_context_set_entry (cx, entry);
  b->wrapped = TRUE;
  *out = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 3, .items = parts };
  return done && (!wants (b, 0) || give_input (b, normal, &parts[0]));
}
