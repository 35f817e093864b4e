/* SPDX-License-Identifier: MIT */
/* index and index_put on a batch: an additional index selects the entry, as in functorch. */

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

static gboolean
is_mask (const AdjValue *index)
{
  AdjDType dtype =
      index->kind == ADJ_VALUE_TENSOR ? adj_tensor_get_meta (index->tensor)->dtype : ADJ_DTYPE_NONE;

  return dtype == ADJ_DTYPE_BOOL || dtype == ADJ_DTYPE_U8;
}

/* The dimensions of an entry that the indices select. */
typedef struct
{
  guint n_leading; /* dimensions before the indexed ones */
  guint n_named;   /* indexed dimensions; a mask counts as many as it has */
  guint rank; /* of the largest index: dimensions that replace the indexed ones in the values */
  gboolean adjacent; /* no other dimension stands between them */
} Named;

static Named
find_named (const AdjValue *indices)
{
  Named named = { .adjacent = TRUE };
  gboolean gap = FALSE;

  for (guint i = 0; i < indices->n; i++)
    {
      const AdjValue *index = &indices->items[i];
      const gboolean mask = is_mask (index);
      const guint rank = index->kind == ADJ_VALUE_TENSOR ? adj_tensor_get_rank (index->tensor) : 0;

      if (index->kind != ADJ_VALUE_TENSOR)
        {
          named.n_leading += named.n_named == 0;
          gap |= named.n_named > 0;
          continue;
        }
      named.adjacent &= !gap;
      named.n_named += mask ? rank : 1;
      named.rank = MAX (named.rank, mask ? 1 : rank);
    }
  return named;
}

static gboolean
any_batched (const Batching *b, const AdjValue *indices)
{
  for (guint i = 0; i < indices->n; i++)
    if (unwrap (b, &indices->items[i]) != NULL)
      return TRUE;
  return FALSE;
}

/* The index 0, 1, … of the entries, with @rank trailing dimensions of size 1. */
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

/* A mask of a batch selects a data-dependent number of elements in each entry, so that entries have
 * no common index. */
static gboolean
any_mask_batched (const Batching *b, const AdjValue *indices)
{
  for (guint i = 0; i < indices->n; i++)
    if (is_mask (&indices->items[i]) && unwrap (b, &indices->items[i]) != NULL)
      return TRUE;
  return FALSE;
}

/* Appends @indices to @items, those of entries with the batch dimension in front and as many others
 * as the largest index has. */
static void
pad_indices (const Batching *b, const AdjValue *indices, guint rank, AdjValue *items)
{
  AdjContext *cx = b->call->cx;

  for (guint i = 0; i < indices->n; i++)
    {
      AdjTensor *tensor = indices->items[i].tensor;

      items[i] = indices->items[i];
      if (unwrap (b, &indices->items[i]) == NULL)
        continue;
      tensor = level_bring_out (cx, b->level, tensor, 0);
      items[i] = ADJ_TENSOR (tensor != NULL ? batching_pad (cx, tensor, rank) : NULL);
    }
}

/* The indices after one that selects the entry or, with @all, after a full slice: if all entries
 * have the same indices and the indexed dimensions are adjacent, so that they do not move to the
 * front. */
static AdjValue
lead_indices (const Batching *b, const AdjValue *indices, const Named *named, gboolean all)
{
  AdjValue *items = adj_scope_alloc (b->call->cx, (indices->n + 1) * sizeof *items);

  items[0] = all ? ADJ_NONE : count_entries (b, named->rank);
  pad_indices (b, indices, named->rank, items + 1);
  return (AdjValue){ .kind = ADJ_VALUE_LIST, .n = indices->n + 1, .items = items };
}

/* Permutes @values for an index over entries: the indexed dimensions come right after it, and those
 * that stood before them follow. */
static AdjTensor *
move_named (AdjContext *cx, AdjTensor *values, const Named *named)
{
  const guint rank = adj_tensor_get_rank (values);
  AdjValue order[ADJ_MAX_RANK] = { ADJ_INT (0) };

  for (guint i = 1; i < rank; i++)
    order[i] = ADJ_INT (i <= named->rank                      ? i + named->n_leading
                        : i <= named->rank + named->n_leading ? i - named->rank
                                                              : i);
  return ADJ_APPLY (cx, ADJ_OP_permute, ADJ_TENSOR (values),
                    { .kind = ADJ_VALUE_LIST, .n = rank, .items = order });
}

