/* SPDX-License-Identifier: MIT */
/* Launches matrix products. */

#include "launch.h"

/* Copies an addend with a layout that libraries do not support into the result first. */
static bool
run_by_library (AdjKQueue *queue, const AdjKGemm *gemm)
{
  AdjKGemm onto = *gemm;

  if (queue->device->gemm (queue, gemm))
    return true;
  if (gemm->d == NULL || gemm->beta == 0 || gemm->d->data == gemm->c.data)
    return false;
  adj_k_cuda_copy (queue, &gemm->c, gemm->d);
  onto.d = &onto.c;
  return queue->device->gemm (queue, &onto);
}

static AdjKView
widen (AdjKQueue *queue, const AdjKView *view)
{
  AdjKView wide = adj_k_cuda_temporary (queue, view, ADJ_K_F32);

  if (wide.data != NULL)
    adj_k_cuda_copy (queue, &wide, view);
  return wide;
}

/* Operands of different types are converted to f32, and the result is rounded at the end. */
static bool
run_widened (AdjKQueue *queue, const AdjKGemm *gemm)
{
  AdjKGemm wide = *gemm;

  wide.a = widen (queue, &gemm->a);
  wide.b = widen (queue, &gemm->b);
  wide.c = adj_k_cuda_temporary (queue, &gemm->c, ADJ_K_F32);
  if (wide.a.data == NULL || wide.b.data == NULL || wide.c.data == NULL)
    return true; /* the queue reports the error */
  if (!run_by_library (queue, &wide))
    return false;
  adj_k_cuda_copy (queue, &gemm->c, &wide.c);
  return true;
}

static bool
run_fast (AdjKQueue *queue, const AdjKGemm *gemm)
{
  AdjKClass klass = class_of (gemm->c.type);

  if (queue->device->gemm == NULL || klass == ADJ_K_CLASS_I64 || adj_k_view_count (&gemm->c) == 0 ||
      gemm->a.size[gemm->a.rank - 1] == 0)
    return false;
  return run_by_library (queue, gemm) ||
         (klass == ADJ_K_CLASS_F32 && gemm->a.type != gemm->b.type && run_widened (queue, gemm));
}

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

  if (run_fast (queue, gemm))
    return;
  if (gemm->d)
    args.d = *gemm->d;
  RUN_BLOCKS (queue, OF_CLASS ("adj_gemm", klass),
              args.n_batches * count_product_tiles (args.m, args.n), CUDA_CHUNK, args);
}
