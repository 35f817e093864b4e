/* SPDX-License-Identifier: MIT */
/* Launches softmax, layer normalisation and the likelihood. */

#include "launch.h"

static void
softmax (
    AdjKQueue *queue, const AdjKView *out, const AdjKView *x, const AdjKView *y, int dim, bool log)
{
  uint32_t dims = x->rank > 0 ? UINT32_C (1) << dim : 0;
  AdjKClass klass = class_of (x->type) == ADJ_K_CLASS_F64 ? ADJ_K_CLASS_F64 : class_of (out->type);
  SoftmaxArgs args = { .x = adj_k_view_keep (x, dims),
                       .x_kept = adj_k_view_keep (x, ~dims),
                       .out = adj_k_view_keep (out, dims),
                       .out_kept = adj_k_view_keep (out, ~dims),
                       .log = log };

  if (y != NULL)
    {
      args.y = adj_k_view_keep (y, dims);
      args.y_kept = adj_k_view_keep (y, ~dims);
    }
  args.n = adj_k_view_count (&args.out);
  args.n_rows = adj_k_view_count (&args.out_kept);
  if (args.n > 0)
    RUN_ROWS (queue,
              y != NULL ? OF_CLASS ("adj_softmax_backward", klass)
                        : OF_CLASS ("adj_softmax", klass),
              args.n_rows, args.n, args);
}

void
adj_k_cuda_softmax (AdjKQueue *queue, const AdjKView *out, const AdjKView *in, int dim)
{
  softmax (queue, out, in, NULL, dim, false);
}

void
adj_k_cuda_log_softmax (AdjKQueue *queue, const AdjKView *out, const AdjKView *in, int dim)
{
  softmax (queue, out, in, NULL, dim, true);
}

void
adj_k_cuda_softmax_backward (
    AdjKQueue *queue, const AdjKView *gx, const AdjKView *g, const AdjKView *y, int dim)
{
  softmax (queue, gx, g, y, dim, false);
}

void
adj_k_cuda_log_softmax_backward (
    AdjKQueue *queue, const AdjKView *gx, const AdjKView *g, const AdjKView *y, int dim)
{
  softmax (queue, gx, g, y, dim, true);
}

/* --- layer normalisation ---------------------------------------------------------------------- */

static uint32_t
last_dims (const AdjKView *view, int n)
{
  return (UINT32_C (1) << view->rank) - (UINT32_C (1) << (view->rank - n));
}

static AdjKView
per_column (const AdjKView *view, int n)
{
  return along (view, last_dims (view, n));
}

static AdjKView
per_row (const AdjKView *view, int n)
{
  AdjKView rows = *view;

  rows.rank -= n;
  return rows;
}

void
adj_k_cuda_layer_norm (AdjKQueue *queue, const AdjKLayerNorm *norm)
{
  int n = norm->n_dims;
  LayerNormArgs args = { .x = per_column (&norm->x, n),
                         .y = per_column (&norm->y, n),
                         .x_rows = per_row (&norm->x, n),
                         .y_rows = per_row (&norm->y, n),
                         .mean = per_row (&norm->mean, n),
                         .rstd = per_row (&norm->rstd, n),
                         .eps = norm->eps };

  if (norm->w)
    args.w = per_column (norm->w, n);
  if (norm->b)
    args.b = per_column (norm->b, n);
  args.n = adj_k_view_count (&args.x);
  args.n_rows = adj_k_view_count (&args.x_rows);
  RUN_BLOCKS (queue, OF_CLASS ("adj_layer_norm", class_of (norm->x.type)), args.n_rows, args.n,
              args);
}

static void
differentiate_bias (AdjKQueue *queue, const AdjKLayerNormBackward *norm)
{
  AdjKView gb = norm->g;
  int outer = norm->g.rank - norm->n_dims;

  gb.data = norm->gb->data;
  gb.type = norm->gb->type;
  for (int d = 0; d < outer; d++)
    gb.size[d] = 1;
  for (int d = 0; d < norm->n_dims; d++)
    gb.stride[outer + d] = norm->gb->stride[d];
  adj_k_cuda_reduce (queue, ADJ_K_SUM, &gb, &norm->g, (UINT32_C (1) << outer) - 1);
}