/* The values of each entry, padded to the rank that is written. */
static AdjTensor *
spread_values (const Batching *b, const Named *named, gboolean all)
{
  AdjContext *cx = b->call->cx;
  AdjTensor *tensor = level_bring_out (cx, b->level, b->call->args[VALUES].tensor, 0);
  const guint rank = named->rank + batching_rank (b, SELF) - named->n_named;

  if (tensor == NULL || adj_tensor_get_rank (tensor) > rank + 1)
    return tensor;
  tensor = batching_pad (cx, tensor, rank);
  return tensor == NULL || all || !named->adjacent || named->n_leading == 0
             ? tensor
             : move_named (cx, tensor, named);
}

gboolean
batching_put_by_index (Batching *b, AdjValue *out)
{
  AdjOpCall *call = b->call;
  const AdjValue *indices = &call->args[INDICES];
  const Named named = find_named (indices);
  const gboolean all =
      !any_batched (b, indices) && !batching_is_batched (b, VALUES) && named.adjacent;
  AdjValue args[ADJ_MAX_ARGUMENTS];

  if (call->schema->arguments[SELF].type.written && !batching_is_batched (b, SELF))
    return adj_op_call_fail (call, "writes a batch into a tensor that has none");
  if (!batching_is_batched (b, SELF) || any_mask_batched (b, indices))
    return batching_each (b, out);
  memcpy (args, call->args, call->schema->n_arguments * sizeof *args);
  args[SELF].tensor = batching_front (b, SELF);
  args[INDICES] = lead_indices (b, indices, &named, all);
  args[VALUES].tensor = spread_values (b, &named, all);
  return args[SELF].tensor != NULL && args[VALUES].tensor != NULL &&
         adj_call_bound (call->cx, call->op, args, out);
}

/* @taken: the entry, the dimensions of the indices, those before them, and the rest; in the order
 * of an index without entries. */
static gboolean
move_back (AdjContext *cx, const Named *named, AdjValue *taken)
{
  const guint rank = adj_tensor_get_rank (taken->tensor);
  AdjValue order[ADJ_MAX_RANK] = { ADJ_INT (0) };
  AdjTensor *moved;

  for (guint i = 1; i < rank; i++)
    order[i] = ADJ_INT (i <= named->n_leading                 ? i + named->rank
                        : i <= named->rank + named->n_leading ? i - named->n_leading
                                                              : i);
  moved = ADJ_APPLY (cx, ADJ_OP_permute, ADJ_TENSOR (taken->tensor),
                     { .kind = ADJ_VALUE_LIST, .n = rank, .items = order });
  *taken = ADJ_TENSOR (moved);
  return moved != NULL;
}

gboolean
batching_take_by_index (Batching *b, AdjValue *out)
{
  AdjOpCall *call = b->call;
  const AdjValue *indices = &call->args[INDICES];
  const Named named = find_named (indices);
  const gboolean of_self = batching_is_batched (b, SELF), of_indices = any_batched (b, indices);
  AdjValue args[2] = { ADJ_NONE, *indices };

  if (any_mask_batched (b, indices))
    return batching_each (b, out);
  args[SELF] = ADJ_TENSOR (batching_front (b, SELF));
  if (of_self)
    args[INDICES] = lead_indices (b, indices, &named, !of_indices);
  else
    {
      args[INDICES].items = adj_scope_alloc (call->cx, indices->n * sizeof *indices->items);
      pad_indices (b, indices, named.rank, args[INDICES].items);
    }
  if (args[SELF].tensor == NULL || !adj_call_bound (call->cx, call->op, args, out))
    return FALSE;
  if (of_self && of_indices)
    return !named.adjacent || named.n_leading == 0 || move_back (call->cx, &named, out);
  if (of_self)
    b->dim = named.adjacent ? 0 : named.rank;
  else
    b->dim = named.adjacent ? named.n_leading : 0;
  return TRUE;
}
