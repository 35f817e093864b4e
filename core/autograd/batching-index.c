/* SPDX-License-Identifier: MIT */
/* Writing elements of a batch by indices: a further index counts the entries, as functorch has it.
 */

#include <string.h>

#include "autograd/batching-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

enum
{
  SELF = 0,
  INDICES = 1,
  VALUES = 2,
};

static AdjTensor *
unwrap (const Batching *b, const AdjValue *index)
{
  return index->kind == ADJ_VALUE_TENSOR ? level_unwrap (b->level, index->tensor, NULL) : NULL;
}

/* Dimensions of the largest index of an entry. */
static guint
get_index_rank (const AdjValue *indices)
{
  guint rank = 0;

  for (guint i = 0; i < indices->n; i++)
    if (indices->items[i].kind == ADJ_VALUE_TENSOR)
      rank = MAX (rank, adj_tensor_get_rank (indices->items[i].tensor));
  return rank;
}

static gboolean
any_batched (const Batching *b, const AdjValue *indices)
{
  for (guint i = 0; i < indices->n; i++)
    if (unwrap (b, &indices->items[i]) != NULL)
      return TRUE;
  return FALSE;
}

/* 0, 1, …: the entries, with @rank dimensions of 1 behind. */
static AdjValue
count_entries (const Batching *b, guint rank)
{
  AdjContext *cx = b->call->cx;
  AdjTensor *index =
      ADJ_APPLY (cx, ADJ_OP_arange_start, ADJ_INT (0), adj_value_from_size (b->level->size));

  for (guint i = 0; i < rank; i++)
    index = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (index), ADJ_INT (-1));
  return ADJ_TENSOR (index);
}

/* The indices behind one of the entries, or behind all of these where they have the same. */
static AdjValue
lead_indices (const Batching *b, const AdjValue *indices)
{
  AdjContext *cx = b->call->cx;
  guint rank = get_index_rank (indices);
  gboolean all = !any_batched (b, indices) && !batching_is_batched (b, VALUES);
  AdjValue *items = adj_scope_alloc (cx, (indices->n + 1) * sizeof *items);

  items[0] = all ? ADJ_NONE : count_entries (b, rank);
  for (guint i = 0; i < indices->n; i++)
    {
      AdjTensor *tensor = indices->items[i].tensor;

      items[i + 1] = indices->items[i];
      if (unwrap (b, &indices->items[i]) == NULL)
        continue;
      tensor = level_bring_out (cx, b->level, tensor, 0);
      items[i + 1] = ADJ_TENSOR (tensor != NULL ? batching_pad (cx, tensor, rank) : NULL);
    }
  return (AdjValue){ .kind = ADJ_VALUE_LIST, .n = indices->n + 1, .items = items };
}

/* Those of each entry, of as many dimensions as are written of it. */
static AdjTensor *
spread_values (const Batching *b, const AdjValue *indices)
{
  AdjContext *cx = b->call->cx;
  AdjTensor *tensor = level_bring_out (cx, b->level, b->call->args[VALUES].tensor, 0);
  guint rank = get_index_rank (indices) + batching_rank (b, SELF);

  for (guint i = 0; i < indices->n; i++)
    rank -= indices->items[i].kind == ADJ_VALUE_TENSOR;
  if (tensor == NULL || adj_tensor_get_rank (tensor) > rank)
    return tensor;
  return batching_pad (cx, tensor, rank);
}

gboolean
batching_put_by_index (Batching *b, AdjValue *out)
{
  AdjOpCall *call = b->call;
  const AdjValue *indices = &call->args[INDICES];
  AdjValue args[ADJ_MAX_ARGUMENTS];

  if (call->schema->arguments[SELF].type.written && !batching_is_batched (b, SELF))
    return adj_op_call_fail (call, "writes a batch into a tensor that has none");
  if (!batching_is_batched (b, SELF))
    return batching_each (b, out);
  memcpy (args, call->args, call->schema->n_arguments * sizeof *args);
  args[SELF].tensor = batching_front (b, SELF);
  args[INDICES] = lead_indices (b, indices);
  args[VALUES].tensor = spread_values (b, indices);
  return args[SELF].tensor != NULL && args[VALUES].tensor != NULL &&
         adj_call_bound (call->cx, call->op, args, out);
}