static void
differentiate_weight (AdjKQueue *queue, const AdjKView *gw, LayerNormBackwardArgs *args)
{
  AdjKClass klass = class_of (gw->type);
  ReduceArgs sums = { .out = *gw, .n = args->n_rows, .n_outputs = args->n, .kind = ADJ_K_SUM };
  int64_t n_blocks = adj_k_cuda_share_columns (queue, klass, &sums);

  if (n_blocks == 0)
    return;
  args->parts = sums.parts;
  args->chunk = sums.chunk;
  args->n_chunks = sums.n_chunks;
  RUN_BLOCKS (queue, OF_CLASS ("adj_layer_norm_gw", klass), n_blocks, CUDA_CHUNK, *args);
  adj_k_cuda_join_parts (queue, klass, &sums);
}

void
adj_k_cuda_layer_norm_backward (AdjKQueue *queue, const AdjKLayerNormBackward *norm)
{
  int n = norm->n_dims;
  LayerNormBackwardArgs args = { .x = per_column (&norm->x, n),
                                 .g = per_column (&norm->g, n),
                                 .x_rows = per_row (&norm->x, n),
                                 .g_rows = per_row (&norm->g, n),
                                 .mean = per_row (&norm->mean, n),
                                 .rstd = per_row (&norm->rstd, n) };

  args.n = adj_k_view_count (&args.x);
  args.n_rows = adj_k_view_count (&args.x_rows);
  if (norm->w)
    args.w = *norm->w;
  if (norm->gx)
    {
      args.to = per_column (norm->gx, n);
      args.to_rows = per_row (norm->gx, n);
      RUN_BLOCKS (queue, OF_CLASS ("adj_layer_norm_gx", class_of (norm->gx->type)), args.n_rows,
                  args.n, args);
    }
  if (norm->gw)
    differentiate_weight (queue, norm->gw, &args);
  if (norm->gb)
    differentiate_bias (queue, norm);
}

/* --- negative log likelihood ------------------------------------------------------------------ */

static NllArgs
nll_args (AdjKQueue *queue, const AdjKNll *nll, const AdjKView *x)
{
  int classes = x->rank > 1;
  NllArgs args = { .x = *x,
                   .samples = adj_k_view_keep (x, ~(UINT32_C (1) << classes)),
                   .target = nll->target,
                   .faults = queue->faults,
                   .n_classes = x->size[classes],
                   .class_stride = x->stride[classes],
                   .ignore_index = nll->ignore_index,
                   .reduction = nll->reduction };

  if (nll->weight)
    args.weight = *nll->weight;
  args.n = adj_k_view_count (&args.samples);
  return args;
}

bool
adj_k_cuda_nll_loss (
    AdjKQueue *queue, const AdjKNll *nll, const AdjKView *out, const AdjKView *total, int64_t *bad)
{
  NllArgs args = nll_args (queue, nll, &nll->x);
  int64_t blocks = nll->reduction == 0 ? (args.n + CUDA_THREADS - 1) / CUDA_THREADS : 1;

  args.out = *out;
  args.total = *total;
  RUN_BLOCKS (queue, OF_CLASS ("adj_nll", class_of (nll->x.type)), blocks > 0 ? blocks : 1,
              CUDA_CHUNK, args);
  return true;
}

bool
adj_k_cuda_nll_loss_backward (AdjKQueue *queue,
                              const AdjKNll *nll,
                              const AdjKView *gx,
                              const AdjKView *g,
                              const AdjKView *total,
                              int64_t *bad)
{
  NllArgs args = nll_args (queue, nll, gx);

  args.out = *g;
  args.total = *total;
  adj_k_cuda_fill_i64 (queue, gx, 0);
  RUN (queue, OF_CLASS ("adj_nll_backward", class_of (gx->type)), args.n, args);
  return true;
}
