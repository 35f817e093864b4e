/* SPDX-License-Identifier: MIT */

/* Pooling, plane by plane: a plane is loaded into memory of the class, its windows are walked in
 * row-major order, and the result is stored. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adj-kernel-pool.h"
#include "plane.h"

enum
{
  SERIAL = 16 * 1024 /* elements below which threads do not pay */
};

/* The elements begin, begin + step, … < end that a window has along one dim; full counts those in
 * the padding too. */
typedef struct
{
  int64_t begin, end, step, full;
} Window;

typedef struct
{
  const AdjKPool *pool;
  const ClassLoops *loops;
  Window *rows, *cols; /* of each output row and column */
  int64_t size[2], out[2];
} Plan;

static int64_t
max_i64 (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

static Window
window_of (const AdjKPool *pool, int axis, int64_t size, int64_t out, int64_t i)
{
  Window window = { .step = pool->adaptive ? 1 : pool->dilation[axis] };
  int64_t start, reach;

  if (pool->adaptive)
    {
      window.begin = i * size / out;
      window.end = ((i + 1) * size + out - 1) / out;
      window.full = window.end - window.begin;
      return window;
    }
  start = i * pool->stride[axis] - pool->padding[axis];
  reach = (pool->kernel[axis] - 1) * window.step + 1;
  window.full = min_i64 (start + reach, size + pool->padding[axis]) - start;
  window.begin = start;
  if (start < 0)
    window.begin += (-start + window.step - 1) / window.step * window.step;
  window.end = min_i64 (start + reach, size);
  return window;
}

static bool
plan_begin (Plan *plan, const AdjKPool *pool)
{
  const AdjKView *x = &pool->x, *y = &pool->y;

  *plan = (Plan){ .pool = pool, .loops = &adj_k_loops ()->klass[class_of (x->type)] };
  for (int axis = 0; axis < 2; axis++)
    {
      plan->size[axis] = x->size[x->rank - 2 + axis];
      plan->out[axis] = y->size[y->rank - 2 + axis];
    }
  plan->rows = malloc ((size_t) (plan->out[0] + plan->out[1] + 1) * sizeof *plan->rows);
  if (!plan->rows)
    return false;
  plan->cols = plan->rows + plan->out[0];
  for (int axis = 0; axis < 2; axis++)
    for (int64_t i = 0; i < plan->out[axis]; i++)
      (axis == 0 ? plan->rows : plan->cols)[i] =
          window_of (pool, axis, plan->size[axis], plan->out[axis], i);
  return true;
}

/* --- loops of each class -----------------------------------------------------------------------
 */

#define POOL_LOOPS(c, T, LOWEST, IS_NAN)                                                           \
  static int64_t c##_max_window (const T *x, int64_t width, const Window *row, const Window *col,  \
                                 T *result)                                                        \
  {                                                                                                \
    int64_t index = row->begin * width + col->begin;                                               \
    T largest = LOWEST;                                                                            \
                                                                                                   \
    for (int64_t h = row->begin; h < row->end; h += row->step)                                     \
      for (int64_t w = col->begin; w < col->end; w += col->step)                                   \
        {                                                                                          \
          T value = x[h * width + w];                                                              \
                                                                                                   \
          if (value > largest || IS_NAN (value))                                                   \
            {                                                                                      \
              largest = value;                                                                     \
              index = h * width + w;                                                               \
            }                                                                                      \
        }                                                                                          \
    *result = largest;                                                                             \
    return index;                                                                                  \
  }                                                                                                \
                                                                                                   \
  static void c##_average (const T *x, int64_t width, const Window *row, const Window *col,        \
                           int64_t divisor, T *result)                                             \
  {                                                                                                \
    T sum = 0;                                                                                     \
                                                                                                   \
    for (int64_t h = row->begin; h < row->end; h++)                                                \
      for (int64_t w = col->begin; w < col->end; w++)                                              \
        sum += x[h * width + w];                                                                   \
    *result = sum / (T) divisor;                                                                   \
  }                                                                                                \
                                                                                                   \
  static void c##_spread (T *x, int64_t width, const Window *row, const Window *col,               \
                          int64_t divisor, const T *g)                                             \
  {                                                                                                \
    T share = *g / (T) divisor;                                                                    \
                                                                                                   \
    for (int64_t h = row->begin; h < row->end; h++)                                                \
      for (int64_t w = col->begin; w < col->end; w++)                                              \
        x[h * width + w] += share;                                                                 \
  }                                                                                                \
                                                                                                   \
  static void c##_max_plane (const Plan *plan, const void *x, void *y, int64_t *indices)           \
  {                                                                                                \
    for (int64_t i = 0; i < plan->out[0]; i++)                                                     \
      for (int64_t j = 0; j < plan->out[1]; j++)                                                   \
        indices[i * plan->out[1] + j] = c##_max_window (                                           \
            x, plan->size[1], &plan->rows[i], &plan->cols[j], (T *) y + i * plan->out[1] + j);     \
  }                                                                                                \
                                                                                                   \
  static void c##_average_plane (const Plan *plan, const void *x, void *y)                         \
  {                                                                                                \
    for (int64_t i = 0; i < plan->out[0]; i++)                                                     \
      for (int64_t j = 0; j < plan->out[1]; j++)                                                   \
        c##_average (x, plan->size[1], &plan->rows[i], &plan->cols[j], divisor_of (plan, i, j),    \
                     (T *) y + i * plan->out[1] + j);                                              \
  }                                                                                                \
                                                                                                   \
  static void c##_spread_plane (const Plan *plan, void *x, const void *y)                          \
  {                                                                                                \
    for (int64_t i = 0; i < plan->out[0]; i++)                                                     \
      for (int64_t j = 0; j < plan->out[1]; j++)                                                   \
        c##_spread (x, plan->size[1], &plan->rows[i], &plan->cols[j], divisor_of (plan, i, j),     \
                    (const T *) y + i * plan->out[1] + j);                                         \
  }                                                                                                \
                                                                                                   \
  static void c##_scatter_plane (void *x, const void *g, const int64_t *indices, int64_t n)        \
  {                                                                                                \
    for (int64_t i = 0; i < n; i++)                                                                \
      ((T *) x)[indices[i]] += ((const T *) g)[i];                                                 \
  }

