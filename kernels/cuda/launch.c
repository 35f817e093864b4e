/* SPDX-License-Identifier: MIT */
/* Sizes of grids, and scratch views. */

#include "launch.h"
#include "source.h"

static AdjKLaunch
shape_of (int64_t blocks, int64_t threads)
{
  return (AdjKLaunch){ .grid = { (uint32_t) min_i64 (blocks, CUDA_BLOCKS), 1, 1 },
                       .block = { (uint32_t) threads, 1, 1 } };
}

static void
launch (AdjKQueue *queue,
        const char *symbol,
        int64_t blocks,
        int64_t threads,
        const void *args,
        size_t size)
{
  AdjKLaunch shape = shape_of (blocks, threads);

  if (!adj_k_cuda_run_special (queue, symbol, &shape, args, size))
    queue->device->launch (queue, symbol, &shape, args, size);
}

void
adj_k_cuda_run (AdjKQueue *queue, const char *symbol, int64_t n, const void *args, size_t size)
{
  if (n > 0)
    launch (queue, symbol, (n + CUDA_THREADS - 1) / CUDA_THREADS, CUDA_THREADS, args, size);
}

void
adj_k_cuda_run_as_it_is (
    AdjKQueue *queue, const char *symbol, int64_t n, const void *args, size_t size)
{
  AdjKLaunch shape = shape_of ((n + CUDA_THREADS - 1) / CUDA_THREADS, CUDA_THREADS);

  if (n > 0)
    queue->device->launch (queue, symbol, &shape, args, size);
}

/* Rows of at most one leaf need no more threads than a leaf has lanes. */
void
adj_k_cuda_run_blocks (
    AdjKQueue *queue, const char *symbol, int64_t n, int64_t work, const void *args, size_t size)
{
  if (n > 0)
    launch (queue, symbol, n, work <= LEAF ? LANES : CUDA_THREADS, args, size);
}

void
adj_k_cuda_run_rows (
    AdjKQueue *queue, const char *symbol, int64_t n, int64_t length, const void *args, size_t size)
{
  if (n > 0)
    launch (queue, symbol, n,
            length <= LEAF       ? LANES
            : length <= 4 * LEAF ? CUDA_THREADS
                                 : 2 * CUDA_THREADS,
            args, size);
}

AdjKView
adj_k_cuda_temporary (AdjKQueue *queue, const AdjKView *like, AdjKType type)
{
  AdjKView out = *like;
  int64_t stride = 1;

  out.type = type;
  for (int d = like->rank; d-- > 0; stride *= like->size[d])
    out.stride[d] = stride;
  out.data = queue->device->scratch (queue, (size_t) (stride > 0 ? stride : 1) *
                                                adj_k_type_get_size (type));
  return out;
}
