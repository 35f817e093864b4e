/* SPDX-License-Identifier: MIT */
/* Launches pooling. */

#include "launch.h"

static AdjKView
volumes_of (const AdjKView *view)
{
  AdjKView out = *view;

  out.rank -= 3;
  return out;
}

static PoolArgs
pool_args (const AdjKPool *pool, const AdjKView *indices)
{
  PoolArgs args = { .pool = *pool,
                    .x_volumes = volumes_of (&pool->x),
                    .y_volumes = volumes_of (&pool->y) };

  if (indices != NULL)
    {
      args.indices = *indices;
      args.i_volumes = volumes_of (indices);
    }
  return args;
}

bool
adj_k_cuda_max_pool (AdjKQueue *queue, const AdjKPool *pool, const AdjKView *indices)
{
  PoolArgs args = pool_args (pool, indices);

  args.n = adj_k_view_count (&pool->y);
  RUN (queue, OF_CLASS ("adj_max_pool", class_of (pool->x.type)), args.n, args);
  return true;
}

bool
adj_k_cuda_avg_pool (AdjKQueue *queue, const AdjKPool *pool)
{
  PoolArgs args = pool_args (pool, NULL);

  args.n = adj_k_view_count (&pool->y);
  RUN (queue, OF_CLASS ("adj_avg_pool", class_of (pool->x.type)), args.n, args);
  return true;
}

bool
adj_k_cuda_avg_pool_backward (AdjKQueue *queue, const AdjKPool *pool)
{
  PoolArgs args = pool_args (pool, NULL);

  args.n = adj_k_view_count (&pool->x);
  RUN (queue, OF_CLASS ("adj_avg_pool_backward", class_of (pool->x.type)), args.n, args);
  return true;
}

bool
adj_k_cuda_pool_check (AdjKQueue *queue, const AdjKView *indices, int64_t n, int64_t *bad)
{
  CheckArgs args = {
    .indices = *indices, .faults = queue->faults, .n = adj_k_view_count (indices), .limit = n
  };

  RUN (queue, "adj_check", args.n, args);
  return true;
}

bool
adj_k_cuda_unpool (
    AdjKQueue *queue, const AdjKView *x, const AdjKView *y, const AdjKView *indices, bool last)
{
  AdjKClass klass = class_of (x->type);
  AdjKView sums = adj_k_cuda_temporary (queue, x, adj_k_loops ()->klass[klass].type);
  AdjKPool pool = { .x = *x, .y = *y };
  PoolArgs args = pool_args (&pool, indices);

  if (sums.data == NULL)
    return false;
  adj_k_cuda_fill_i64 (queue, &sums, 0);
  args.sums = sums.data;
  args.n = adj_k_view_count (&args.x_volumes);
  args.last = last;
  RUN_BLOCKS (queue, OF_CLASS ("adj_unpool", klass), args.n, CUDA_CHUNK, args);
  adj_k_cuda_copy (queue, x, &sums);
  return true;
}
