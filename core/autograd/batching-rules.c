/* SPDX-License-Identifier: MIT */
/* Rules of operators on batches.  Most move the batch dimension to the front and call the operator
 * on that: operands that broadcast are brought to one rank, dimensions are shifted by one, and
 * sizes get the batch size in front. */

#include <string.h>

#include "autograd/batching-private.h"
#include "ops/adj-op-id.h"
#include "ops/adj-pointwise-internal.h"
#include "rules/adj-apply.h"

static gboolean
give (AdjTensor *tensor, AdjValue *out)
{
  *out = ADJ_TENSOR (tensor);
  return tensor != NULL;
}

static AdjValue
list_of (AdjValue *items, guint n)
{
  return (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = items };
}

/* -- dimensions and sizes -- */

static gboolean
is_one_of (const char *name, const char *const *names)
{
  return g_strv_contains (names, name);
}

static const char *const dims[] = { "dim", "dim0", "dim1", "dim2", "dims", NULL };
static const char *const sizes[] = { "size", "input_sizes", "sizes", "self_sizes", NULL };

/* Dimension @dim of @rank, shifted by the batch dimension in front. */
static AdjValue
shift (gint64 dim, guint rank)
{
  return ADJ_INT (dim < 0 ? dim + rank + 1 : dim + 1);
}

/* None or an empty list is all dimensions. */
static AdjValue
shift_all (const Batching *b, const AdjValue *value, guint rank)
{
  gboolean all = value->kind == ADJ_VALUE_NONE || value->n == 0;
  guint n = all ? rank : value->n;
  AdjValue *items = adj_scope_alloc (b->call->cx, (n + 1) * sizeof *items);

  for (guint i = 0; i < n; i++)
    items[i] = all ? ADJ_INT (i + 1) : shift (value->items[i].integer, rank);
  return list_of (items, n);
}

AdjValue
batching_with_size (const Batching *b, const AdjValue *value)
{
  AdjValue *items = adj_scope_alloc (b->call->cx, (value->n + 1) * sizeof *items);

  items[0] = adj_value_from_size (b->level->size);
  for (guint i = 0; i < value->n; i++)
    items[i + 1] = value->items[i];
  return list_of (items, value->n + 1);
}

static AdjValue
move_argument (const Batching *b, const AdjArgument *argument, const AdjValue *value, guint rank)
{
  if (is_one_of (argument->name, dims) && argument->type.is_list)
    return shift_all (b, value, rank);
  if (is_one_of (argument->name, dims) && value->kind == ADJ_VALUE_INT)
    return shift (value->integer, rank);
  if (is_one_of (argument->name, sizes) && adj_value_is_container (value))
    return batching_with_size (b, value);
  return *value;
}

static AdjTensor *
with_batch (const Batching *b, AdjTensor *tensor)
{
  return level_bring_out (b->call->cx, b->level, tensor, 0);
}

static gboolean
with_batches (const Batching *b, const AdjValue *value, AdjValue *out)
{
  AdjValue *items = adj_scope_alloc (b->call->cx, (value->n + 1) * sizeof *items);

  *out = *value;
  out->items = items;
  for (guint i = 0; i < value->n; i++)
    {
      items[i] = value->items[i];
      if (items[i].kind == ADJ_VALUE_TENSOR)
        items[i].tensor = with_batch (b, items[i].tensor);
      if (items[i].kind == ADJ_VALUE_TENSOR && items[i].tensor == NULL)
        return FALSE;
    }
  return TRUE;
}

/* The rank by which the dimension arguments of @call are counted. */
static guint
counted_rank (const AdjOpCall *call)
{
  const AdjValue *first = &call->args[0];

  if (first->kind == ADJ_VALUE_LIST && first->n > 0 && first->items[0].kind == ADJ_VALUE_TENSOR)
    first = &first->items[0];
  return first->kind == ADJ_VALUE_TENSOR ? adj_tensor_get_rank (first->tensor) : 0;
}

static gboolean
moved_in (Batching *b, guint rank, AdjValue *out)
{
  const AdjOpCall *call = b->call;
  AdjValue args[ADJ_MAX_ARGUMENTS];

  if (call->schema->arguments[0].type.written && !batching_is_batched (b, 0))
    return adj_op_call_fail (call, "writes a batch into a tensor that has none");
  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjValue *value = &call->args[i];

      args[i] = *value;
      if (value->kind == ADJ_VALUE_TENSOR)
        args[i].tensor = with_batch (b, value->tensor);
      else if (value->kind == ADJ_VALUE_LIST && value->n > 0 &&
               value->items[0].kind == ADJ_VALUE_TENSOR)
        {
          if (!with_batches (b, value, &args[i]))
            return FALSE;
        }
      else
        args[i] = move_argument (b, &call->schema->arguments[i], value, rank);
      if (args[i].kind == ADJ_VALUE_TENSOR && args[i].tensor == NULL)
        return FALSE;
    }
  return adj_call_bound (call->cx, call->op, args, out);
}

