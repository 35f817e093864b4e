/* SPDX-License-Identifier: MIT */
/* Launches attention: by tiles or, where a library makes the products and they fit, matrix products
 * of the scores of one batch after the other, and between them a kernel on their rows, as for its
 * gradient.  gk and gv are summed by blocks of rows of q, as on the CPU. */

#include "launch.h"

enum
{
  ROWS = 96,              /* rows of q whose part of gk and gv is summed at once */
  MOST_SCORES = 256 << 20 /* of a batch that are held */
};

static AdjKView
batch_of (const AdjKView *view, int64_t batch)
{
  AdjKView out = *view;

  out.data = view_at (view, batch * view->stride[0]);
  out.size[0] = 1;
  return out;
}

/* Batch @batch of @whole, with its mask in @mask. */
static AdjKAttention
attention_of (const AdjKAttention *whole, int64_t batch, AdjKView *mask)
{
  AdjKAttention part = *whole;

  part.q = batch_of (&whole->q, batch);
  part.k = batch_of (&whole->k, batch);
  part.v = batch_of (&whole->v, batch);
  if (whole->mask)
    {
      *mask = batch_of (whole->mask, batch);
      part.mask = mask;
    }
  return part;
}

/* The matrices [heads, rows, …] of a view of one batch, rows @start … @start + @n - 1. */
static AdjKView
matrices (const AdjKView *view, int64_t start, int64_t n)
{
  return (AdjKView){
    .data = view_at (view, start * view->stride[2]),
    .type = view->type,
    .rank = 3,
    .size = { view->size[1], n, view->size[3] },
    .stride = { view->stride[1], view->stride[2], view->stride[3] },
  };
}

static AdjKView
transposed (AdjKView view)
{
  AdjKView out = view;

  out.size[1] = view.size[2];
  out.size[2] = view.size[1];
  out.stride[1] = view.stride[2];
  out.stride[2] = view.stride[1];
  return out;
}

static AdjKType
class_type (const AdjKAttention *attention)
{
  return adj_k_loops ()->klass[class_of (attention->q.type)].type;
}

/* For one batch: [1, heads, rows, columns]. */
typedef struct
{
  AdjKView scores, gradients; /* of the class */
  AdjKView p, ds;             /* factors made from them */
} Scores;

static AdjKView
new_scores (AdjKQueue *queue, const AdjKAttention *attention, AdjKType type)
{
  AdjKView scores = attention->q;

  scores.size[0] = 1;
  scores.size[3] = attention->k.size[2];
  return adj_k_cuda_temporary (queue, &scores, type);
}

/* The factor made from @scores: the same memory; for a library, which multiplies 16-bit factors
 * several times as fast, rounded to the type of q. */
static AdjKView
rounded_scores (AdjKQueue *queue, const AdjKAttention *attention, const AdjKView *scores)
{
  return queue->device->gemm == NULL || attention->q.type == scores->type
             ? *scores
             : new_scores (queue, attention, attention->q.type);
}

/* c = alpha · a b, in which b is transposed where @turned. */
static void
multiply (AdjKQueue *queue,
          const AdjKView *c,
          double alpha,
          const AdjKView *a,
          const AdjKView *b,
          bool turned)
{
  AdjKGemm gemm = { .c = matrices (c, 0, c->size[2]),
                    .a = matrices (a, 0, a->size[2]),
                    .b = matrices (b, 0, b->size[2]),
                    .alpha = alpha };

  if (turned)
    gemm.b = transposed (gemm.b);
  adj_k_cuda_gemm (queue, &gemm);
}

static AttentionArgs
rows_args (const AdjKAttention *attention,
           const AdjKView *scores,
           const AdjKView *p,
           const AdjKView *lse)
{
  AttentionArgs args = { .lse = *lse,
                         .scores = scores->data,
                         .p = p->data,
                         .type = p->type,
                         .n = scores->size[3],
                         .n_rows = scores->size[0] * scores->size[1] * scores->size[2],
                         .depth = attention->q.size[3],
                         .causal = attention->causal };

  if (attention->mask)
    args.mask = *attention->mask;
  return args;
}

