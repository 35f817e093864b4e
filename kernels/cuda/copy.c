/* SPDX-License-Identifier: MIT */
/* Launches copies, fills, ranges and triangles. */

#include <string.h>

#include "launch.h"

void
adj_k_cuda_copy (AdjKQueue *queue, const AdjKView *dst, const AdjKView *src)
{
  AdjKView views[2] = { *dst, *src };
  CopyArgs args = { .n = adj_k_view_count (dst) };

  adj_k_views_merge_any_order (views, 2);
  args.dst = views[0];
  args.src = views[1];
  RUN (queue, "adj_copy", args.n, args);
}

static void
fill (AdjKQueue *queue, const AdjKView *dst, AdjKType type, Number number)
{
  CopyArgs args = { .dst = *dst, .number = number, .is_number = true };

  adj_k_views_merge_any_order (&args.dst, 1);
  args.src.type = type;
  args.n = adj_k_view_count (dst);
  RUN (queue, "adj_copy", args.n, args);
}

void
adj_k_cuda_fill_f64 (AdjKQueue *queue, const AdjKView *dst, double value)
{
  fill (queue, dst, ADJ_K_F64, (Number){ .f = value });
}

void
adj_k_cuda_fill_i64 (AdjKQueue *queue, const AdjKView *dst, int64_t value)
{
  fill (queue, dst, ADJ_K_I64, (Number){ .i = value });
}

void
adj_k_cuda_iota_f64 (AdjKQueue *queue, const AdjKView *dst, double start, double step)
{
  IotaArgs args = {
    .dst = *dst, .n = adj_k_view_count (dst), .start.f = start, .step.f = step, .is_float = true
  };

  RUN (queue, "adj_iota", args.n, args);
}

void
adj_k_cuda_iota_i64 (AdjKQueue *queue, const AdjKView *dst, int64_t start, int64_t step)
{
  IotaArgs args = { .dst = *dst, .n = adj_k_view_count (dst), .start.i = start, .step.i = step };

  RUN (queue, "adj_iota", args.n, args);
}

void
adj_k_cuda_tril (AdjKQueue *queue, const AdjKView *dst, const AdjKView *src, int64_t diagonal)
{
  TriangleArgs args = {
    .dst = *dst, .src = *src, .n = adj_k_view_count (dst), .diagonal = diagonal
  };

  RUN (queue, "adj_triangle", args.n, args);
}

void
adj_k_cuda_triu (AdjKQueue *queue, const AdjKView *dst, const AdjKView *src, int64_t diagonal)
{
  TriangleArgs args = {
    .dst = *dst, .src = *src, .n = adj_k_view_count (dst), .diagonal = diagonal, .upper = true
  };

  RUN (queue, "adj_triangle", args.n, args);
}
