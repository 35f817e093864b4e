/* SPDX-License-Identifier: MIT */
/* Convolutions of a batch, with the batch folded into the sample or the group dimension, and their
 * backward. */

#include <string.h>

#include "autograd/batching-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

static AdjValue
list_of (AdjValue *items, guint n)
{
  return (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = items };
}

static gboolean
give (AdjTensor *tensor, AdjValue *out)
{
  *out = ADJ_TENSOR (tensor);
  return tensor != NULL;
}

static AdjSize
size_of (const AdjTensor *tensor, guint dim)
{
  return adj_tensor_get_meta (tensor)->shape.size[dim];
}

/* -- the batch as a part of another dimension -- */

/* Argument @arg with the batch dimension folded into dimension @to, as its outer part; always
 * permutes. */
static AdjTensor *
join (const Batching *b, guint arg, guint to)
{
  AdjContext *cx = b->call->cx;
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  guint dim, rank, k = 0;
  AdjTensor *x = level_unwrap (b->level, b->call->args[arg].tensor, &dim);
  AdjValue order[ADJ_MAX_RANK], sizes[ADJ_MAX_RANK];

  rank = adj_tensor_get_rank (x);
  for (guint i = 0; i < rank; i++)
    if (i == to)
      order[i] = ADJ_INT (dim);
    else
      {
        k += k == dim;
        order[i] = ADJ_INT (k++);
      }
  x = ADJ_APPLY (cx, ADJ_OP_permute, ADJ_TENSOR (x), list_of (order, rank));
  if (x == NULL)
    return NULL;
  for (guint i = 0; i + 1 < rank; i++)
    sizes[i] =
        adj_value_from_size (i == to ? adj_size_mul (symbols, size_of (x, to), size_of (x, to + 1))
                                     : size_of (x, i < to ? i : i + 1));
  return ADJ_APPLY (cx, ADJ_OP_reshape, ADJ_TENSOR (x), list_of (sizes, rank - 1));
}

/* @x with the batch dimension split off dimension @from again, whose remaining size is @rest. */
static AdjTensor *
take_out (const Batching *b, AdjTensor *x, guint from, AdjSize rest)
{
  const guint rank = adj_tensor_get_rank (x);
  AdjValue sizes[ADJ_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    sizes[i < from ? i : i + 1] = adj_value_from_size (size_of (x, i));
  sizes[from] = adj_value_from_size (b->level->size);
  sizes[from + 1] = adj_value_from_size (rest);
  return ADJ_APPLY (b->call->cx, ADJ_OP_reshape, ADJ_TENSOR (x), list_of (sizes, rank + 1));
}

/* -- forward -- */

/* (input, weight, bias, …): with a batch of inputs, and of weights or not. */
gboolean
batching_convolve (Batching *b, AdjValue *out)
{
  AdjContext *cx = b->call->cx;
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjSize pictures;

  if (!batching_is_batched (b, 0) || batching_is_batched (b, 1) || batching_is_batched (b, 2))
    return batching_each (b, out);
  memcpy (args, b->call->args, b->call->schema->n_arguments * sizeof *args);
  pictures = size_of (args[0].tensor, 0);
  args[0].tensor = join (b, 0, 0);
  return args[0].tensor != NULL && adj_call_bound (cx, b->call->op, args, out) &&
         give (take_out (b, out->tensor, 0, pictures), out);
}

/* -- backward: (grad_output, input, weight, bias_sizes, …, groups, output_mask) -- */

#define GROUPS 9
#define MASK 10

static gboolean
wants (const Batching *b, guint index)
{
  return b->call->args[MASK].items[index].boolean;
}

/* A tensor without values in the shape of argument @arg with the batch folded into dimension 0. */
static AdjTensor *
make_dummy (const Batching *b, guint arg)
{
  AdjContext *cx = b->call->cx;
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  guint dim, rank;
  AdjTensor *x = b->call->args[arg].tensor;
  AdjTensor *inner = level_unwrap (b->level, x, &dim);
  AdjValue sizes[ADJ_MAX_RANK];

  if (inner != NULL)
    x = ADJ_APPLY (cx, ADJ_OP_select_int, ADJ_TENSOR (inner), ADJ_INT (dim), ADJ_INT (0));
  if (x == NULL)
    return NULL;
  rank = adj_tensor_get_rank (x);
  for (guint i = 0; i < rank; i++)
    sizes[i] = adj_value_from_size (i == 0 ? adj_size_mul (symbols, b->level->size, size_of (x, 0))
                                           : size_of (x, i));
  x = ADJ_APPLY (cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), ADJ_INT (0), ADJ_INT (0), ADJ_INT (1));
  if (x != NULL)
    x = ADJ_APPLY (cx, ADJ_OP_new_empty, ADJ_TENSOR (x), { .kind = ADJ_VALUE_LIST });
  return x != NULL ? ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (x), list_of (sizes, rank)) : NULL;
}