static bool
attend_by_tiles (AdjKQueue *queue,
                 const AdjKAttention *attention,
                 const AdjKView *out,
                 const AdjKView *lse)
{
  const AdjKView *q = &attention->q;
  AdjKView tops = adj_k_cuda_temporary (queue, lse, class_type (attention));
  AdjKView sums = adj_k_cuda_temporary (queue, lse, class_type (attention));
  TilesArgs args = { .q = *q,
                     .k = attention->k,
                     .v = attention->v,
                     .out = *out,
                     .lse = *lse,
                     .tops = tops.data,
                     .sums = sums.data,
                     .scale = attention->scale,
                     .causal = attention->causal };
  int64_t n = q->size[0] * q->size[1] * count_product_tiles (q->size[2], 1);

  if (tops.data == NULL || sums.data == NULL)
    return false;
  if (attention->mask)
    args.mask = *attention->mask;
  RUN_BLOCKS (queue, OF_CLASS ("adj_attention_rows", class_of (q->type)), n, CUDA_CHUNK, args);
  RUN_BLOCKS (queue, OF_CLASS ("adj_attention_values", class_of (q->type)),
              n * ((out->size[3] + TILE_COLUMNS - 1) / TILE_COLUMNS), CUDA_CHUNK, args);
  return true;
}

/* Whether a library multiplies whole scores, and they are few enough. */
static bool
holds_scores (const AdjKQueue *queue, const AdjKAttention *attention)
{
  const int64_t *size = attention->q.size;
  int64_t columns = attention->k.size[2];

  return queue->device->gemm != NULL &&
         (columns == 0 || size[1] * size[2] <= MOST_SCORES / columns);
}

static void
attend_batch (AdjKQueue *queue,
              const AdjKAttention *attention,
              const Scores *held,
              const AdjKView *out,
              const AdjKView *lse)
{
  AttentionArgs args = rows_args (attention, &held->scores, &held->p, lse);

  multiply (queue, &held->scores, attention->scale, &attention->q, &attention->k, true);
  RUN_BLOCKS (queue, OF_CLASS ("adj_attention", class_of (attention->q.type)), args.n_rows, args.n,
              args);
  multiply (queue, out, 1, &held->p, &attention->v, false);
}

static bool
attend_with_scores (AdjKQueue *queue,
                    const AdjKAttention *attention,
                    const AdjKView *out,
                    const AdjKView *lse)
{
  Scores held = { .scores = new_scores (queue, attention, class_type (attention)) };

  held.p = rounded_scores (queue, attention, &held.scores);
  if (held.scores.data == NULL || held.p.data == NULL)
    return false;
  for (int64_t batch = 0; batch < attention->q.size[0]; batch++)
    {
      AdjKView mask, to = batch_of (out, batch), lse_to = batch_of (lse, batch);
      AdjKAttention part = attention_of (attention, batch, &mask);

      attend_batch (queue, &part, &held, &to, &lse_to);
    }
  return true;
}

/* Whether each head of the query has a key of its own, as the kernels here need. */
static bool
has_own_keys (AdjKQueue *queue, const AdjKAttention *attention)
{
  if (attention->q.size[1] == attention->k.size[1])
    return true;
  adj_k_queue_lacks (queue, "attention with shared keys");
  return false;
}

bool
adj_k_cuda_attention (AdjKQueue *queue,
                      const AdjKAttention *attention,
                      const AdjKView *out,
                      const AdjKView *lse)
{
  if (!has_own_keys (queue, attention))
    return true;
  return (holds_scores (queue, attention) ? attend_with_scores : attend_by_tiles) (queue, attention,
                                                                                   out, lse);
}

/* to = factor · aᵀ b, by a library, which sums in its own order. */
static void
multiply_turned (
    AdjKQueue *queue, const AdjKView *to, double factor, const AdjKView *a, const AdjKView *b)
{
  AdjKGemm gemm = { .c = matrices (to, 0, to->size[2]),
                    .a = transposed (matrices (a, 0, a->size[2])),
                    .b = matrices (b, 0, b->size[2]),
                    .alpha = factor };

  adj_k_cuda_gemm (queue, &gemm);
}

