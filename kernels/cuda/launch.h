/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cuda: how the launchers, one per row of ADJ_K_ENTRIES, start kernels. */

#include "cpu/tile.h"
#include "cuda/args.h"

#define DECLARE_LAUNCHER(RESULT, name, parameters, arguments)                                      \
  RESULT adj_k_cuda_##name (ADJ_K_PARAMETERS parameters);
ADJ_K_ENTRIES (DECLARE_LAUNCHER)
#undef DECLARE_LAUNCHER

enum
{
  CUDA_THREADS = 256,    /* of a block */
  CUDA_BLOCKS = 1 << 20, /* of a grid, at most; kernels take what is left in turns */
  CUDA_CHUNK = 64 * LEAF /* elements of a row that one block reduces: as in fold.h */
};

/* @n elements, a thread each; or @n blocks, whose threads do for @work elements. */
void
adj_k_cuda_run (AdjKQueue *queue, const char *symbol, int64_t n, const void *args, size_t size);
void adj_k_cuda_run_blocks (
    AdjKQueue *queue, const char *symbol, int64_t n, int64_t work, const void *args, size_t size);

#define RUN(queue, symbol, n, args) adj_k_cuda_run (queue, symbol, n, &(args), sizeof (args))
#define RUN_BLOCKS(queue, symbol, n, work, args)                                                   \
  adj_k_cuda_run_blocks (queue, symbol, n, work, &(args), sizeof (args))

/* The kernel @name of @klass: name_f32. */
#define OF_CLASS(name, klass)                                                                      \
  ((klass) == ADJ_K_CLASS_F32   ? name "_f32"                                                      \
   : (klass) == ADJ_K_CLASS_F64 ? name "_f64"                                                      \
                                : name "_i64")

/* A dense view over scratch memory with the sizes of @like; without data when there is none. */
AdjKView adj_k_cuda_temporary (AdjKQueue *queue, const AdjKView *like, AdjKType type);

/* Class, along @dims (bit set): the dims of @view merged. */
static inline AdjKView
along (const AdjKView *view, uint32_t dims)
{
  AdjKView out = adj_k_view_keep (view, dims);

  adj_k_views_merge (&out, 1);
  return out;
}
