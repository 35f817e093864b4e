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

static gboolean
is_mask (const AdjValue *index)
{
  AdjDType dtype =
      index->kind == ADJ_VALUE_TENSOR ? adj_tensor_get_meta (index->tensor)->dtype : ADJ_DTYPE_NONE;

  return dtype == ADJ_DTYPE_BOOL || dtype == ADJ_DTYPE_U8;
}

/* Which dimensions of an entry the indices name. */
typedef struct
{
  guint n_leading;   /* in front of those */
  guint n_named;     /* a mask names as many as it has */
  guint rank;        /* of the largest index: dimensions that stand for them in what is written */
  gboolean adjacent; /* no other dimension is between them */
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

/* Of how many elements a mask writes the data decide, so that entries have no common index. */
static gboolean
any_mask_batched (const Batching *b, const AdjValue *indices)
{
  for (guint i = 0; i < indices->n; i++)
    if (is_mask (&indices->items[i]) && unwrap (b, &indices->items[i]) != NULL)
      return TRUE;
  return FALSE;
}

/* The indices behind one of the entries, or behind all of these: where they have the same, and what
 * they name does not move before the entries, as it does where it is not adjacent. */
static AdjValue
lead_indices (const Batching *b, const AdjValue *indices, const Named *named, gboolean all)
{
  AdjContext *cx = b->call->cx;
  AdjValue *items = adj_scope_alloc (cx, (indices->n + 1) * sizeof *items);

  items[0] = all ? ADJ_NONE : count_entries (b, named->rank);
  for (guint i = 0; i < indices->n; i++)
    {
      AdjTensor *tensor = indices->items[i].tensor;

      items[i + 1] = indices->items[i];
      if (unwrap (b, &indices->items[i]) == NULL)
        continue;
      tensor = level_bring_out (cx, b->level, tensor, 0);
      items[i + 1] = ADJ_TENSOR (tensor != NULL ? batching_pad (cx, tensor, named->rank) : NULL);
    }
  return (AdjValue){ .kind = ADJ_VALUE_LIST, .n = indices->n + 1, .items = items };
}

/* @values of all entries where an index counts these: what the indices name stands behind it, and
 * dimensions that were before that come after. */
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

/* Those of each entry, of as many dimensions as are written of it. */
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