/* Whether @call has dimension arguments. */
static gboolean
has_dims (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (is_one_of (call->schema->arguments[i].name, dims))
      return TRUE;
  return FALSE;
}

static gboolean
moved (Batching *b, AdjValue *out)
{
  if (counted_rank (b->call) == 0 && has_dims (b->call))
    return batching_each (b, out);
  return moved_in (b, counted_rank (b->call), out);
}

/* For operators whose results have one more dimension. */
static gboolean
moved_further (Batching *b, AdjValue *out)
{
  return moved_in (b, counted_rank (b->call) + 1, out);
}

/* The entry dimension in front by permute, whether or not it is there, as functorch's oldest rules
 * do; a tensor without a batch is unsqueezed, then expanded. */
static AdjTensor *
with_batch_permuted (const Batching *b, AdjTensor *tensor)
{
  AdjContext *cx = b->call->cx;
  AdjValue order[ADJ_MAX_RANK + 1];
  guint dim = 0, rank, n = 1;
  AdjTensor *inner = level_unwrap (b->level, tensor, &dim);

  if (inner == NULL)
    return level_spread (cx, b->level, tensor, 0, TRUE);
  rank = adj_tensor_get_rank (inner);
  order[0] = ADJ_INT (dim);
  for (guint i = 0; i < rank; i++)
    if (i != dim)
      order[n++] = ADJ_INT (i);
  return ADJ_APPLY (cx, ADJ_OP_permute, ADJ_TENSOR (inner), list_of (order, rank));
}

static gboolean
stacked (Batching *b, AdjValue *out)
{
  AdjContext *cx = b->call->cx;
  const AdjValue *tensors = &b->call->args[0];
  const guint rank = counted_rank (b->call);
  AdjValue *items = adj_scope_alloc (cx, (tensors->n + 1) * sizeof *items);

  for (guint i = 0; i < tensors->n; i++)
    {
      items[i] = ADJ_TENSOR (with_batch_permuted (b, tensors->items[i].tensor));
      if (items[i].tensor == NULL)
        return FALSE;
    }
  return give (ADJ_APPLY (cx, ADJ_OP_stack, list_of (items, tensors->n),
                          shift (b->call->args[1].integer, rank + 1)),
               out);
}

/* One dimension, or None, which reduces over all: the tensor is flattened to a vector first. */
static gboolean
moved_or_whole (Batching *b, AdjValue *out)
{
  AdjValue args[ADJ_MAX_ARGUMENTS];
  const AdjValue *given = b->call->args;
  guint rank = batching_rank (b, 0);

  if (given[1].kind != ADJ_VALUE_NONE)
    return moved (b, out);
  memcpy (args, given, b->call->schema->n_arguments * sizeof *args);
  args[0].tensor = batching_front (b, 0);
  if (args[0].tensor != NULL && rank != 1)
    args[0].tensor =
        ADJ_APPLY (b->call->cx, ADJ_OP_reshape, ADJ_TENSOR (args[0].tensor),
                   list_of ((AdjValue[]){ adj_value_from_size (b->level->size), ADJ_INT (-1) }, 2));
  args[1] = ADJ_INT (1);
  return args[0].tensor != NULL && adj_call_bound (b->call->cx, b->call->op, args, out);
}

static gboolean
permuted (Batching *b, AdjValue *out)
{
  const AdjValue *order = &b->call->args[1];
  guint rank = batching_rank (b, 0);
  AdjValue items[ADJ_MAX_RANK + 1] = { ADJ_INT (0) };

  for (guint i = 0; i < order->n && i < ADJ_MAX_RANK; i++)
    items[i + 1] = shift (order->items[i].integer, rank);
  return give (ADJ_APPLY (b->call->cx, ADJ_OP_permute, ADJ_TENSOR (batching_front (b, 0)),
                          list_of (items, order->n + 1)),
               out);
}

