/* SPDX-License-Identifier: MIT */

/* Steps of optimisers: tiles of a few streams, each loaded, changed and stored. */

#include <math.h>

#include "adj-kernel-optimizer.h"
#include "tile.h"

enum
{
  STREAMS = 5
};

typedef struct
{
  AdjKView view;
  bool written;
} Stream;

/* Changes @n elements of every stream. */
typedef void (*StepFunc) (const void *job, double (*tiles)[TILE], int n);

static bool
is_flat (const AdjKView *view)
{
  int64_t stride = 1;

  for (int i = view->rank; i-- > 0; stride *= view->size[i])
    if (view->size[i] != 1 && view->stride[i] != stride)
      return false;
  return true;
}

/* Merges to one dimension if all streams allow it. */
static void
flatten (Stream *streams, int n_streams)
{
  int64_t count = adj_k_view_count (&streams[0].view);

  for (int k = 0; k < n_streams; k++)
    if (!is_flat (&streams[k].view) && streams[k].view.rank > 0)
      return;
  for (int k = 0; k < n_streams; k++)
    {
      streams[k].view.rank = 1;
      streams[k].view.size[0] = count;
      streams[k].view.stride[0] = 1;
    }
}

static void
step_tile (Stream *streams, int n_streams, const int64_t *at, int n, StepFunc step, const void *job)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[ADJ_K_CLASS_F64];
  double tiles[STREAMS][TILE];

  for (int k = 0; k < n_streams; k++)
    loops->load[streams[k].view.type](tiles[k], view_at (&streams[k].view, at[k]),
                                      streams[k].view.stride[streams[k].view.rank - 1], n);
  step (job, tiles, n);
  for (int k = 0; k < n_streams; k++)
    if (streams[k].written)
      loops->store[streams[k].view.type](view_at (&streams[k].view, at[k]),
                                         streams[k].view.stride[streams[k].view.rank - 1], tiles[k],
                                         n);
}

static void
for_each_tile (Stream *streams, int n_streams, StepFunc step, const void *job)
{
  const AdjKView *first = &streams[0].view;
  int64_t width, n_rows, n_tiles;

  flatten (streams, n_streams);
  width = first->size[first->rank - 1];
  n_rows = width > 0 ? adj_k_view_count (first) / width : 0;
  n_tiles = (width + TILE - 1) / TILE;
#pragma omp parallel for schedule(static) if (n_rows * width > 16 * 1024)
  for (int64_t i = 0; i < n_rows * n_tiles; i++)
    {
      int64_t row = i / n_tiles, column = i % n_tiles * TILE;
      int64_t at[STREAMS];

      for (int k = 0; k < n_streams; k++)
        {
          AdjKView rows = streams[k].view;

          rows.rank--;
          at[k] = adj_k_view_offset (&rows, row) + column * streams[k].view.stride[rows.rank];
        }
      step_tile (streams, n_streams, at, (int) min_i64 (TILE, width - column), step, job);
    }
}

double
adj_k_number (const AdjKNumber *number)
{
  double value = number->value;
  AdjKView to = { .data = &value, .type = ADJ_K_F64 }, from = number->at;

  from.rank = 0;
  if (from.data)
    adj_k_copy (&to, &from);
  return value;
}

/* --- Adam --------------------------------------------------------------------------------------
 */

enum
{
  P,
  G,
  M,
  V,
  V_MAX
};

static double
unscaled (double *g, double scale, bool maximize)
{
  if (scale != 0)
    *g /= scale;
  return maximize ? -*g : *g;
}

typedef struct
{
  const AdjKAdam *adam;
  double lr, grad_scale, correction, root;
} Adam;

