/* SPDX-License-Identifier: MIT */

/* Pooling, volume by volume: a volume is loaded into memory of the class, its windows are walked in
 * row-major order, and the result is stored. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adj-kernel-pool.h"
#include "pool-window.h"
#include "volume.h"

enum
{
  SERIAL = 16 * 1024 /* elements below which threads do not pay */
};

typedef struct
{
  const AdjKPool *pool;
  const ClassLoops *loops;
  Window *windows[AXES]; /* of each output index along an axis */
  int64_t size[AXES], out[AXES];
} Plan;

/* The windows of one output element. */
typedef struct
{
  const Window *along[AXES];
} Box;

static int64_t
max_i64 (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static bool
plan_begin (Plan *plan, const AdjKPool *pool)
{
  Window *next;

  *plan = (Plan){ .pool = pool, .loops = &adj_k_loops ()->klass[class_of (pool->x.type)] };
  volume_size (&pool->x, plan->size);
  volume_size (&pool->y, plan->out);
  next = malloc ((size_t) (plan->out[0] + plan->out[1] + plan->out[2] + 1) * sizeof *next);
  if (!next)
    return false;
  for (int axis = 0; axis < AXES; axis++)
    {
      plan->windows[axis] = next;
      for (int64_t i = 0; i < plan->out[axis]; i++)
        *next++ = window_of (pool, axis, plan->size[axis], plan->out[axis], i);
    }
  return true;
}

static void
plan_end (Plan *plan)
{
  free (plan->windows[0]);
}

/* The windows of output element @i in row-major order. */
static Box
box_at (const Plan *plan, int64_t i)
{
  Box box;

  for (int axis = AXES - 1; axis >= 0; axis--)
    {
      box.along[axis] = &plan->windows[axis][i % plan->out[axis]];
      i /= plan->out[axis];
    }
  return box;
}

static int64_t
divisor_of (const AdjKPool *pool, const Box *box)
{
  int64_t full = 1, inside = 1;

  for (int axis = 0; axis < AXES; axis++)
    {
      full *= box->along[axis]->full;
      inside *= box->along[axis]->end - box->along[axis]->begin;
    }
  if (pool->divisor != 0)
    return pool->divisor;
  return pool->counts_padding ? full : max_i64 (inside, 1);
}

/* --- loops of each class -----------------------------------------------------------------------
 */

/* Calls of a loop body for each element @at of a box. */
#define FOR_BOX(at)                                                                                \
  for (int64_t d = box->along[0]->begin; d < box->along[0]->end; d += box->along[0]->step)         \
    for (int64_t h = box->along[1]->begin; h < box->along[1]->end; h += box->along[1]->step)       \
      for (int64_t w = box->along[2]->begin, at = (d * size[1] + h) * size[2] + w;                 \
           w < box->along[2]->end; w += box->along[2]->step, at += box->along[2]->step)

#define POOL_LOOPS(c, T, LOWEST, IS_NAN)                                                           \
  static int64_t c##_max_window (const T *x, const int64_t *size, const Box *box, T *result)       \
  {                                                                                                \
    int64_t index =                                                                                \
        (box->along[0]->begin * size[1] + box->along[1]->begin) * size[2] + box->along[2]->begin;  \
    T largest = LOWEST;                                                                            \
                                                                                                   \
    FOR_BOX (at)                                                                                   \
    if (x[at] > largest || IS_NAN (x[at]))                                                         \
      {                                                                                            \
        largest = x[at];                                                                           \
        index = at;                                                                                \
      }                                                                                            \
    *result = largest;                                                                             \
    return index;                                                                                  \
  }                                                                                                \
                                                                                                   \
  static T c##_sum_window (const T *x, const int64_t *size, const Box *box)                        \
  {                                                                                                \
    T sum = 0;                                                                                     \
                                                                                                   \
    FOR_BOX (at)                                                                                   \
    sum += x[at];                                                                                  \
    return sum;                                                                                    \
  }                                                                                                \
                                                                                                   \
  static void c##_add_window (T *x, const int64_t *size, const Box *box, T share)                  \
  {                                                                                                \
    FOR_BOX (at)                                                                                   \
    x[at] += share;                                                                                \
  }                                                                                                \
                                                                                                   \
  static void c##_max (const Plan *plan, const void *x, void *y, int64_t *indices)                 \
  {                                                                                                \
    for (int64_t i = 0; i < volume_count (plan->out); i++)                                         \
      {                                                                                            \
        const Box box = box_at (plan, i);                                                          \
                                                                                                   \
        indices[i] = c##_max_window (x, plan->size, &box, (T *) y + i);                            \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void c##_average (const Plan *plan, const void *x, void *y)                               \
  {                                                                                                \
    for (int64_t i = 0; i < volume_count (plan->out); i++)                                         \
      {                                                                                            \
        const Box box = box_at (plan, i);                                                          \
                                                                                                   \
        ((T *) y)[i] = c##_sum_window (x, plan->size, &box) / (T) divisor_of (plan->pool, &box);   \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void c##_spread (const Plan *plan, void *x, const void *y)                                \
  {                                                                                                \
    for (int64_t i = 0; i < volume_count (plan->out); i++)                                         \
      {                                                                                            \
        const Box box = box_at (plan, i);                                                          \
                                                                                                   \
        c##_add_window (x, plan->size, &box,                                                       \
                        ((const T *) y)[i] / (T) divisor_of (plan->pool, &box));                   \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void c##_scatter (void *x, const void *y, const int64_t *indices, int64_t n, bool last)   \
  {                                                                                                \
    for (int64_t i = 0; i < n; i++)                                                                \
      {                                                                                            \
        T *at = (T *) x + indices[i];                                                              \
                                                                                                   \
        *at = last ? ((const T *) y)[i] : *at + ((const T *) y)[i];                                \
      }                                                                                            \
  }

#define NEVER(x) false

POOL_LOOPS (f32, float, -INFINITY, isnan)
POOL_LOOPS (f64, double, -(double) INFINITY, isnan)
POOL_LOOPS (i64, int64_t, INT64_MIN, NEVER)

typedef struct
{
  void (*max) (const Plan *plan, const void *x, void *y, int64_t *indices);
  void (*average) (const Plan *plan, const void *x, void *y);
  void (*spread) (const Plan *plan, void *x, const void *y);
  void (*scatter) (void *x, const void *y, const int64_t *indices, int64_t n, bool last);
} PoolLoops;

static const PoolLoops pool_loops[ADJ_K_CLASS_N] = {
  [ADJ_K_CLASS_F32] = { f32_max, f32_average, f32_spread, f32_scatter },
  [ADJ_K_CLASS_F64] = { f64_max, f64_average, f64_spread, f64_scatter },
  [ADJ_K_CLASS_I64] = { i64_max, i64_average, i64_spread, i64_scatter },
};

/* --- maxima ------------------------------------------------------------------------------------
 */

typedef struct
{
  Plan plan;
  const AdjKView *indices;
} MaxJob;

static void
max_volume (const void *what, int64_t volume, void *memory)
{
  const MaxJob *job = what;
  const Plan *plan = &job->plan;
  const AdjKView *x = &plan->pool->x, *y = &plan->pool->y;
  AdjKView x_volumes = adj_k_volumes_of (x), y_volumes = adj_k_volumes_of (y),
           i_volumes = adj_k_volumes_of (job->indices);
  /* Indices first: they need the strictest alignment. */
  int64_t *indices = memory;
  char *y_memory = (char *) (indices + volume_count (plan->out));
  char *x_memory = y_memory + volume_bytes (plan->loops, plan->out);

  adj_k_volume_load (plan->loops, x_memory, x, adj_k_view_offset (&x_volumes, volume));
  pool_loops[class_of (x->type)].max (plan, x_memory, y_memory, indices);
  adj_k_volume_store (plan->loops, y, adj_k_view_offset (&y_volumes, volume), y_memory);
  adj_k_volume_store (&adj_k_loops ()->klass[ADJ_K_CLASS_I64], job->indices,
                      adj_k_view_offset (&i_volumes, volume), indices);
}

bool
adj_k_max_pool (const AdjKPool *pool, const AdjKView *indices)
{
  AdjKView volumes = adj_k_volumes_of (&pool->y);
  MaxJob job = { .indices = indices };
  VolumeWork work = { .one = max_volume, .job = &job };
  bool done = plan_begin (&job.plan, pool);

  if (!done)
    return false;
  work.memory = (size_t) volume_count (job.plan.out) * sizeof (int64_t) +
                volume_bytes (job.plan.loops, job.plan.out) +
                volume_bytes (job.plan.loops, job.plan.size);
  done = adj_k_for_each_volume (&work, adj_k_view_count (&volumes),
                                adj_k_view_count (&pool->x) > SERIAL);
  plan_end (&job.plan);
  return done;
}

typedef struct
{
  const ClassLoops *loops;
  const AdjKView *x, *y, *indices;
  int64_t size[AXES], out[AXES];
  bool last;
} ScatterJob;

static void
scatter_volume (const void *what, int64_t volume, void *memory)
{
  const ScatterJob *job = what;
  AdjKView x_volumes = adj_k_volumes_of (job->x), y_volumes = adj_k_volumes_of (job->y);
  AdjKView i_volumes = adj_k_volumes_of (job->indices);
  int64_t n = volume_count (job->out);
  int64_t *indices = memory;
  char *y = (char *) (indices + n);
  char *x = y + volume_bytes (job->loops, job->out);

  adj_k_volume_load (&adj_k_loops ()->klass[ADJ_K_CLASS_I64], indices, job->indices,
                     adj_k_view_offset (&i_volumes, volume));
  adj_k_volume_load (job->loops, y, job->y, adj_k_view_offset (&y_volumes, volume));
  memset (x, 0, volume_bytes (job->loops, job->size));
  pool_loops[class_of (job->x->type)].scatter (x, y, indices, n, job->last);
  adj_k_volume_store (job->loops, job->x, adj_k_view_offset (&x_volumes, volume), x);
}

bool
adj_k_pool_check (const AdjKView *indices, int64_t n, int64_t *bad)
{
  Walk walk;

  adj_k_walk_begin (&walk, indices);
  adj_k_walk_add (&walk, indices->stride);
  for (; walk.left > 0; adj_k_walk_next (&walk))
    {
      *bad = *(const int64_t *) view_at (indices, walk.offset[0]);
      if (*bad < 0 || *bad >= n)
        return false;
    }
  return true;
}

bool
adj_k_unpool (const AdjKView *x, const AdjKView *y, const AdjKView *indices, bool last)
{
  AdjKView volumes = adj_k_volumes_of (x);
  ScatterJob job = {
    .loops = &adj_k_loops ()->klass[class_of (x->type)],
    .x = x,
    .y = y,
    .indices = indices,
    .last = last,
  };
  VolumeWork work = { .one = scatter_volume, .job = &job };

  volume_size (x, job.size);
  volume_size (y, job.out);
  work.memory = (size_t) volume_count (job.out) * sizeof (int64_t) +
                volume_bytes (job.loops, job.out) + volume_bytes (job.loops, job.size);
  return adj_k_for_each_volume (&work, adj_k_view_count (&volumes), adj_k_view_count (x) > SERIAL);
}

/* --- averages ----------------------------------------------------------------------------------
 */

static void
average_volume (const void *what, int64_t volume, void *memory)
{
  const Plan *plan = what;
  const AdjKView *x = &plan->pool->x, *y = &plan->pool->y;
  AdjKView x_volumes = adj_k_volumes_of (x), y_volumes = adj_k_volumes_of (y);
  char *y_memory = (char *) memory + volume_bytes (plan->loops, plan->size);

  adj_k_volume_load (plan->loops, memory, x, adj_k_view_offset (&x_volumes, volume));
  pool_loops[class_of (x->type)].average (plan, memory, y_memory);
  adj_k_volume_store (plan->loops, y, adj_k_view_offset (&y_volumes, volume), y_memory);
}

static void
spread_volume (const void *what, int64_t volume, void *memory)
{
  const Plan *plan = what;
  const AdjKView *x = &plan->pool->x, *y = &plan->pool->y;
  AdjKView x_volumes = adj_k_volumes_of (x), y_volumes = adj_k_volumes_of (y);
  size_t bytes = volume_bytes (plan->loops, plan->size);
  char *y_memory = (char *) memory + bytes;

  adj_k_volume_load (plan->loops, y_memory, y, adj_k_view_offset (&y_volumes, volume));
  memset (memory, 0, bytes);
  pool_loops[class_of (x->type)].spread (plan, memory, y_memory);
  adj_k_volume_store (plan->loops, x, adj_k_view_offset (&x_volumes, volume), memory);
}

static bool
average (const AdjKPool *pool, void (*one) (const void *, int64_t, void *))
{
  AdjKView volumes = adj_k_volumes_of (&pool->x);
  Plan plan;
  VolumeWork work = { .one = one, .job = &plan };
  bool done = plan_begin (&plan, pool);

  if (!done)
    return false;
  work.memory = volume_bytes (plan.loops, plan.size) + volume_bytes (plan.loops, plan.out);
  done = adj_k_for_each_volume (&work, adj_k_view_count (&volumes),
                                adj_k_view_count (&pool->x) > SERIAL);
  plan_end (&plan);
  return done;
}

bool
adj_k_avg_pool (const AdjKPool *pool)
{
  return average (pool, average_volume);
}

bool
adj_k_avg_pool_backward (const AdjKPool *pool)
{
  return average (pool, spread_volume);
}
