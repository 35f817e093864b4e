/* SPDX-License-Identifier: MIT */
/* Shared by all poolings: images as volumes, dense copies of arguments, results in their memory
 * format. */

#include "ops/pool-private.h"

const AdjTensorMeta *
pool_self (const AdjOpCall *call, guint arg)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, arg);
  guint n = op_n_axes (call);

  if (adj_context_has_error (call->cx))
    return NULL;
  if (self->shape.rank != n + 1 && self->shape.rank != n + 2)
    {
      adj_op_call_fail (call, "the input has rank %u, not %u or %u", self->shape.rank, n + 1,
                        n + 2);
      return NULL;
    }
  return self;
}

gboolean
pool_check_sizes (const AdjOpCall *call, guint arg, const AdjShape *like, const AdjSize *sizes)
{
  const AdjShape *shape = &adj_op_call_meta (call, arg)->shape;
  AdjShape wanted;

  adj_shape_init (&wanted, op_symbols (call), like->rank, sizes);
  if (!adj_shape_same_sizes (shape, &wanted, op_symbols (call)))
    {
      g_autofree char *a = op_sizes_text (call, shape);
      g_autofree char *b = op_sizes_text (call, &wanted);

      return adj_op_call_fail (call, "argument '%s' is %s, not %s",
                               call->schema->arguments[arg].name, a, b);
    }
  return TRUE;
}

/* Averages and adaptive pooling of volumes are never channels last. */
static gboolean
keeps_format (const AdjOpCall *call)
{
  return op_n_axes (call) < 3 || g_str_has_prefix (call->schema->name, "max_pool");
}

gboolean
pool_add_like (AdjOpCall *call, guint self, AdjDType dtype, const AdjSize *sizes)
{
  op_add_format (call, dtype, adj_op_call_meta (call, self)->shape.rank, sizes,
                 keeps_format (call) && op_is_channels_last (call, self));
  return TRUE;
}

gboolean
pool_add_gradient (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 1);

  if (adj_op_call_meta (call, 0)->dtype != self->dtype)
    return adj_op_call_fail (call, "the gradient has another dtype than the input");
  return pool_add_like (call, 1, self->dtype, self->shape.size);
}

gboolean
pool_read (const AdjOpCall *call, guint arg, AdjKView *out)
{
  if (!op_input (call, arg, out))
    return FALSE;
  op_make_volume (out, op_n_axes (call));
  return TRUE;
}

gboolean
pool_write (const AdjOpCall *call, guint result, AdjKView *out)
{
  if (!op_output (call, result, out))
    return FALSE;
  op_make_volume (out, op_n_axes (call));
  return TRUE;
}

gboolean
pool_write_maxima (AdjOpCall *call, AdjKPool *pool)
{
  AdjKView indices;

  if (!pool_read (call, 0, &pool->x) || !pool_write (call, 0, &pool->y) ||
      !pool_write (call, 1, &indices))
    return FALSE;
  return adj_q_max_pool (op_queue (call), pool, &indices) || op_no_memory (call);
}

gboolean
pool_put_back (AdjOpCall *call, guint values, guint places, gboolean last)
{
  AdjKView x, y, indices;
  gint64 bad;

  if (!pool_read (call, values, &y) || !pool_read (call, places, &indices) ||
      !pool_write (call, 0, &x))
    return FALSE;
  if (!adj_q_pool_check (op_queue (call), &indices,
                         x.size[x.rank - 3] * x.size[x.rank - 2] * x.size[x.rank - 1], &bad))
    return op_bad_index (call, bad);
  return adj_q_unpool (op_queue (call), &x, &y, &indices, last) || op_no_memory (call);
}