static void
adam_step (const void *job, double (*x)[TILE], int n)
{
  const Adam *self = job;
  const AdjKAdam *adam = self->adam;

  for (int i = 0; i < n; i++)
    {
      double g = unscaled (&x[G][i], self->grad_scale, adam->maximize);
      double v;

      if (adam->decoupled)
        x[P][i] -= self->lr * adam->weight_decay * x[P][i];
      else
        g += adam->weight_decay * x[P][i];
      x[M][i] += (1 - adam->beta1) * (g - x[M][i]);
      x[V][i] = adam->beta2 * x[V][i] + (1 - adam->beta2) * g * g;
      v = x[V][i];
      if (adam->v_max)
        v = x[V_MAX][i] = x[V_MAX][i] > v ? x[V_MAX][i] : v;
      x[P][i] -= self->lr / self->correction * x[M][i] / (sqrt (v) / self->root + adam->eps);
    }
}

void
adj_k_adam (const AdjKAdam *adam)
{
  double step = adj_k_number (&adam->step);
  Adam self = { .adam = adam,
                .lr = adj_k_number (&adam->lr),
                .grad_scale = adj_k_number (&adam->grad_scale),
                .correction = 1 - pow (adam->beta1, step),
                .root = sqrt (1 - pow (adam->beta2, step)) };
  Stream streams[STREAMS] = { [P] = { adam->p, true },
                              [G] = { adam->g, self.grad_scale != 0 },
                              [M] = { adam->m, true },
                              [V] = { adam->v, true } };

  if (adj_k_number (&adam->found) == 1)
    return;
  if (adam->v_max)
    streams[V_MAX] = (Stream){ *adam->v_max, true };
  for_each_tile (streams, adam->v_max ? STREAMS : V_MAX, adam_step, &self);
}

/* --- gradient descent --------------------------------------------------------------------------
 */

typedef struct
{
  const AdjKSgd *sgd;
  double lr, grad_scale;
} Sgd;

static void
sgd_step (const void *job, double (*x)[TILE], int n)
{
  const Sgd *self = job;
  const AdjKSgd *sgd = self->sgd;

  for (int i = 0; i < n; i++)
    {
      double g = unscaled (&x[G][i], self->grad_scale, sgd->maximize) + sgd->weight_decay * x[P][i];

      if (sgd->momentum_buffer)
        {
          x[M][i] = sgd->is_first ? g : sgd->momentum * x[M][i] + (1 - sgd->dampening) * g;
          g = sgd->nesterov ? g + sgd->momentum * x[M][i] : x[M][i];
        }
      x[P][i] -= self->lr * g;
    }
}

void
adj_k_sgd (const AdjKSgd *sgd)
{
  Sgd self = { sgd, adj_k_number (&sgd->lr), adj_k_number (&sgd->grad_scale) };
  Stream streams[STREAMS] = { [P] = { sgd->p, true }, [G] = { sgd->g, self.grad_scale != 0 } };

  if (adj_k_number (&sgd->found) == 1)
    return;
  if (sgd->momentum_buffer)
    streams[M] = (Stream){ *sgd->momentum_buffer, true };
  for_each_tile (streams, sgd->momentum_buffer ? 3 : 2, sgd_step, &self);
}

/* --- mixed precision ---------------------------------------------------------------------------
 */

typedef struct
{
  double factor;
  bool *finite;
} Unscale;

static void
unscale_step (const void *job, double (*x)[TILE], int n)
{
  const Unscale *unscale = job;
  bool finite = true;

  for (int i = 0; i < n; i++)
    {
      finite &= isfinite (x[0][i]) != 0;
      x[0][i] *= unscale->factor;
    }
  if (!finite)
    __atomic_store_n (unscale->finite, false, __ATOMIC_RELAXED);
}

void
adj_k_unscale (const AdjKView *x, const AdjKNumber *factor, const AdjKView *found)
{
  Stream stream = { *x, true };
  bool finite = true;
  Unscale unscale = { adj_k_number (factor), &finite };

  for_each_tile (&stream, 1, unscale_step, &unscale);
  if (!finite)
    *(float *) found->data = 1;
}
