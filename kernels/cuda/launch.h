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
  CUDA_THREADS = 256,     /* of a block */
  CUDA_BLOCKS = 1 << 20,  /* of a grid, at most; kernels loop over the rest */
  CUDA_CHUNK = 64 * LEAF, /* work for a whole block */
  CUDA_COLUMNS = 16,      /* columns that a block reduces at once: as in fold.h */
  CUDA_SEGMENT = 65536,   /* random words of a block, if several draw */
  CUDA_SEGMENTS = 16      /* blocks that draw, at most */
};

/* Row k: the terms of a jump over k + 1 segments (twister-jumps.py). */
extern const uint32_t adj_k_twister_jumps[CUDA_SEGMENTS - 1][ADJ_K_TWISTER_WORDS];

/* Runs a thread for each of @n elements; or @n blocks, each for @work elements.  "As it is" uses
 * the kernel of the library, without one specialised for these arguments, which hardly ever repeat.
 */
void
adj_k_cuda_run (AdjKQueue *queue, const char *symbol, int64_t n, const void *args, size_t size);
void adj_k_cuda_run_blocks (
    AdjKQueue *queue, const char *symbol, int64_t n, int64_t work, const void *args, size_t size);

void adj_k_cuda_run_as_it_is (
    AdjKQueue *queue, const char *symbol, int64_t n, const void *args, size_t size);

#define RUN_AS_IT_IS(queue, symbol, n, args)                                                       \
  adj_k_cuda_run_as_it_is (queue, symbol, n, &(args), sizeof (args))
/* Runs @n blocks, each for a row of @length elements: long rows get more threads. */
void adj_k_cuda_run_rows (
    AdjKQueue *queue, const char *symbol, int64_t n, int64_t length, const void *args, size_t size);

#define RUN_ROWS(queue, symbol, n, length, args)                                                   \
  adj_k_cuda_run_rows (queue, symbol, n, length, &(args), sizeof (args))
#define RUN(queue, symbol, n, args) adj_k_cuda_run (queue, symbol, n, &(args), sizeof (args))
#define RUN_BLOCKS(queue, symbol, n, work, args)                                                   \
  adj_k_cuda_run_blocks (queue, symbol, n, work, &(args), sizeof (args))

/* The kernel @name of @klass: name_f32. */
#define OF_CLASS(name, klass)                                                                      \
  ((klass) == ADJ_K_CLASS_F32   ? name "_f32"                                                      \
   : (klass) == ADJ_K_CLASS_F64 ? name "_f64"                                                      \
                                : name "_i64")

/* For sums over @args->n elements for @args->n_outputs adjacent outputs: the number of blocks that
 * share them, with memory for partial sums; 0: memory ran out.  Then joins the partial sums. */
int64_t adj_k_cuda_share_columns (AdjKQueue *queue, AdjKClass klass, ReduceArgs *args);
void adj_k_cuda_join_parts (AdjKQueue *queue, AdjKClass klass, const ReduceArgs *args);

/* A dense view of scratch memory with the sizes of @like; without data when memory ran out. */
AdjKView adj_k_cuda_temporary (AdjKQueue *queue, const AdjKView *like, AdjKType type);

/* Tiles of a matrix of @m × @n, for a block each. */
static inline int64_t
count_product_tiles (int64_t m, int64_t n)
{
  return (m + PRODUCT_EDGE - 1) / PRODUCT_EDGE * ((n + PRODUCT_EDGE - 1) / PRODUCT_EDGE);
}

/* Class, along @dims (bit set): the dims of @view merged. */
static inline AdjKView
along (const AdjKView *view, uint32_t dims)
{
  AdjKView out = adj_k_view_keep (view, dims);

  adj_k_views_merge (&out, 1);
  return out;
}