static gboolean
expanded (Batching *b, AdjValue *out)
{
  const AdjValue *wanted = &b->call->args[1];
  AdjTensor *front = batching_front (b, 0);

  if (front != NULL)
    front = batching_view_padded (b->call->cx, front, wanted->n);
  return front != NULL && give (ADJ_APPLY (b->call->cx, ADJ_OP_expand, ADJ_TENSOR (front),
                                           batching_with_size (b, wanted)),
                                out);
}

static gboolean
transposed (Batching *b, AdjValue *out)
{
  AdjTensor *front = batching_front (b, 0);

  if (batching_rank (b, 0) < 2)
    return give (front, out);
  return give (
      ADJ_APPLY (b->call->cx, ADJ_OP_transpose_int, ADJ_TENSOR (front), ADJ_INT (1), ADJ_INT (2)),
      out);
}

/* (self, dim) */
static gboolean
squeezed_at (Batching *b, AdjValue *out)
{
  guint rank = batching_rank (b, 0);
  AdjValue dim = rank > 0 ? shift (b->call->args[1].integer, rank) : ADJ_NONE;
  AdjTensor *front = batching_front (b, 0);

  if (front == NULL || rank == 0)
    return give (front, out);
  return give (ADJ_APPLY (b->call->cx, ADJ_OP_squeeze_dims, ADJ_TENSOR (front), list_of (&dim, 1)),
               out);
}

static gboolean
squeezed (Batching *b, AdjValue *out)
{
  AdjTensor *front = batching_front (b, 0);
  AdjValue items[ADJ_MAX_RANK];
  guint n = 0;

  for (guint i = 1; front != NULL && i < adj_tensor_get_rank (front); i++)
    if (adj_size_is (adj_context_get_symbols (b->call->cx),
                     adj_tensor_get_meta (front)->shape.size[i], 1))
      items[n++] = ADJ_INT (i);
  return front != NULL &&
         give (ADJ_APPLY (b->call->cx, ADJ_OP_squeeze_dims, ADJ_TENSOR (front), list_of (items, n)),
               out);
}

/* (a, dtype): by _to_copy, which PyTorch calls instead. */
static gboolean
converted (Batching *b, AdjValue *out)
{
  AdjTensor *front = batching_front (b, 0);
  AdjValue device = { .kind = ADJ_VALUE_DEVICE };

  if (front == NULL)
    return FALSE;
  device.device = adj_tensor_get_meta (front)->device;
  return adj_call_bound (b->call->cx, adj_op (ADJ_OP__to_copy),
                         (const AdjValue[]){ ADJ_TENSOR (front), b->call->args[1], ADJ_NONE, device,
                                             ADJ_NONE, ADJ_BOOL (FALSE), ADJ_NONE },
                         out);
}

/* A reduction to one number becomes one over all dimensions but the batch: (self, dim, keepdim),
 * and dtype if it has one. */
static gboolean
reduce_by (Batching *b, AdjOpId by, AdjValue dtype, AdjValue *out)
{
  AdjTensor *front = batching_front (b, 0);
  AdjValue all = shift_all (b, &ADJ_NONE, batching_rank (b, 0));
  const AdjValue args[] = { ADJ_TENSOR (front), all, ADJ_BOOL (FALSE), dtype };

  if (front == NULL || all.n == 0)
    return give (front, out);
  return adj_call_bound (b->call->cx, adj_op (by), args, out);
}

static gboolean
summed (Batching *b, AdjValue *out)
{
  return reduce_by (b, ADJ_OP_sum_dim_IntList, b->call->args[1], out);
}

static gboolean
averaged (Batching *b, AdjValue *out)
{
  return reduce_by (b, ADJ_OP_mean_dim, b->call->args[1], out);
}

static gboolean
greatest (Batching *b, AdjValue *out)
{
  return reduce_by (b, ADJ_OP_amax, ADJ_NONE, out);
}

static gboolean
least (Batching *b, AdjValue *out)
{
  return reduce_by (b, ADJ_OP_amin, ADJ_NONE, out);
}

/* -- products -- */

static AdjTensor *
multiply (const Batching *b, AdjTensor *left, AdjTensor *right)
{
  return left == NULL || right == NULL
             ? NULL
             : ADJ_APPLY (b->call->cx, ADJ_OP_matmul, ADJ_TENSOR (left), ADJ_TENSOR (right));
}

static gboolean
matrices (Batching *b, AdjValue *out)
{
  return give (multiply (b, batching_front (b, 0), batching_front (b, 1)), out);
}

