/* SPDX-License-Identifier: MIT */
/* Launches matrix products. */

#include "launch.h"

enum
{
  EDGE = 16 /* of a tile: as in gemm.cu */
};

void
adj_k_cuda_gemm (AdjKQueue *queue, const AdjKGemm *gemm)
{
  int batched = gemm->c.rank == 3;
  AdjKClass klass = class_of (gemm->c.type);
  GemmArgs args = { .a = gemm->a,
                    .b = gemm->b,
                    .c = gemm->c,
                    .m = gemm->c.size[batched],
                    .n = gemm->c.size[batched + 1],
                    .k = gemm->a.size[batched + 1],
                    .n_batches = batched ? gemm->c.size[0] : 1,
                    .alpha = gemm->alpha,
                    .beta = gemm->beta,
                    .batched = batched };

  if (gemm->d)
    args.d = *gemm->d;
  RUN_BLOCKS (queue, OF_CLASS ("adj_gemm", klass),
              args.n_batches * ((args.m + EDGE - 1) / EDGE) * ((args.n + EDGE - 1) / EDGE),
              CUDA_CHUNK, args);
}
