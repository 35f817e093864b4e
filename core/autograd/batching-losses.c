/* SPDX-License-Identifier: MIT */
/* Losses of a batch of programs: the elements of each entry in one row, compared, then reduced
 * row by row. */

#include <string.h>

#include "autograd/batching-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

enum
{
  SELF = 0,
  TARGET = 1,
  REDUCTION = 2,
};

enum
{
  REDUCE_NONE = 0,
  REDUCE_MEAN = 1,
};

/* Argument @arg as rows, one for each entry, or as one row for all of them. */
static AdjTensor *
as_rows (const Batching *b, guint arg)
{
  AdjTensor *front = batching_front (b, arg);
  gint64 first = batching_is_batched (b, arg) ? 1 : 0;

  if (front == NULL || adj_tensor_get_rank (front) <= first)
    return front;
  return ADJ_APPLY (b->call->cx, ADJ_OP_flatten_using_ints, ADJ_TENSOR (front), ADJ_INT (first),
                    ADJ_INT (-1));
}

static AdjTensor *
reduce_rows (const Batching *b, gint64 reduction, AdjTensor *rows)
{
  AdjContext *cx = b->call->cx;
  AdjValue last = ADJ_INT (-1);
  AdjValue dims = { .kind = ADJ_VALUE_LIST, .n = 1, .items = &last };

  if (adj_tensor_get_rank (rows) == 1)
    return rows;
  if (reduction != REDUCE_NONE)
    return ADJ_APPLY (cx, reduction == REDUCE_MEAN ? ADJ_OP_mean_dim : ADJ_OP_sum_dim_IntList,
                      ADJ_TENSOR (rows), dims);
  return ADJ_APPLY (cx, ADJ_OP_reshape_as, ADJ_TENSOR (rows),
                    ADJ_TENSOR (batching_front (b, batching_is_batched (b, SELF) ? SELF : TARGET)));
}

gboolean
batching_compare (Batching *b, AdjValue *out)
{
  const AdjOpCall *call = b->call;
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjTensor *self = as_rows (b, SELF), *target = as_rows (b, TARGET);
  AdjTensor *reduced;

  if (self == NULL || target == NULL)
    return FALSE;
  memcpy (args, call->args, call->schema->n_arguments * sizeof *args);
  args[SELF] = ADJ_TENSOR (self);
  args[TARGET] = ADJ_TENSOR (target);
  args[REDUCTION] = ADJ_INT (REDUCE_NONE);
  if (!adj_call_bound (call->cx, call->op, args, out))
    return FALSE;
  reduced = reduce_rows (b, call->args[REDUCTION].integer, out->tensor);
  *out = ADJ_TENSOR (reduced);
  return reduced != NULL;
}