/* to = Σ factor · aᵀ b over blocks of rows; @sum: scratch memory of the class. */
static void
sum_blocks (AdjKQueue *queue,
            const AdjKView *to,
            double factor,
            const AdjKView *a,
            const AdjKView *b,
            const AdjKView *sum)
{
  AdjKView before = matrices (sum, 0, sum->size[2]);

  if (queue->device->gemm != NULL)
    {
      multiply_turned (queue, to, factor, a, b);
      return;
    }
  adj_k_cuda_fill_i64 (queue, sum, 0);
  for (int64_t start = 0; start < a->size[2]; start += ROWS)
    {
      int64_t n = min_i64 (ROWS, a->size[2] - start);
      AdjKGemm gemm = { .c = before,
                        .a = transposed (matrices (a, start, n)),
                        .b = matrices (b, start, n),
                        .d = &before,
                        .alpha = factor,
                        .beta = 1 };

      adj_k_cuda_gemm (queue, &gemm);
    }
  adj_k_cuda_copy (queue, to, sum);
}

/* Batch @batch of @whole, with its mask in @mask. */
static AdjKAttentionBackward
backward_of (const AdjKAttentionBackward *whole, int64_t batch, AdjKView *mask)
{
  return (AdjKAttentionBackward){ .forward = attention_of (&whole->forward, batch, mask),
                                  .g = batch_of (&whole->g, batch),
                                  .out = batch_of (&whole->out, batch),
                                  .lse = batch_of (&whole->lse, batch),
                                  .gq = batch_of (&whole->gq, batch),
                                  .gk = batch_of (&whole->gk, batch),
                                  .gv = batch_of (&whole->gv, batch) };
}

static void
differentiate_batch (AdjKQueue *queue,
                     const AdjKAttentionBackward *backward,
                     const Scores *held,
                     const AdjKView *sum)
{
  const AdjKAttention *forward = &backward->forward;
  AttentionArgs args = rows_args (forward, &held->scores, &held->p, &backward->lse);

  args.g = backward->g;
  args.out = backward->out;
  args.gradients = held->gradients.data;
  args.ds = held->ds.data;
  multiply (queue, &held->scores, forward->scale, &forward->q, &forward->k, true);
  multiply (queue, &held->gradients, 1, &backward->g, &forward->v, true);
  RUN_BLOCKS (queue, OF_CLASS ("adj_attention_backward", class_of (forward->q.type)), args.n_rows,
              args.n, args);
  multiply (queue, &backward->gq, forward->scale, &held->ds, &forward->k, false);
  sum_blocks (queue, &backward->gv, 1, &held->p, &backward->g, sum);
  sum_blocks (queue, &backward->gk, forward->scale, &held->ds, &forward->q, sum);
}

bool
adj_k_cuda_attention_backward (AdjKQueue *queue, const AdjKAttentionBackward *backward)
{
  const AdjKAttention *forward = &backward->forward;
  AdjKType type = class_type (forward);
  Scores held = { .scores = new_scores (queue, forward, type),
                  .gradients = new_scores (queue, forward, type) };
  AdjKView sum = batch_of (&backward->gk, 0);

  if (!has_own_keys (queue, forward))
    return true;
  held.p = rounded_scores (queue, forward, &held.scores);
  held.ds = rounded_scores (queue, forward, &held.gradients);
  sum = adj_k_cuda_temporary (queue, &sum, type);
  if (held.scores.data == NULL || held.gradients.data == NULL || held.p.data == NULL ||
      held.ds.data == NULL || sum.data == NULL)
    return false;
  for (int64_t batch = 0; batch < forward->q.size[0]; batch++)
    {
      AdjKView mask;
      AdjKAttentionBackward part = backward_of (backward, batch, &mask);

      differentiate_batch (queue, &part, &held, &sum);
    }
  return true;
}