static int64_t
divisor_of (const Plan *plan, int64_t i, int64_t j)
{
  const Window *row = &plan->rows[i], *col = &plan->cols[j];

  if (plan->pool->divisor != 0)
    return plan->pool->divisor;
  if (plan->pool->counts_padding)
    return row->full * col->full;
  return max_i64 ((row->end - row->begin) * (col->end - col->begin), 1);
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
  void (*scatter) (void *x, const void *g, const int64_t *indices, int64_t n);
} PlaneLoops;

static const PlaneLoops plane_loops[ADJ_K_CLASS_N] = {
  [ADJ_K_CLASS_F32] = { f32_max_plane, f32_average_plane, f32_spread_plane, f32_scatter_plane },
  [ADJ_K_CLASS_F64] = { f64_max_plane, f64_average_plane, f64_spread_plane, f64_scatter_plane },
  [ADJ_K_CLASS_I64] = { i64_max_plane, i64_average_plane, i64_spread_plane, i64_scatter_plane },
};

/* --- maxima ------------------------------------------------------------------------------------
 */

typedef struct
{
  Plan plan;
  const AdjKView *indices;
} MaxJob;

static void
max_plane (const void *what, int64_t plane, void *memory)
{
  const MaxJob *job = what;
  const Plan *plan = &job->plan;
  const AdjKView *x = &plan->pool->x, *y = &plan->pool->y;
  AdjKView x_planes = adj_k_planes_of (x), y_planes = adj_k_planes_of (y),
           i_planes = adj_k_planes_of (job->indices);
  /* Indices first: they need the strictest alignment. */
  int64_t *indices = memory;
  char *y_memory = (char *) (indices + plan->out[0] * plan->out[1]);
  char *x_memory = y_memory + (plane_bytes (plan->loops, plan->out) + 7) / 8 * 8;

  adj_k_plane_load (plan->loops, x_memory, x, adj_k_view_offset (&x_planes, plane));
  plane_loops[class_of (x->type)].max (plan, x_memory, y_memory, indices);
  adj_k_plane_store (plan->loops, y, adj_k_view_offset (&y_planes, plane), y_memory);
  adj_k_plane_store (&adj_k_loops ()->klass[ADJ_K_CLASS_I64], job->indices,
                     adj_k_view_offset (&i_planes, plane), indices);
}

bool
adj_k_max_pool (const AdjKPool *pool, const AdjKView *indices)
{
  AdjKView planes = adj_k_planes_of (&pool->y);
  MaxJob job = { .indices = indices };
  PlaneWork work = { .one = max_plane, .job = &job };
  bool done = plan_begin (&job.plan, pool);

  if (!done)
    return false;
  work.memory = (size_t) (job.plan.out[0] * job.plan.out[1]) * sizeof (int64_t) +
                plane_bytes (job.plan.loops, job.plan.out) + 8 +
                plane_bytes (job.plan.loops, job.plan.size);
  done = adj_k_for_each_plane (&work, adj_k_view_count (&planes),
                               adj_k_view_count (&pool->x) > SERIAL);
  free (job.plan.rows);
  return done;
}

typedef struct
{
  const ClassLoops *loops;
  const AdjKView *gx, *g, *indices;
  int64_t area, n; /* elements of a plane of gx, of g */
} ScatterJob;

