/* SPDX-License-Identifier: MIT */
/* Launches reductions, extremes and scans. */

#include <math.h>

#include "launch.h"

void
adj_k_cuda_reduce (
    AdjKQueue *queue, AdjKReduce kind, const AdjKView *out, const AdjKView *in, uint32_t dims)
{
  bool logical = kind == ADJ_K_ANY || kind == ADJ_K_ALL;
  AdjKClass klass = class_of (logical ? in->type : out->type);
  AdjKView kept[2] = { adj_k_view_keep (in, ~dims), adj_k_view_keep (out, ~dims) };
  ReduceArgs args = { .along = along (in, dims), .kind = kind };

  adj_k_views_merge_any_order (kept, 2);
  args.kept = kept[0];
  args.out = kept[1];
  args.n = adj_k_view_count (&args.along);
  args.n_outputs = adj_k_view_count (&args.kept);
  args.n_chunks = args.n > CUDA_CHUNK ? (args.n + CUDA_CHUNK - 1) / CUDA_CHUNK : 1;
  if (args.n_chunks > 1)
    {
      args.parts = queue->device->scratch (queue, (size_t) (args.n_outputs * args.n_chunks) *
                                                      class_size (klass));
      if (args.parts == NULL)
        return;
    }
  RUN_BLOCKS (queue, OF_CLASS ("adj_reduce", klass), args.n_outputs * args.n_chunks, args.n, args);
  if (args.n_chunks > 1)
    RUN (queue, OF_CLASS ("adj_reduce_end", klass), args.n_outputs, args);
}

void
adj_k_cuda_var_mean (AdjKQueue *queue,
                     const AdjKView *var,
                     const AdjKView *mean,
                     const AdjKView *in,
                     uint32_t dims,
                     double correction)
{
  const AdjKView *any = var ? var : mean;
  AdjKView kept[3] = { adj_k_view_keep (in, ~dims), adj_k_view_keep (any, ~dims),
                       adj_k_view_keep (mean ? mean : any, ~dims) };
  VarianceArgs args = { .along = along (in, dims) };

  adj_k_views_merge_any_order (kept, 3);
  args.kept = kept[0];
  if (var)
    args.var = kept[1];
  if (mean)
    args.mean = kept[2];
  args.n = adj_k_view_count (&args.along);
  args.n_outputs = adj_k_view_count (&args.kept);
  args.divisor = fmax ((double) args.n - correction, 0);
  RUN_BLOCKS (queue, OF_CLASS ("adj_variance", class_of (any->type)), args.n_outputs, args.n, args);
}

static void
extreme (AdjKQueue *queue,
         const AdjKView *values,
         const AdjKView *indices,
         const AdjKView *in,
         int dim,
         bool smallest)
{
  uint32_t dims = dim < 0 ? UINT32_MAX : UINT32_C (1) << dim;
  ExtremeArgs args = { .kept = adj_k_view_keep (in, ~dims),
                       .along = along (in, dims),
                       .indices = adj_k_view_keep (indices, ~dims),
                       .smallest = smallest };

  if (values)
    args.values = adj_k_view_keep (values, ~dims);
  args.n = adj_k_view_count (&args.along);
  args.n_outputs = adj_k_view_count (&args.kept);
  RUN_BLOCKS (queue, OF_CLASS ("adj_extreme", class_of (in->type)), args.n_outputs, args.n, args);
}

void
adj_k_cuda_max_dim (
    AdjKQueue *queue, const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim)
{
  extreme (queue, values, indices, in, dim, false);
}

void
adj_k_cuda_min_dim (
    AdjKQueue *queue, const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim)
{
  extreme (queue, values, indices, in, dim, true);
}

static void
scan (AdjKQueue *queue, const AdjKView *out, const AdjKView *in, int dim, bool product)
{
  bool whole = class_of (out->type) == ADJ_K_CLASS_I64;
  uint32_t dims = dim < 0 || in->rank == 0 ? 0 : UINT32_C (1) << dim;
  ScanArgs args = { .in = adj_k_view_keep (in, dims),
                    .in_kept = adj_k_view_keep (in, ~dims),
                    .out = adj_k_view_keep (out, dims),
                    .out_kept = adj_k_view_keep (out, ~dims),
                    .product = product };

  args.n = adj_k_view_count (&args.in);
  args.n_rows = adj_k_view_count (&args.in_kept);
  RUN (queue, whole ? "adj_scan_i64" : "adj_scan_f64", args.n > 0 ? args.n_rows : 0, args);
}

void
adj_k_cuda_cumsum (AdjKQueue *queue, const AdjKView *out, const AdjKView *in, int dim)
{
  scan (queue, out, in, dim, false);
}

void
adj_k_cuda_cumprod (AdjKQueue *queue, const AdjKView *out, const AdjKView *in, int dim)
{
  scan (queue, out, in, dim, true);
}
