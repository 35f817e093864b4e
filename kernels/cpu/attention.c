/* SPDX-License-Identifier: MIT */

/* Attention by blocks of rows of q; the scores of a block are one matrix of the class.
 * Backward, with Δ = Σ g out per row: P = e^(scores - lse), gv = Pᵀ g, dS = P (g vᵀ - Δ),
 * gq = scale · dS k, gk = scale · dSᵀ q; gk and gv are summed over the blocks in order. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adj-kernel-attention.h"
#include "tree.h"

enum
{
  ROWS = 96,         /* of a block; the bits of gk and gv depend on it */
  SERIAL = 64 * 1024 /* multiplications below which threads do not pay */
};

static bool
threads_pay (const AdjKAttention *attention)
{
  const int64_t *size = attention->q.size;

  return (double) (size[0] * size[1] * size[2]) * (double) (size[3] * attention->k.size[2]) >
         SERIAL;
}

/* One block of rows of one head. */
typedef struct
{
  const AdjKAttention *attention;
  const ClassLoops *loops;
  int64_t batch, head, start;
  int64_t key_head;
  int64_t n_rows, n_cols; /* of the scores; causal blocks only have the columns that they see */
} Block;

static int64_t
max_i64 (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* The matrix of @head, from row @start on. */
static AdjKView
rows_of (const AdjKView *view, int64_t batch, int64_t head, int64_t start, int64_t n)
{
  return (AdjKView){
    .data =
        view_at (view, batch * view->stride[0] + head * view->stride[1] + start * view->stride[2]),
    .type = view->type,
    .rank = 2,
    .size = { n, view->size[3] },
    .stride = { view->stride[2], view->stride[3] },
  };
}

/* Of q, and of what has its heads. */
static AdjKView
head_rows (const AdjKView *view, const Block *block)
{
  return rows_of (view, block->batch, block->head, block->start, block->n_rows);
}

/* The first rows of k or v, those that the block sees. */
static AdjKView
seen_rows (const AdjKView *view, const Block *block)
{
  return rows_of (view, block->batch, block->key_head, 0, block->n_cols);
}

static AdjKView
transposed (AdjKView view)
{
  AdjKView out = view;

  out.size[0] = view.size[1];
  out.size[1] = view.size[0];
  out.stride[0] = view.stride[1];
  out.stride[1] = view.stride[0];
  return out;
}

static AdjKView
matrix (const ClassLoops *loops, void *data, int64_t rows, int64_t cols)
{
  return (AdjKView){
    .data = data,
    .type = loops->type,
    .rank = 2,
    .size = { rows, cols },
    .stride = { cols, 1 },
  };
}

static void *
row_of (const Block *block, const AdjKView *scores, int64_t i)
{
  return (char *) scores->data + (size_t) (i * scores->stride[0]) * block->loops->size;
}

/* Heads of q that read one head of k and v. */
static int64_t
heads_of_key (const AdjKAttention *attention)
{
  return attention->k.size[1] > 0 ? attention->q.size[1] / attention->k.size[1] : 1;
}

static Block
block_new (const AdjKAttention *attention, int64_t index)
{
  const AdjKView *q = &attention->q;
  int64_t per_head = (q->size[2] + ROWS - 1) / ROWS;
  Block block = {
    .attention = attention,
    .loops = &adj_k_loops ()->klass[class_of (q->type)],
    .batch = index / per_head / q->size[1],
    .head = index / per_head % q->size[1],
    .start = index % per_head * ROWS,
    .n_cols = attention->k.size[2],
  };

  block.key_head = block.head / heads_of_key (attention);
  block.n_rows = min_i64 (ROWS, q->size[2] - block.start);
  if (attention->causal)
    block.n_cols = min_i64 (block.n_cols, block.start + block.n_rows);
  return block;
}

/* --- scores ------------------------------------------------------------------------------------
 */

/* row[j] = row[j] ∘ value for all of a row of the class. */
static void
apply_to_row (const Block *block, AdjKOp op, void *row, const Scalar *value)
{
  const ClassLoops *loops = block->loops;
  Scalar tile[LEAF];
  int64_t n = block->n_cols;

  if (value)
    fill_tile (loops, tile, value, (int) min_i64 (LEAF, n));
  for (int64_t start = 0; start < n; start += LEAF)
    {
      char *at = (char *) row + (size_t) start * loops->size;

      loops->op[op](at, at, tile, NULL, (int) min_i64 (LEAF, n - start));
    }
}

static void
add_mask (const Block *block, void *row, int64_t i)
{
  const AdjKView *mask = block->attention->mask;
  const ClassLoops *loops = block->loops;
  int64_t base = block->batch * mask->stride[0] + block->head * mask->stride[1] +
                 (block->start + i) * mask->stride[2];
  Scalar tile[LEAF];

  for (int64_t start = 0; start < block->n_cols; start += LEAF)
    {
      char *at = (char *) row + (size_t) start * loops->size;
      int n = (int) min_i64 (LEAF, block->n_cols - start);

      loops->load[mask->type](tile, view_at (mask, base + start * mask->stride[3]), mask->stride[3],
                              n);
      loops->op[ADJ_K_OP_ADD](at, at, tile, NULL, n);
    }
}

/* scale · q kᵀ + mask; -∞ where a causal row must not see. */
static void
fill_scores (const Block *block, const AdjKView *scores)
{
  const AdjKAttention *attention = block->attention;
  const ClassLoops *loops = block->loops;
  Scalar lowest = scalar_of (loops, -INFINITY);
  AdjKGemm gemm = {
    .c = *scores,
    .a = head_rows (&attention->q, block),
    .b = transposed (seen_rows (&attention->k, block)),
    .alpha = attention->scale,
  };

  adj_k_gemm (&gemm);
  for (int64_t i = 0; i < block->n_rows; i++)
    {
      char *row = row_of (block, scores, i);
      int64_t seen = attention->causal ? block->start + i + 1 : block->n_cols;

      if (attention->mask)
        add_mask (block, row, i);
      for (int64_t j = seen; j < block->n_cols; j++)
        memcpy (row + (size_t) j * loops->size, &lowest, loops->size);
    }
}

typedef struct
{
  const char *data;
  size_t size; /* of an element */
} Memory;

static void
read_memory (const void *source, void *tile, int64_t start, int n)
{
  const Memory *memory = source;

  memcpy (tile, memory->data + (size_t) start * memory->size, (size_t) n * memory->size);
}

static Scalar
fold_row (const Block *block, Combine combine, const void *row)
{
  Memory memory = { row, block->loops->size };
  Scalar result;

  adj_k_tree_fold (block->loops, combine, read_memory, &memory, block->n_cols, &result);
  return result;
}

static double
number_of (const ClassLoops *loops, const Scalar *value)
{
  return loops->type == ADJ_K_F64 ? value->f64 : (double) value->f32;
}

/* --- forward -----------------------------------------------------------------------------------
 */

/* Turns the row into probabilities; returns the logarithm of its sum. */
static Scalar
normalize_row (const Block *block, void *row)
{
  const ClassLoops *loops = block->loops;
  Scalar largest = fold_row (block, COMBINE_MAX, row), sum, result;

  if (number_of (loops, &largest) == -INFINITY)
    {
      memset (row, 0, (size_t) block->n_cols * loops->size);
      return scalar_of (loops, 0);
    }
  apply_to_row (block, ADJ_K_OP_SUB, row, &largest);
  apply_to_row (block, ADJ_K_OP_EXP, row, NULL);
  sum = fold_row (block, COMBINE_SUM, row);
  apply_to_row (block, ADJ_K_OP_DIV, row, &sum);
  loops->op[ADJ_K_OP_LOG](&result, &sum, NULL, NULL, 1);
  loops->op[ADJ_K_OP_ADD](&result, &result, &largest, NULL, 1);
  return result;
}

static bool
attend (const Block *block, const AdjKView *out, const AdjKView *lse)
{
  const AdjKAttention *attention = block->attention;
  void *memory = malloc ((size_t) max_i64 (block->n_rows * block->n_cols, 1) * block->loops->size);
  AdjKView scores = matrix (block->loops, memory, block->n_rows, block->n_cols);
  AdjKGemm gemm = {
    .c = head_rows (out, block),
    .a = scores,
    .b = seen_rows (&attention->v, block),
    .alpha = 1,
  };

  if (!memory)
    return false;
  fill_scores (block, &scores);
  for (int64_t i = 0; i < block->n_rows; i++)
    adj_k_store_one (block->loops, lse,
                     block->batch * lse->stride[0] + block->head * lse->stride[1] +
                         (block->start + i) * lse->stride[2],
                     normalize_row (block, row_of (block, &scores, i)));
  adj_k_gemm (&gemm);
  free (memory);
  return true;
}

bool
adj_k_attention (const AdjKAttention *attention, const AdjKView *out, const AdjKView *lse)
{
  const int64_t *size = attention->q.size;
  int64_t blocks = size[0] * size[1] * ((size[2] + ROWS - 1) / ROWS);
  bool done = true;

#pragma omp parallel for schedule(dynamic) if (threads_pay(attention)) reduction(&& : done)
  for (int64_t i = 0; i < blocks; i++)
    {
      Block block = block_new (attention, i);

      done = attend (&block, out, lse) && done;
    }
  return done;
}

/* --- backward ----------------------------------------------------------------------------------
 */

/* Memory of one head of k and v. */
typedef struct
{
  AdjKView p, ds;  /* ROWS × S */
  AdjKView gk, gv; /* S × D, sums */
} Sums;

/* Σ g out of row @i. */
static Scalar
row_delta (const Block *block, const AdjKView *g, const AdjKView *out, int64_t i)
{
  const ClassLoops *loops = block->loops;
  Scalar a[LEAF], b[LEAF], sum = scalar_of (loops, 0), part;
  int64_t n = g->size[1];

  for (int64_t start = 0; start < n; start += LEAF)
    {
      int m = (int) min_i64 (LEAF, n - start);

      loops->load[g->type](a, view_at (g, i * g->stride[0] + start * g->stride[1]), g->stride[1],
                           m);
      loops->load[out->type](b, view_at (out, i * out->stride[0] + start * out->stride[1]),
                             out->stride[1], m);
      loops->op[ADJ_K_OP_MUL](a, a, b, NULL, m);
      loops->reduce[COMBINE_SUM].leaf (&part, a, m);
      loops->op[ADJ_K_OP_ADD](&sum, &sum, &part, NULL, 1);
    }
  return sum;
}

/* p = e^(scores - lse), ds = p (g vᵀ - Δ) */
static void
fill_gradients (const AdjKAttentionBackward *backward, const Block *block, const Sums *sums)
{
  const ClassLoops *loops = block->loops;
  const AdjKView *lse = &backward->lse;
  AdjKView g = head_rows (&backward->g, block);
  AdjKView out = head_rows (&backward->out, block);
  AdjKGemm gemm = {
    .c = sums->ds,
    .a = g,
    .b = transposed (seen_rows (&backward->forward.v, block)),
    .alpha = 1,
  };

  fill_scores (block, &sums->p);
  adj_k_gemm (&gemm);
  for (int64_t i = 0; i < block->n_rows; i++)
    {
      char *p = row_of (block, &sums->p, i), *ds = row_of (block, &sums->ds, i);
      Scalar value = adj_k_load_one (loops, lse,
                                     block->batch * lse->stride[0] + block->head * lse->stride[1] +
                                         (block->start + i) * lse->stride[2]);

      apply_to_row (block, ADJ_K_OP_SUB, p, &value);
      apply_to_row (block, ADJ_K_OP_EXP, p, NULL);
      value = row_delta (block, &g, &out, i);
      apply_to_row (block, ADJ_K_OP_SUB, ds, &value);
      for (int64_t start = 0; start < block->n_cols; start += LEAF)
        {
          size_t at = (size_t) start * loops->size;

          loops->op[ADJ_K_OP_MUL](ds + at, ds + at, p + at, NULL,
                                  (int) min_i64 (LEAF, block->n_cols - start));
        }
    }
}

/* sum += factor · aᵀ b, in its first rows. */
static void
accumulate (const AdjKView *sum, double factor, const AdjKView *a, const AdjKView *b)
{
  AdjKGemm gemm = { .c = *sum, .a = transposed (*a), .b = *b, .alpha = factor, .beta = 1 };
  AdjKView before;

  gemm.c.size[0] = gemm.a.size[0];
  before = gemm.c;
  gemm.d = &before;
  adj_k_gemm (&gemm);
}

static void
differentiate_block (const AdjKAttentionBackward *backward, const Block *block, const Sums *sums)
{
  const AdjKAttention *forward = &backward->forward;
  AdjKView q = head_rows (&forward->q, block);
  AdjKView g = head_rows (&backward->g, block);
  Sums here = *sums;
  AdjKGemm gemm = {
    .c = head_rows (&backward->gq, block),
    .b = seen_rows (&forward->k, block),
    .alpha = forward->scale,
  };

  here.p = matrix (block->loops, sums->p.data, block->n_rows, block->n_cols);
  here.ds = matrix (block->loops, sums->ds.data, block->n_rows, block->n_cols);
  fill_gradients (backward, block, &here);
  gemm.a = here.ds;
  adj_k_gemm (&gemm);
  accumulate (&sums->gv, 1, &here.p, &g);
  accumulate (&sums->gk, forward->scale, &here.ds, &q);
}

static bool
differentiate_head (const AdjKAttentionBackward *backward, int64_t key_head)
{
  const AdjKAttention *forward = &backward->forward;
  const AdjKView *q = &forward->q, *k = &forward->k;
  int64_t blocks = heads_of_key (forward) * ((q->size[2] + ROWS - 1) / ROWS);
  int64_t cols = k->size[2], depth = q->size[3];
  int64_t batch = key_head / k->size[1], head = key_head % k->size[1];
  const ClassLoops *loops = &adj_k_loops ()->klass[class_of (q->type)];
  char *memory = calloc ((size_t) (2 * (ROWS + depth) * cols) + 1, loops->size);
  char *rest = memory + (size_t) (2 * ROWS * cols) * loops->size;
  Sums sums = {
    .p = matrix (loops, memory, ROWS, cols),
    .ds = matrix (loops, memory + (size_t) (ROWS * cols) * loops->size, ROWS, cols),
    .gk = matrix (loops, rest, cols, depth),
    .gv = matrix (loops, rest + (size_t) (depth * cols) * loops->size, cols, depth),
  };
  AdjKView gk = rows_of (&backward->gk, batch, head, 0, cols);
  AdjKView gv = rows_of (&backward->gv, batch, head, 0, cols);

  if (!memory)
    return false;
  for (int64_t i = 0; i < blocks; i++)
    {
      Block block = block_new (forward, key_head * blocks + i);

      differentiate_block (backward, &block, &sums);
    }
  adj_k_copy (&gk, &sums.gk);
  adj_k_copy (&gv, &sums.gv);
  free (memory);
  return true;
}

bool
adj_k_attention_backward (const AdjKAttentionBackward *backward)
{
  int64_t heads = backward->forward.k.size[0] * backward->forward.k.size[1];
  bool done = true;

#pragma omp parallel for schedule(static) if (threads_pay(&backward->forward)) reduction(&& : done)
  for (int64_t head = 0; head < heads; head++)
    done = differentiate_head (backward, head) && done;
  return done;
}
