/* SPDX-License-Identifier: MIT */
/* Pooling to a given size, and unpooling of maxima. */

#include "ops/pool-private.h"
#include "ops/table-private.h"

/* -- windows that divide the input evenly -- */

static gboolean
check_floating (const AdjOpCall *call, const AdjTensorMeta *self)
{
  return adj_dtype_is_floating (self->dtype) ||
         adj_op_call_fail (call, "needs floating point, not %s",
                           adj_dtype_info (self->dtype)->torch_name);
}

/* The sizes of argument 0 with the last ones replaced by those of argument @arg. */
static gboolean
wanted_sizes (const AdjOpCall *call, guint arg, AdjSize *sizes)
{
  const AdjShape *shape = &adj_op_call_meta (call, 0)->shape;
  AdjSize output[ADJ_MAX_RANK];
  guint given = adj_op_call_sizes (call, arg, output), n = op_n_axes (call);

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (given != 1 && given != n)
    return adj_op_call_fail (call, "output_size has %u entries for %u dimensions", given, n);
  for (guint i = 0; i < shape->rank - n; i++)
    sizes[i] = shape->size[i];
  for (guint i = 0; i < n; i++)
    {
      AdjSize size = output[given == 1 ? 0 : i];

      sizes[shape->rank - n + i] = size;
      if (adj_size_test (op_symbols (call), ADJ_SIZE_LT, size, ADJ_SIZE (0)))
        return adj_op_call_fail (call, "output_size is negative");
    }
  return TRUE;
}

static gboolean
adaptive_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = pool_self (call, 0);
  AdjSize sizes[OP_MAX_AXES + 2];

  return self != NULL && check_floating (call, self) && wanted_sizes (call, 1, sizes) &&
         pool_add_like (call, 0, self->dtype, sizes);
}

static gboolean
adaptive_max_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = pool_self (call, 0);
  guint n = op_n_axes (call);
  AdjSize sizes[OP_MAX_AXES + 2];

  if (self == NULL || !check_floating (call, self) || !wanted_sizes (call, 1, sizes))
    return FALSE;
  for (guint i = self->shape.rank - n; i < self->shape.rank; i++)
    if (adj_size_is (op_symbols (call), self->shape.size[i], 0))
      return adj_op_call_fail (call, "dimension %u has no elements", i);
  return pool_add_like (call, 0, self->dtype, sizes) &&
         pool_add_like (call, 0, ADJ_DTYPE_I64, sizes);
}

static gboolean
adaptive_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = pool_self (call, 1);
  const AdjShape *grad = &adj_op_call_meta (call, 0)->shape;
  AdjSize sizes[OP_MAX_AXES + 2];

  if (self == NULL || !check_floating (call, self))
    return FALSE;
  for (guint i = 0; i < self->shape.rank; i++)
    sizes[i] = i + op_n_axes (call) < self->shape.rank || grad->rank != self->shape.rank
                   ? self->shape.size[i]
                   : grad->size[i];
  return pool_check_sizes (call, 0, &self->shape, sizes) && pool_add_gradient (call);
}

static gboolean
adaptive_max_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *indices = adj_op_call_meta (call, 2);

  if (!adaptive_backward_meta (call))
    return FALSE;
  if (indices->dtype != ADJ_DTYPE_I64)
    return adj_op_call_fail (call, "indices must be int64");
  return pool_check_sizes (call, 2, &adj_op_call_meta (call, 0)->shape,
                           adj_op_call_meta (call, 0)->shape.size);
}

static gboolean
adaptive_max_kernel (AdjOpCall *call)
{
  AdjKPool pool = { .adaptive = TRUE };

  return pool_write_maxima (call, &pool);
}

static gboolean
adaptive_max_backward_kernel (AdjOpCall *call)
{
  return pool_put_back (call, 0, 2, FALSE);
}

static gboolean
adaptive_kernel (AdjOpCall *call)
{
  AdjKPool pool = { .adaptive = TRUE };

  if (!pool_read (call, 0, &pool.x) || !pool_write (call, 0, &pool.y))
    return FALSE;
  return adj_q_avg_pool (op_queue (call), &pool) || op_no_memory (call);
}

static gboolean
adaptive_backward_kernel (AdjOpCall *call)
{
  AdjKPool pool = { .adaptive = TRUE };

  if (!pool_read (call, 0, &pool.y) || !pool_write (call, 0, &pool.x))
    return FALSE;
  return adj_q_avg_pool_backward (op_queue (call), &pool) || op_no_memory (call);
}

/* -- maxima back in their places -- */

static gboolean
unpool_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = pool_self (call, 0);
  AdjSize sizes[OP_MAX_AXES + 2];

  if (self == NULL || !wanted_sizes (call, 2, sizes))
    return FALSE;
  if (adj_op_call_meta (call, 1)->dtype != ADJ_DTYPE_I64)
    return adj_op_call_fail (call, "indices must be int64");
  return pool_check_sizes (call, 1, &self->shape, self->shape.size) &&
         pool_add_like (call, 0, self->dtype, sizes);
}

/* PyTorch traces the first steps of its kernel. */
static void
unpool_traced (AdjOpCall *call)
{
  AdjShape *shape = &call->results[0].meta.shape;
  const AdjShape eager = *shape;

  adj_shape_init (shape, op_symbols (call), eager.rank, eager.size);
}

static gboolean
unpool_kernel (AdjOpCall *call)
{
  return pool_put_back (call, 0, 1, TRUE);
}

/* -- costs -- */

static double
gradient_flops (const AdjOpCall *call)
{
  return op_count (call, &adj_op_call_meta (call, 0)->shape);
}

static double
adaptive_elements (const AdjOpCall *call)
{
  return op_count (call, &adj_op_call_meta (call, 0)->shape) /
         MAX (op_count (call, &call->results[0].meta.shape), 1);
}

/* Number of windows that an element may belong to. */
static double
adaptive_backward_elements (const AdjOpCall *call)
{
  return MAX (4, op_count (call, &adj_op_call_meta (call, 0)->shape) /
                     MAX (op_count (call, &adj_op_call_meta (call, 1)->shape), 1));
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/adaptive-pool.inc"
};

const OpFamily adj_family_adaptive_pool = { ops, G_N_ELEMENTS (ops) };
