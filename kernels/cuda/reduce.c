/* SPDX-License-Identifier: MIT */
/* Launches reductions, extremes and scans. */

#include <math.h>

#include "launch.h"

enum
{
  LEAST_CHUNK = 4 * LEAF, /* elements of one output per block */
  MAX_BLOCKS = 8192,
  MAX_CHUNKS = 1024 /* chunks of one output at most, which one thread joins */
};

/* Sets the chunks so that the whole device is used, as far as there are leaves; %false: memory ran
 * out. */
static bool
share (AdjKQueue *queue, AdjKClass klass, int64_t least, int64_t n_groups, ReduceArgs *args)
{
  args->chunk = least;
  args->n_chunks = args->n > least ? (args->n + least - 1) / least : 1;
  while (args->n_chunks > 1 &&
         (args->n_chunks > MAX_CHUNKS || args->n_chunks * n_groups > MAX_BLOCKS))
    {
      args->chunk *= 2;
      args->n_chunks = (args->n + args->chunk - 1) / args->chunk;
    }
  args->parts = queue->device->scratch (queue, (size_t) (args->n_outputs * args->n_chunks) *
                                                   class_size (klass));
  return args->parts != NULL;
}

static int64_t
count_groups (int64_t n_outputs)
{
  return (n_outputs + CUDA_COLUMNS - 1) / CUDA_COLUMNS;
}

int64_t
adj_k_cuda_share_columns (AdjKQueue *queue, AdjKClass klass, ReduceArgs *args)
{
  int64_t n_groups = count_groups (args->n_outputs);

  return share (queue, klass, LEAF, n_groups, args) ? n_groups * args->n_chunks : 0;
}

void
adj_k_cuda_join_parts (AdjKQueue *queue, AdjKClass klass, const ReduceArgs *args)
{
  RUN (queue, OF_CLASS ("adj_reduce_end", klass), args->n_outputs, *args);
}

static int64_t
last_stride (const AdjKView *view)
{
  return view->rank > 0 ? view->stride[view->rank - 1] : 0;
}

/* Whether outputs are adjacent in memory, but not the summed elements. */
static bool
goes_by_columns (const ReduceArgs *args)
{
  return args->n > 1 && args->n_outputs >= CUDA_COLUMNS && last_stride (&args->kept) == 1 &&
         last_stride (&args->along) != 1;
}

/* Runs the sums that @args describe. */
static void
run (AdjKQueue *queue, AdjKClass klass, ReduceArgs *args)
{
  bool columns = goes_by_columns (args);
  int64_t n_groups = columns ? count_groups (args->n_outputs) : args->n_outputs;

  if (!share (queue, klass, columns ? LEAF : LEAST_CHUNK, n_groups, args))
    return;
  if (columns)
    RUN_BLOCKS (queue, OF_CLASS ("adj_reduce_columns", klass), n_groups * args->n_chunks,
                CUDA_CHUNK, *args);
  else
    RUN_ROWS (queue, OF_CLASS ("adj_reduce", klass), n_groups * args->n_chunks,
              min_i64 (args->n, args->chunk), *args);
  if (args->n_chunks > 1)
    adj_k_cuda_join_parts (queue, klass, args);
}

void
adj_k_cuda_reduce (
    AdjKQueue *queue, AdjKReduce kind, const AdjKView *out, const AdjKView *in, uint32_t dims)
{
  bool logical = kind == ADJ_K_ANY || kind == ADJ_K_ALL;
  AdjKView kept[2] = { adj_k_view_keep (in, ~dims), adj_k_view_keep (out, ~dims) };
  ReduceArgs args = { .along = along (in, dims), .kind = kind };

  adj_k_views_merge_any_order (kept, 2);
  args.kept = kept[0];
  args.out = kept[1];
  args.n = adj_k_view_count (&args.along);
  args.n_outputs = adj_k_view_count (&args.kept);
  run (queue, class_of (logical ? in->type : out->type), &args);
}

/* For outputs that several blocks share: the mean first, then the squared deviations. */
static void
var_mean_by_chunks (AdjKQueue *queue,
                    AdjKClass klass,
                    const AdjKView *var,
                    const AdjKView *mean,
                    const AdjKView *in,
                    uint32_t dims,
                    double divisor)
{
  const AdjKView *any = var ? var : mean;
  AdjKView exact = adj_k_cuda_temporary (queue, any, adj_k_loops ()->klass[klass].type);
  AdjKView kept[3] = { adj_k_view_keep (in, ~dims), adj_k_view_keep (any, ~dims),
                       adj_k_view_keep (&exact, ~dims) };
  ReduceArgs args = {
    .along = along (in, dims), .kind = ADJ_K_SUM, .deviates = true, .divisor = divisor
  };

  if (exact.data == NULL)
    return;
  adj_k_cuda_reduce (queue, ADJ_K_MEAN, &exact, in, dims);
  if (mean)
    adj_k_cuda_copy (queue, mean, &exact);
  if (!var)
    return;
  adj_k_views_merge_any_order (kept, 3);
  args.kept = kept[0];
  args.out = kept[1];
  args.mean = kept[2];
  args.n = adj_k_view_count (&args.along);
  args.n_outputs = adj_k_view_count (&args.kept);
  run (queue, klass, &args);
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
  AdjKClass klass = class_of (any->type);
  AdjKView kept[3] = { adj_k_view_keep (in, ~dims), adj_k_view_keep (any, ~dims),
                       adj_k_view_keep (mean ? mean : any, ~dims) };
  VarianceArgs args = { .along = along (in, dims) };

  args.n = adj_k_view_count (&args.along);
  args.divisor = fmax ((double) args.n - correction, 0);
  if (args.n > LEAST_CHUNK)
    {
      var_mean_by_chunks (queue, klass, var, mean, in, dims, args.divisor);
      return;
    }
  adj_k_views_merge_any_order (kept, 3);
  args.kept = kept[0];
  if (var)
    args.var = kept[1];
  if (mean)
    args.mean = kept[2];
  args.n_outputs = adj_k_view_count (&args.kept);
  RUN_BLOCKS (queue, OF_CLASS ("adj_variance", klass), args.n_outputs, args.n, args);
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

/* Few rows get long tiles. */
static int
tile_rows_for (int64_t n_rows)
{
  int rows = 1;

  while (rows < SCAN_ROWS && rows < n_rows)
    rows *= 2;
  return rows;
}

/* Whether the rows of @view lie closer together than the elements @along it. */
static bool
lies_across (const AdjKView *along, const AdjKView *rows)
{
  return along->rank > 0 && rows->rank > 0 && rows->stride[rows->rank - 1] < along->stride[0];
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
  args.tile_rows = tile_rows_for (args.n_rows);
  args.across = lies_across (&args.in, &args.in_kept);
  if (args.n > 0)
    RUN_BLOCKS (queue, whole ? "adj_scan_i64" : "adj_scan_f64",
                (args.n_rows + args.tile_rows - 1) / args.tile_rows, CUDA_CHUNK, args);
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