/* Argument @arg, a vector, as a matrix with a dimension of size 1 at @dim, if it is batched. */
static AdjTensor *
vector_as_matrix (const Batching *b, guint arg, gint64 dim)
{
  AdjTensor *front = batching_front (b, arg);

  return front != NULL && batching_is_batched (b, arg)
             ? ADJ_APPLY (b->call->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (front), ADJ_INT (dim))
             : front;
}

static AdjTensor *
without (const Batching *b, AdjTensor *tensor, gint64 dim)
{
  return tensor == NULL
             ? NULL
             : ADJ_APPLY (b->call->cx, ADJ_OP_squeeze_dim, ADJ_TENSOR (tensor), ADJ_INT (dim));
}

static gboolean
matrix_and_vector (Batching *b, AdjValue *out)
{
  AdjTensor *front = batching_front (b, 1);

  if (front != NULL && !batching_is_batched (b, 0))
    {
      b->dim = 1;
      return give (multiply (b, b->call->args[0].tensor,
                             ADJ_APPLY (b->call->cx, ADJ_OP_movedim_int, ADJ_TENSOR (front),
                                        ADJ_INT (0), ADJ_INT (-1))),
                   out);
    }
  front = multiply (b, batching_front (b, 0), vector_as_matrix (b, 1, -1));
  return give (batching_is_batched (b, 1) ? without (b, front, -1) : front, out);
}

static gboolean
vectors (Batching *b, AdjValue *out)
{
  AdjTensor *product = multiply (b, vector_as_matrix (b, 0, -2), vector_as_matrix (b, 1, -1));

  if (batching_is_batched (b, 0))
    product = without (b, product, -2);
  return give (batching_is_batched (b, 1) ? without (b, product, -1) : product, out);
}

/* -- a factor or a summand that comes after: addmm, addmv, baddbmm, in calls of this level -- */

static const struct
{
  AdjOpId op, product;
} sums[] = {
  { ADJ_OP_addmm, ADJ_OP_mm },
  { ADJ_OP_addmv, ADJ_OP_mv },
  { ADJ_OP_baddbmm, ADJ_OP_bmm },
};

static AdjOpId
product_of (const AdjOp *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (sums); i++)
    if (op == adj_op (sums[i].op))
      return sums[i].product;
  g_return_val_if_reached (ADJ_OP_mm);
}

/* (self, left, right, beta, alpha) */
static gboolean
product_and_sum (Batching *b, AdjValue *out)
{
  AdjContext *cx = b->call->cx;
  const AdjValue *args = b->call->args;
  AdjMode *entry = adj_context_set_entry (cx, &b->level->mode);
  AdjTensor *product = ADJ_APPLY (cx, product_of (b->call->op), args[1], args[2]), *self;
  gboolean done;

  self = product == NULL ? NULL : ADJ_APPLY (cx, ADJ_OP_mul_Scalar, args[0], args[3]);
  done =
      self != NULL &&
      adj_call_bound (cx, adj_op (ADJ_OP_add_Tensor),
                      (const AdjValue[]){ ADJ_TENSOR (self), ADJ_TENSOR (product), args[4] }, out);
  adj_context_set_entry (cx, entry);
  b->wrapped = TRUE;
  return done;
}

/* -- copies -- */

/* (self, repeats) */
static gboolean
repeated (Batching *b, AdjValue *out)
{
  AdjContext *cx = b->call->cx;
  const AdjValue *repeats = &b->call->args[1];
  AdjTensor *self = batching_front (b, 0);
  AdjValue *items = adj_scope_alloc (cx, (repeats->n + 1) * sizeof *items);

  for (guint i = batching_rank (b, 0); i < repeats->n && self != NULL; i++)
    self = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (self), ADJ_INT (1));
  items[0] = ADJ_INT (1);
  memcpy (items + 1, repeats->items, repeats->n * sizeof *items);
  return self != NULL &&
         give (ADJ_APPLY (cx, ADJ_OP_repeat, ADJ_TENSOR (self), list_of (items, repeats->n + 1)),
               out);
}

/* -- the table -- */

static const struct
{
  AdjOpId op;
  BatchFunc rule;
} rules[] = {
#define BATCH(op, rule) { ADJ_OP_##op, rule },
#include "autograd/batching-rules.inc"
#undef BATCH
};

BatchFunc
batching_find_rule (const AdjOp *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (op == adj_op (rules[i].op))
      return rules[i].rule;
  return adj_op_is_pointwise (op) ? batching_pointwise : NULL;
}
