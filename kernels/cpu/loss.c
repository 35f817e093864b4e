/* SPDX-License-Identifier: MIT */

/* Negative log likelihood: loss_i = -w[t_i] x[i, t_i], 0 where the target is ignored. */

#include "tree.h"

enum
{
  NONE,
  MEAN,
  SUM
};

/* x as [N, C] whatever its rank: all dims except C are samples in row-major order. */
typedef struct
{
  const AdjKNll *nll;
  const ClassLoops *loops;
  AdjKView samples; /* x without the classes */
  int64_t n, n_classes, class_stride;
} Batch;

static Batch
batch_new (const AdjKNll *nll, const AdjKView *x)
{
  int classes = x->rank > 1;
  Batch batch = {
    .nll = nll,
    .loops = &adj_k_loops ()->klass[class_of (x->type)],
    .samples = *x,
    .n = 1,
    .n_classes = x->size[classes],
    .class_stride = x->stride[classes],
  };

  batch.samples.rank = x->rank - 1;
  for (int i = classes; i < batch.samples.rank; i++)
    {
      batch.samples.size[i] = x->size[i + 1];
      batch.samples.stride[i] = x->stride[i + 1];
    }
  for (int i = 0; i < batch.samples.rank; i++)
    batch.n *= batch.samples.size[i];
  return batch;
}

/* The offset of element @i of @view, in row-major order. */
static int64_t
offset_of (const AdjKView *view, int64_t i)
{
  int64_t offset = 0;

  for (int k = view->rank - 1; k >= 0; k--)
    {
      offset += i % view->size[k] * view->stride[k];
      i /= view->size[k];
    }
  return offset;
}

static int64_t
score_offset (const Batch *batch, int64_t i, int64_t target)
{
  return offset_of (&batch->samples, i) + target * batch->class_stride;
}

static int64_t
target_of (const Batch *batch, int64_t i)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[ADJ_K_CLASS_I64];

  return adj_k_load_one (loops, &batch->nll->target, offset_of (&batch->nll->target, i)).i64;
}

static bool
targets_are_valid (const Batch *batch, int64_t *bad)
{
  for (int64_t i = 0; i < batch->n; i++)
    {
      int64_t target = target_of (batch, i);

      if (target != batch->nll->ignore_index && (target < 0 || target >= batch->n_classes))
        {
          *bad = target;
          return false;
        }
    }
  return true;
}

/* w of the target of row @i: 0 when it is ignored. */
static Scalar
weight_of (const Batch *batch, int64_t i)
{
  const AdjKView *weight = batch->nll->weight;
  int64_t target = target_of (batch, i);

  if (target == batch->nll->ignore_index)
    return scalar_of (batch->loops, 0);
  return weight ? adj_k_load_one (batch->loops, weight, target * weight->stride[0])
                : scalar_of (batch->loops, 1);
}

static Scalar
loss_of (const Batch *batch, int64_t i)
{
  const ClassLoops *loops = batch->loops;
  int64_t target = target_of (batch, i);
  Scalar loss, weight = weight_of (batch, i);

  if (target == batch->nll->ignore_index)
    return weight;
  loss = adj_k_load_one (loops, &batch->nll->x, score_offset (batch, i, target));
  loops->op[ADJ_K_OP_MUL](&loss, &loss, &weight, NULL, 1);
  loops->op[ADJ_K_OP_NEG](&loss, &loss, NULL, NULL, 1);
  return loss;
}

static void
read_weights (const void *source, void *tile, int64_t start, int n)
{
  const Batch *batch = source;

  for (int i = 0; i < n; i++)
    {
      Scalar weight = weight_of (batch, start + i);

      fill_tile (batch->loops, (char *) tile + (size_t) i * batch->loops->size, &weight, 1);
    }
}

static void
read_losses (const void *source, void *tile, int64_t start, int n)
{
  const Batch *batch = source;

  for (int i = 0; i < n; i++)
    {
      Scalar loss = loss_of (batch, start + i);

      fill_tile (batch->loops, (char *) tile + (size_t) i * batch->loops->size, &loss, 1);
    }
}

bool
adj_k_nll_loss (const AdjKNll *nll, const AdjKView *out, const AdjKView *total, int64_t *bad)
{
  Batch batch = batch_new (nll, &nll->x);
  const ClassLoops *loops = batch.loops;
  Scalar sum_w = scalar_of (loops, 0), sum;

  if (!targets_are_valid (&batch, bad))
    return false;

  if (nll->reduction == NONE)
    for (int64_t i = 0; i < batch.n; i++)
      adj_k_store_one (loops, out, offset_of (out, i), loss_of (&batch, i));
  else
    {
      adj_k_tree_fold (loops, COMBINE_SUM, read_weights, &batch, batch.n, &sum_w);
      adj_k_tree_fold (loops, COMBINE_SUM, read_losses, &batch, batch.n, &sum);
      if (nll->reduction == MEAN)
        loops->op[ADJ_K_OP_DIV](&sum, &sum, &sum_w, NULL, 1);
      adj_k_store_one (loops, out, 0, sum);
    }
  adj_k_store_one (loops, total, 0, sum_w);
  return true;
}

bool
adj_k_nll_loss_backward (
    const AdjKNll *nll, const AdjKView *gx, const AdjKView *g, const AdjKView *total, int64_t *bad)
{
  Batch batch = batch_new (nll, gx);
  const ClassLoops *loops = batch.loops;
  Scalar divisor = adj_k_load_one (loops, total, 0);

  if (!targets_are_valid (&batch, bad))
    return false;

  adj_k_fill_i64 (gx, 0);
  for (int64_t i = 0; i < batch.n; i++)
    {
      bool spread = nll->reduction != NONE || g->rank == 0;
      Scalar weight = weight_of (&batch, i);
      Scalar grad = adj_k_load_one (loops, g, spread ? 0 : offset_of (g, i));
      int64_t target = target_of (&batch, i);

      if (target == nll->ignore_index)
        continue;
      if (nll->reduction == MEAN)
        loops->op[ADJ_K_OP_DIV](&grad, &grad, &divisor, NULL, 1);
      loops->op[ADJ_K_OP_NEG](&grad, &grad, NULL, NULL, 1);
      loops->op[ADJ_K_OP_MUL](&grad, &weight, &grad, NULL, 1);
      adj_k_store_one (loops, gx, score_offset (&batch, i, target), grad);
    }
  return true;
}