/* Computes only gradient @index, from @operands (gradient, input, weight) in @groups. */
static AdjTensor *
call_alone (const Batching *b, guint index, AdjTensor *const *operands, gint64 groups)
{
  AdjValue args[ADJ_MAX_ARGUMENTS], result;
  AdjValue mask[] = { ADJ_BOOL (index == 0), ADJ_BOOL (index == 1), ADJ_BOOL (FALSE) };

  memcpy (args, b->call->args, b->call->schema->n_arguments * sizeof *args);
  for (guint i = 0; i < 3; i++)
    {
      if (operands[i] == NULL)
        return NULL;
      args[i] = ADJ_TENSOR (operands[i]);
    }
  args[3] = ADJ_NONE;
  args[GROUPS] = ADJ_INT (groups);
  args[MASK].items = mask;
  return adj_call_bound (b->call->cx, b->call->op, args, &result) ? result.items[index].tensor
                                                                  : NULL;
}

/* Sums the gradient for the bias, by a call at this level. */
static AdjTensor *
sum_bias (const Batching *b)
{
  AdjContext *cx = b->call->cx;
  AdjMode *entry = adj_context_set_entry (cx, &b->level->mode);
  const guint rank = batching_rank (b, 0);
  AdjValue dims[ADJ_MAX_RANK] = { ADJ_INT (0) };
  AdjTensor *sum;

  for (guint i = 2; i < rank; i++)
    dims[i - 1] = ADJ_INT (i);
  sum = ADJ_APPLY (cx, ADJ_OP_sum_dim_IntList, b->call->args[0], list_of (dims, rank - 1));
  adj_context_set_entry (cx, entry);
  return sum;
}

/* The gradient of the input, with the batch as more samples. */
static AdjTensor *
find_input (const Batching *b)
{
  const AdjSize pictures = size_of (b->call->args[1].tensor, 0);
  AdjTensor *operands[] = { join (b, 0, 0), make_dummy (b, 1), b->call->args[2].tensor };
  AdjTensor *grad = call_alone (b, 0, operands, b->call->args[GROUPS].integer);

  grad = grad != NULL ? take_out (b, grad, 0, pictures) : NULL;
  return grad != NULL ? level_wrap (b->call->cx, b->level, grad, 0) : NULL;
}

/* The gradient of the weight, with the batch as more groups. */
static AdjTensor *
find_weight (const Batching *b)
{
  const AdjSize filters = size_of (b->call->args[2].tensor, 0);
  AdjTensor *operands[] = { join (b, 0, 1), join (b, 1, 1), make_dummy (b, 2) };
  AdjTensor *grad =
      call_alone (b, 1, operands, b->call->args[GROUPS].integer * b->level->size.word);

  grad = grad != NULL ? take_out (b, grad, 0, filters) : NULL;
  return grad != NULL ? level_wrap (b->call->cx, b->level, grad, 0) : NULL;
}

gboolean
batching_convolve_backward (Batching *b, AdjValue *out)
{
  AdjValue *parts = adj_scope_alloc (b->call->cx, 3 * sizeof *parts);

  if (!batching_is_batched (b, 0) || !batching_is_batched (b, 1) || batching_is_batched (b, 2) ||
      !adj_size_is_int (b->level->size))
    return batching_each (b, out);
  parts[0] = parts[1] = parts[2] = ADJ_NONE;
  *out = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 3, .items = parts };
  b->wrapped = TRUE;
  return (!wants (b, 2) || give (sum_bias (b), &parts[2])) &&
         (!wants (b, 0) || give (find_input (b), &parts[0])) &&
         (!wants (b, 1) || give (find_weight (b), &parts[1]));
}
