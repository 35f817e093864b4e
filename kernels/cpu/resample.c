/* SPDX-License-Identifier: MIT */

/* Resampling: each element of y blends two rows and two columns of x. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adj-kernel-resample.h"
#include "plane.h"

enum
{
  SERIAL = 16 * 1024 /* elements below which threads do not pay */
};

/* What position i of an axis of y sees: elements low and high of x, the second weighted @weight. */
typedef struct
{
  int64_t low, high;
  double weight; /* a number of the class */
} Blend;

typedef struct
{
  const AdjKResample *resample;
  const ClassLoops *loops;
  Blend *rows, *cols;
  int64_t size[2], out[2];
} Plan;

static int64_t
nearest (const AdjKResample *resample, int axis, int64_t size, int64_t out, int64_t i)
{
  double given = resample->scale[axis];
  float scale = given > 0 ? (float) (1 / given) : (float) size / (float) out;

  return min_i64 ((int64_t) floorf ((float) i * scale), size - 1);
}

#define SOURCE(c, T)                                                                               \
  static double c##_source (const AdjKResample *resample, int axis, int64_t size, int64_t out,     \
                            int64_t i)                                                             \
  {                                                                                                \
    double given = resample->scale[axis];                                                          \
    T scale, at;                                                                                   \
                                                                                                   \
    if (resample->align_corners)                                                                   \
      return out > 1 ? (T) (size - 1) / (T) (out - 1) * (T) i : 0;                                 \
    scale = given > 0 ? (T) (1 / given) : (T) size / (T) out;                                      \
    at = scale * ((T) i + (T) 0.5) - (T) 0.5;                                                      \
    return at < 0 ? 0 : at;                                                                        \
  }

SOURCE (f32, float)
SOURCE (f64, double)

static Blend
blend_of (const AdjKResample *resample, int axis, int64_t size, int64_t out, int64_t i)
{
  Blend blend = { 0 };
  double at;

  /* PyTorch does not look at the scales then. */
  if (size == out)
    {
      blend.low = blend.high = i;
      return blend;
    }
  if (!resample->bilinear)
    {
      blend.low = blend.high = nearest (resample, axis, size, out, i);
      return blend;
    }
  at = resample->x.type == ADJ_K_F64 ? f64_source (resample, axis, size, out, i)
                                     : f32_source (resample, axis, size, out, i);
  blend.low = min_i64 ((int64_t) at, size - 1);
  blend.high = min_i64 (blend.low + 1, size - 1);
  blend.weight = at - (double) blend.low;
  return blend;
}

static bool
plan_begin (Plan *plan, const AdjKResample *resample)
{
  const AdjKView *x = &resample->x, *y = &resample->y;

  *plan = (Plan){
    .resample = resample,
    .loops = &adj_k_loops ()->klass[class_of (x->type)],
    .size = { x->size[x->rank - 2], x->size[x->rank - 1] },
    .out = { y->size[y->rank - 2], y->size[y->rank - 1] },
  };
  plan->rows = malloc ((size_t) (plan->out[0] + plan->out[1] + 1) * sizeof *plan->rows);
  if (!plan->rows)
    return false;
  plan->cols = plan->rows + plan->out[0];
  for (int axis = 0; axis < 2; axis++)
    for (int64_t i = 0; i < plan->out[axis]; i++)
      (axis == 0 ? plan->rows : plan->cols)[i] =
          blend_of (resample, axis, plan->size[axis], plan->out[axis], i);
  return true;
}

/* --- loops of each class -----------------------------------------------------------------------
 */

