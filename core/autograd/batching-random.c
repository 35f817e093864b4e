/* SPDX-License-Identifier: MIT */
/* Random numbers in a batch.  If each entry draws its own, the operator is called once with the
 * batch in front, which draws for one entry after the other. */

#include <string.h>

#include "autograd/batching-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

static gint
find_sizes (const AdjSchema *schema)
{
  for (guint i = 0; i < schema->n_arguments; i++)
    if (g_str_equal (schema->arguments[i].name, "size") && schema->arguments[i].type.is_list)
      return (gint) i;
  return -1;
}

/* Argument @arg, which is not batched, repeated along a new batch dimension. */
static AdjTensor *
repeat (const Batching *b, guint arg)
{
  AdjTensor *tensor = b->call->args[arg].tensor;
  const AdjShape *shape = &adj_tensor_get_meta (tensor)->shape;
  AdjValue sizes[ADJ_MAX_RANK + 1];

  sizes[0] = adj_value_from_size (b->level->size);
  for (guint i = 0; i < shape->rank; i++)
    sizes[i + 1] = adj_value_from_size (shape->size[i]);
  return ADJ_APPLY (b->call->cx, ADJ_OP_expand, ADJ_TENSOR (tensor),
                    { .kind = ADJ_VALUE_LIST, .n = shape->rank + 1, .items = sizes });
}

/* Arguments with the batch in front: tensors moved or repeated, sizes extended. */
static gboolean
spread_arguments (Batching *b, AdjValue *args)
{
  AdjOpCall *call = b->call;
  gint sizes = find_sizes (call->schema);
  guint rank = 0, n_tensors = 0;

  memcpy (args, call->args, call->schema->n_arguments * sizeof *args);
  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      if (args[i].kind != ADJ_VALUE_TENSOR)
        continue;
      if (n_tensors++ > 0 && batching_rank (b, i) != rank)
        return adj_op_call_fail (call, "draws for a batch from tensors of one rank only");
      rank = batching_rank (b, i);
      if (call->schema->arguments[i].type.written && !batching_is_batched (b, i))
        return adj_op_call_fail (call, "writes a batch into a tensor that has none");
      args[i].tensor = batching_is_batched (b, i) ? batching_front (b, i) : repeat (b, i);
      if (args[i].tensor == NULL)
        return FALSE;
    }
  if (n_tensors == 0 && sizes >= 0)
    args[sizes] = batching_with_size (b, &call->args[sizes]);
  return TRUE;
}

/* Whether only argument 0 of a `_like` operator is batched, so that just its shape matters. */
static gboolean
lends_shape (const Batching *b)
{
  const AdjSchema *schema = b->call->schema;

  for (guint i = 1; i < schema->n_arguments; i++)
    if (batching_is_batched (b, i))
      return FALSE;
  return g_str_has_suffix (schema->name, "_like");
}

/* Draws once, in the shape of the first entry, for all entries. */
static gboolean
draw_once (Batching *b, AdjValue *out)
{
  AdjOpCall *call = b->call;
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjTensor *inner;
  guint dim;

  if (!lends_shape (b))
    return adj_op_call_fail (call, "does not draw the same numbers for tensors of a batch");
  memcpy (args, call->args, call->schema->n_arguments * sizeof *args);
  inner = level_unwrap (b->level, args[0].tensor, &dim);
  args[0].tensor =
      ADJ_APPLY (call->cx, ADJ_OP_select_int, ADJ_TENSOR (inner), ADJ_INT (dim), ADJ_INT (0));
  b->wrapped = TRUE;
  return args[0].tensor != NULL && adj_call_bound (call->cx, call->op, args, out);
}

gboolean
batching_draw (Batching *b, AdjValue *out)
{
  AdjOpCall *call = b->call;
  AdjValue args[ADJ_MAX_ARGUMENTS];

  if (b->level->randomness == RANDOMNESS_ERROR)
    return adj_op_call_fail (call, "draws random numbers in a batch whose randomness is 'error'");
  if (b->level->randomness == RANDOMNESS_SAME)
    return draw_once (b, out);
  if (call->op == adj_op (ADJ_OP_randperm))
    return batching_each (b, out);
  return spread_arguments (b, args) && adj_call_bound (call->cx, call->op, args, out);
}