static void
scatter_plane (const void *what, int64_t plane, void *memory)
{
  const ScatterJob *job = what;
  AdjKView x_planes = adj_k_planes_of (job->gx), g_planes = adj_k_planes_of (job->g);
  AdjKView i_planes = adj_k_planes_of (job->indices);
  int64_t *indices = memory;
  char *g = (char *) (indices + job->n);
  char *x = g + ((size_t) job->n * job->loops->size + 7) / 8 * 8;

  adj_k_plane_load (&adj_k_loops ()->klass[ADJ_K_CLASS_I64], indices, job->indices,
                    adj_k_view_offset (&i_planes, plane));
  adj_k_plane_load (job->loops, g, job->g, adj_k_view_offset (&g_planes, plane));
  memset (x, 0, (size_t) job->area * job->loops->size);
  plane_loops[class_of (job->gx->type)].scatter (x, g, indices, job->n);
  adj_k_plane_store (job->loops, job->gx, adj_k_view_offset (&x_planes, plane), x);
}

bool
adj_k_max_pool_check (const AdjKView *indices, int64_t area, int64_t *bad)
{
  Walk walk;

  adj_k_walk_begin (&walk, indices);
  adj_k_walk_add (&walk, indices->stride);
  for (; walk.left > 0; adj_k_walk_next (&walk))
    {
      *bad = *(const int64_t *) view_at (indices, walk.offset[0]);
      if (*bad < 0 || *bad >= area)
        return false;
    }
  return true;
}

bool
adj_k_max_pool_backward (const AdjKView *gx, const AdjKView *g, const AdjKView *indices)
{
  const int64_t *size = gx->size + gx->rank - 2, *out = g->size + g->rank - 2;
  AdjKView planes = adj_k_planes_of (g);
  ScatterJob job = {
    .loops = &adj_k_loops ()->klass[class_of (gx->type)],
    .gx = gx,
    .g = g,
    .indices = indices,
    .area = size[0] * size[1],
    .n = out[0] * out[1],
  };
  PlaneWork work = { .one = scatter_plane, .job = &job };

  work.memory = (size_t) job.n * (sizeof (int64_t) + job.loops->size) + 8 +
                (size_t) job.area * job.loops->size;
  return adj_k_for_each_plane (&work, adj_k_view_count (&planes), adj_k_view_count (gx) > SERIAL);
}

/* --- averages ----------------------------------------------------------------------------------
 */

static void
average_plane (const void *what, int64_t plane, void *memory)
{
  const Plan *plan = what;
  const AdjKView *x = &plan->pool->x, *y = &plan->pool->y;
  AdjKView x_planes = adj_k_planes_of (x), y_planes = adj_k_planes_of (y);
  char *y_memory = (char *) memory + (plane_bytes (plan->loops, plan->size) + 7) / 8 * 8;

  adj_k_plane_load (plan->loops, memory, x, adj_k_view_offset (&x_planes, plane));
  plane_loops[class_of (x->type)].average (plan, memory, y_memory);
  adj_k_plane_store (plan->loops, y, adj_k_view_offset (&y_planes, plane), y_memory);
}

static void
spread_plane (const void *what, int64_t plane, void *memory)
{
  const Plan *plan = what;
  const AdjKView *x = &plan->pool->x, *y = &plan->pool->y;
  AdjKView x_planes = adj_k_planes_of (x), y_planes = adj_k_planes_of (y);
  size_t bytes = plane_bytes (plan->loops, plan->size);
  char *y_memory = (char *) memory + (bytes + 7) / 8 * 8;

  adj_k_plane_load (plan->loops, y_memory, y, adj_k_view_offset (&y_planes, plane));
  memset (memory, 0, bytes);
  plane_loops[class_of (x->type)].spread (plan, memory, y_memory);
  adj_k_plane_store (plan->loops, x, adj_k_view_offset (&x_planes, plane), memory);
}

static bool
average (const AdjKPool *pool, void (*one) (const void *, int64_t, void *))
{
  AdjKView planes = adj_k_planes_of (&pool->x);
  Plan plan;
  PlaneWork work = { .one = one, .job = &plan };
  bool done = plan_begin (&plan, pool);

  if (!done)
    return false;
  work.memory = plane_bytes (plan.loops, plan.size) + 8 + plane_bytes (plan.loops, plan.out);
  done = adj_k_for_each_plane (&work, adj_k_view_count (&planes),
                               adj_k_view_count (&pool->x) > SERIAL);
  free (plan.rows);
  return done;
}

bool
adj_k_avg_pool (const AdjKPool *pool)
{
  return average (pool, average_plane);
}

bool
adj_k_avg_pool_backward (const AdjKPool *pool)
{
  return average (pool, spread_plane);
}