#define RESAMPLE_LOOPS(c, T)                                                                       \
  static void c##_blend_row (const Plan *plan, const T *x, int64_t i, T *y)                        \
  {                                                                                                \
    const Blend *row = &plan->rows[i];                                                             \
    const T *low = x + row->low * plan->size[1], *high = x + row->high * plan->size[1];            \
    T down = (T) row->weight, up = 1 - down;                                                       \
                                                                                                   \
    for (int64_t j = 0; j < plan->out[1]; j++)                                                     \
      {                                                                                            \
        const Blend *col = &plan->cols[j];                                                         \
        T right = (T) col->weight, left = 1 - right;                                               \
                                                                                                   \
        if (plan->resample->bilinear)                                                              \
          y[j] = up * (left * low[col->low] + right * low[col->high]) +                            \
                 down * (left * high[col->low] + right * high[col->high]);                         \
        else                                                                                       \
          y[j] = low[col->low];                                                                    \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void c##_spread_row (const Plan *plan, T *x, int64_t i, const T *y)                       \
  {                                                                                                \
    const Blend *row = &plan->rows[i];                                                             \
    T *low = x + row->low * plan->size[1], *high = x + row->high * plan->size[1];                  \
    T down = (T) row->weight, up = 1 - down;                                                       \
                                                                                                   \
    for (int64_t j = 0; j < plan->out[1]; j++)                                                     \
      {                                                                                            \
        const Blend *col = &plan->cols[j];                                                         \
        T right = (T) col->weight, left = 1 - right;                                               \
                                                                                                   \
        low[col->low] += up * left * y[j];                                                         \
        if (!plan->resample->bilinear)                                                             \
          continue;                                                                                \
        low[col->high] += up * right * y[j];                                                       \
        high[col->low] += down * left * y[j];                                                      \
        high[col->high] += down * right * y[j];                                                    \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void c##_blend (const Plan *plan, void *x, void *y)                                       \
  {                                                                                                \
    for (int64_t i = 0; i < plan->out[0]; i++)                                                     \
      c##_blend_row (plan, x, i, (T *) y + i * plan->out[1]);                                      \
  }                                                                                                \
                                                                                                   \
  static void c##_spread (const Plan *plan, void *x, void *y)                                      \
  {                                                                                                \
    for (int64_t i = 0; i < plan->out[0]; i++)                                                     \
      c##_spread_row (plan, x, i, (const T *) y + i * plan->out[1]);                               \
  }

RESAMPLE_LOOPS (f32, float)
RESAMPLE_LOOPS (f64, double)

/* --- planes ------------------------------------------------------------------------------------
 */

static void
blend_plane (const void *job, int64_t plane, void *memory)
{
  const Plan *plan = job;
  const AdjKView *x = &plan->resample->x, *y = &plan->resample->y;
  AdjKView x_planes = adj_k_planes_of (x), y_planes = adj_k_planes_of (y);
  char *y_memory = (char *) memory + plane_bytes (plan->loops, plan->size);

  adj_k_plane_load (plan->loops, memory, x, adj_k_view_offset (&x_planes, plane));
  (x->type == ADJ_K_F64 ? f64_blend : f32_blend) (plan, memory, y_memory);
  adj_k_plane_store (plan->loops, y, adj_k_view_offset (&y_planes, plane), y_memory);
}

static void
spread_plane (const void *job, int64_t plane, void *memory)
{
  const Plan *plan = job;
  const AdjKView *x = &plan->resample->x, *y = &plan->resample->y;
  AdjKView x_planes = adj_k_planes_of (x), y_planes = adj_k_planes_of (y);
  size_t bytes = plane_bytes (plan->loops, plan->size);
  char *y_memory = (char *) memory + bytes;

  adj_k_plane_load (plan->loops, y_memory, y, adj_k_view_offset (&y_planes, plane));
  memset (memory, 0, bytes);
  (x->type == ADJ_K_F64 ? f64_spread : f32_spread) (plan, memory, y_memory);
  adj_k_plane_store (plan->loops, x, adj_k_view_offset (&x_planes, plane), memory);
}

static bool
resample_planes (const AdjKResample *resample, void (*one) (const void *, int64_t, void *))
{
  AdjKView planes = adj_k_planes_of (&resample->x);
  Plan plan;
  PlaneWork work = { .one = one, .job = &plan };
  bool done = plan_begin (&plan, resample);

  if (!done)
    return false;
  work.memory = plane_bytes (plan.loops, plan.size) + plane_bytes (plan.loops, plan.out);
  done = adj_k_for_each_plane (&work, adj_k_view_count (&planes),
                               adj_k_view_count (&resample->y) > SERIAL);
  free (plan.rows);
  return done;
}

bool
adj_k_resample (const AdjKResample *resample)
{
  return resample_planes (resample, blend_plane);
}

bool
adj_k_resample_backward (const AdjKResample *resample)
{
  return resample_planes (resample, spread_plane);
}
