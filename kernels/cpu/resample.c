/* SPDX-License-Identifier: MIT */

/* Resampling: along each axis an element of y is a weighted sum of elements of x, its taps. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adj-kernel-resample.h"
#include "resample-plan.h"

enum
{
  SERIAL = 16 * 1024 /* elements below which threads do not pay */
};

static int64_t
clamp_i64 (int64_t i, int64_t size)
{
  return i < 0 ? 0 : min_i64 (i, size - 1);
}

/* --- taps of each class, into @taps; returns how many ------------------------------------------
 */

#define TAPS(c, T, FLOOR, FABS, FMA)                                                               \
  /* The sizes of elements of y, in those of x. */                                                 \
  static T c##_ratio (const ResampleAxis *axis)                                                    \
  {                                                                                                \
    if (axis->resample->align_corners)                                                             \
      return axis->out > 1 ? (T) (axis->size - 1) / (T) (axis->out - 1) : 0;                       \
    return axis->scale > 0 ? (T) (1 / axis->scale) : (T) axis->size / (T) axis->out;               \
  }                                                                                                \
                                                                                                   \
  static T c##_place (const ResampleAxis *axis, int64_t i)                                         \
  {                                                                                                \
    if (axis->resample->align_corners)                                                             \
      return c##_ratio (axis) * (T) i;                                                             \
    if (axis->resample->places.fused)                                                              \
      return FMA (c##_ratio (axis), (T) i + (T) 0.5, (T) -0.5);                                    \
    return c##_ratio (axis) * ((T) i + (T) 0.5) - (T) 0.5;                                         \
  }                                                                                                \
                                                                                                   \
  /* How far element @at of x, one of those from @low on, is from where element @i of y is. */     \
  static T c##_apart (const ResampleAxis *axis, int64_t i, int64_t at, int64_t low)                \
  {                                                                                                \
    T past = (T) i + (T) 0.5;                                                                      \
                                                                                                   \
    if (axis->resample->places.fused)                                                              \
      return FMA (-c##_ratio (axis), past, (T) at) + (T) 0.5;                                      \
    return (T) (at - low) + (T) low - c##_ratio (axis) * past + (T) 0.5;                           \
  }                                                                                                \
                                                                                                   \
  static T c##_source (const ResampleAxis *axis, int64_t i)                                        \
  {                                                                                                \
    bool narrow = axis->resample->places.narrow;                                                   \
                                                                                                   \
    return narrow ? (T) f32_place (axis, i) : c##_place (axis, i);                                 \
  }                                                                                                \
                                                                                                   \
  static T c##_distance (const ResampleAxis *axis, int64_t i, int64_t at, int64_t low)             \
  {                                                                                                \
    bool narrow = axis->resample->places.narrow;                                                   \
                                                                                                   \
    return narrow ? (T) f32_apart (axis, i, at, low) : c##_apart (axis, i, at, low);               \
  }                                                                                                \
                                                                                                   \
  static int c##_linear (const ResampleAxis *axis, int64_t i, ResampleTap *taps)                   \
  {                                                                                                \
    T at = c##_source (axis, i), right;                                                            \
                                                                                                   \
    at = at < 0 ? 0 : at;                                                                          \
    taps[0].at = min_i64 ((int64_t) at, axis->size - 1);                                           \
    taps[1].at = min_i64 (taps[0].at + 1, axis->size - 1);                                         \
    right = at - (T) taps[0].at;                                                                   \
    taps[0].weight = 1 - right;                                                                    \
    taps[1].weight = right;                                                                        \
    return 2;                                                                                      \
  }                                                                                                \
                                                                                                   \
  /* Keys' kernel with the free number @a, at the distance @x. */                                  \
  static T c##_keys (T x, T a)                                                                     \
  {                                                                                                \
    if (x < 1)                                                                                     \
      return ((a + 2) * x - (a + 3)) * x * x + 1;                                                  \
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;                                  \
  }                                                                                                \
                                                                                                   \
  static int c##_cubic (const ResampleAxis *axis, int64_t i, ResampleTap *taps)                    \
  {                                                                                                \
    T at = c##_source (axis, i);                                                                   \
    int64_t low = min_i64 ((int64_t) FLOOR (at), axis->size - 1);                                  \
    T past = at - (T) low, right = past < 0 ? 0 : past > 1 ? 1 : past;                             \
    const T distances[] = { right + 1, right, 1 - right, 2 - right };                              \
                                                                                                   \
    for (int k = 0; k < 4; k++)                                                                    \
      taps[k] = (ResampleTap){ clamp_i64 (low - 1 + k, axis->size),                                \
                               c##_keys (distances[k], (T) -0.75) };                               \
    return 4;                                                                                      \
  }                                                                                                \
                                                                                                   \
  /* All that an element covers, by a triangle or Keys' kernel. */                                 \
  static int c##_cover (const ResampleAxis *axis, int64_t i, ResampleTap *taps)                    \
  {                                                                                                \
    bool cubic = axis->resample->mode == ADJ_K_RESAMPLE_CUBIC;                                     \
    T ratio = c##_ratio (axis), shrink = ratio >= 1 ? ratio : 1, total = 0;                        \
    T reach = shrink * (cubic ? 2 : 1), center = ratio * ((T) i + (T) 0.5);                        \
    int64_t low = clamp_i64 ((int64_t) (center - reach + (T) 0.5), axis->size);                    \
    int64_t high = min_i64 ((int64_t) (center + reach + (T) 0.5), axis->size);                     \
    int n = 0;                                                                                     \
                                                                                                   \
    for (int64_t at = low; at < high; at++)                                                        \
      {                                                                                            \
        T x = FABS (c##_distance (axis, i, at, low) / shrink);                                     \
        T weight = cubic ? c##_keys (x, (T) -0.5) : x < 1 ? 1 - x : 0;                             \
                                                                                                   \
        taps[n++] = (ResampleTap){ at, weight };                                                   \
        total += weight;                                                                           \
      }                                                                                            \
    for (int k = 0; k < n && total != 0; k++)                                                      \
      taps[k].weight = (T) taps[k].weight / total;                                                 \
    return n;                                                                                      \
  }

TAPS (f32, float, floorf, fabsf, fmaf)
TAPS (f64, double, floor, fabs, fma)

static int
one_tap (int64_t at, ResampleTap *taps)
{
  taps[0] = (ResampleTap){ at, 1 };
  return 1;
}

static int
nearest (const ResampleAxis *axis, int64_t i, ResampleTap *taps)
{
  return one_tap (clamp_i64 ((int64_t) floorf ((float) i * f32_ratio (axis)), axis->size), taps);
}

static int
nearest_exact (const ResampleAxis *axis, int64_t i, ResampleTap *taps)
{
  float at = (float) (((double) i + 0.5) * (double) f32_ratio (axis));

  return one_tap (clamp_i64 ((int64_t) floorf (at), axis->size), taps);
}

typedef int (*TapsFunc) (const ResampleAxis *axis, int64_t i, ResampleTap *taps);

static const TapsFunc taps_of_mode[ADJ_K_CLASS_N][ADJ_K_RESAMPLE_N] = {
  [ADJ_K_CLASS_F32] = { nearest, nearest_exact, f32_linear, f32_cubic },
  [ADJ_K_CLASS_F64] = { nearest, nearest_exact, f64_linear, f64_cubic },
};

/* How many taps an element has at most. */
static int64_t
most_taps (const ResampleAxis *axis, TapsFunc func)
{
  double ratio = fmax (f64_ratio (axis), 1);

  if (func == f32_cover || func == f64_cover)
    return min_i64 ((int64_t) (4 * ratio) + 3, axis->size);
  return 4;
}

static bool
axis_begin (ResampleAxis *axis, TapsFunc func)
{
  int64_t n = 0;

  axis->first = malloc ((size_t) (axis->out + 1) * sizeof *axis->first);
  axis->taps = malloc ((size_t) (axis->out * most_taps (axis, func) + 1) * sizeof *axis->taps);
  if (!axis->first || !axis->taps)
    return false;
  for (int64_t i = 0; i < axis->out; i++)
    {
      axis->first[i] = n;
      n += func ? func (axis, i, axis->taps + n) : one_tap (i, axis->taps + n);
      for (int64_t k = axis->first[i]; axis->moves && k < n; k++)
        axis->taps[k].weight += axis->moves[4 * i + k % 4];
    }
  axis->first[axis->out] = n;
  return true;
}

void
adj_k_resample_end (ResamplePlan *plan)
{
  for (int i = 0; i < AXES; i++)
    {
      free (plan->axes[i].first);
      free (plan->axes[i].taps);
    }
}

bool
adj_k_resample_begin (ResamplePlan *plan, const AdjKResample *resample)
{
  AdjKClass klass = class_of (resample->x.type);
  TapsFunc func = taps_of_mode[klass][resample->mode];
  /* Like PyTorch, other modes ignore the scale of an axis that keeps its size. */
  bool by_scale = resample->mode == ADJ_K_RESAMPLE_CUBIC || resample->antialias;
  bool done = true;

  if (resample->antialias)
    func = klass == ADJ_K_CLASS_F64 ? f64_cover : f32_cover;
  *plan = (ResamplePlan){ .resample = resample, .loops = &adj_k_loops ()->klass[klass] };
  volume_size (&resample->x, plan->size);
  volume_size (&resample->y, plan->out);
  for (int i = 0; i < AXES; i++)
    {
      bool stays = i < AXES - resample->n_axes || (plan->size[i] == plan->out[i] && !by_scale);

      plan->axes[i] = (ResampleAxis){
        .resample = resample,
        .scale = resample->scale[i],
        .moves = resample->places.moves[i],
        .size = plan->size[i],
        .out = plan->out[i],
      };
      done = axis_begin (&plan->axes[i], stays ? NULL : func) && done;
    }
  if (!done)
    adj_k_resample_end (plan);
  return done;
}

/* --- loops of each class -----------------------------------------------------------------------
 */

#define FOR_TAPS(tap, axis, i)                                                                     \
  for (const ResampleTap *tap = (axis)->taps + (axis)->first[i],                                   \
                         *tap##_end = (axis)->taps + (axis)->first[(i) + 1];                       \
       tap < tap##_end; tap++)

/* sum = the weighted sum of @value over the taps of element @i. */
#define WEIGH(T, sum, axis, i, value)                                                              \
  do                                                                                               \
    {                                                                                              \
      const ResampleTap *tap = (axis)->taps + (axis)->first[i];                                    \
                                                                                                   \
      sum = (T) tap->weight * (value);                                                             \
      while (++tap < (axis)->taps + (axis)->first[(i) + 1])                                        \
        sum += (T) tap->weight * (value);                                                          \
    }                                                                                              \
  while (0)

#define RESAMPLE_LOOPS(c, T)                                                                       \
  static T c##_blend_row (const ResamplePlan *plan, const T *x, int64_t w)                         \
  {                                                                                                \
    T sum;                                                                                         \
                                                                                                   \
    WEIGH (T, sum, &plan->axes[2], w, x[tap->at]);                                                 \
    return sum;                                                                                    \
  }                                                                                                \
                                                                                                   \
  static T c##_blend_plane (const ResamplePlan *plan, const T *x, int64_t h, int64_t w)            \
  {                                                                                                \
    T sum;                                                                                         \
                                                                                                   \
    WEIGH (T, sum, &plan->axes[1], h, c##_blend_row (plan, x + tap->at * plan->size[2], w));       \
    return sum;                                                                                    \
  }                                                                                                \
                                                                                                   \
  static void c##_blend (const ResamplePlan *plan, void *x, void *y)                               \
  {                                                                                                \
    int64_t area = plan->size[1] * plan->size[2];                                                  \
    T *to = y;                                                                                     \
                                                                                                   \
    for (int64_t d = 0; d < plan->out[0]; d++)                                                     \
      for (int64_t h = 0; h < plan->out[1]; h++)                                                   \
        for (int64_t w = 0; w < plan->out[2]; w++, to++)                                           \
          WEIGH (T, *to, &plan->axes[0], d,                                                        \
                 c##_blend_plane (plan, (T *) x + tap->at * area, h, w));                          \
  }                                                                                                \
                                                                                                   \
  static void c##_spread (const ResamplePlan *plan, void *x, void *y)                              \
  {                                                                                                \
    const T *from = y;                                                                             \
                                                                                                   \
    for (int64_t d = 0; d < plan->out[0]; d++)                                                     \
      for (int64_t h = 0; h < plan->out[1]; h++)                                                   \
        for (int64_t w = 0; w < plan->out[2]; w++, from++)                                         \
          FOR_TAPS (deep, &plan->axes[0], d)                                                       \
    FOR_TAPS (down, &plan->axes[1], h)                                                             \
    FOR_TAPS (across, &plan->axes[2], w)                                                           \
    ((T *) x)[(deep->at * plan->size[1] + down->at) * plan->size[2] + across->at] +=               \
        (T) deep->weight * (T) down->weight * (T) across->weight * *from;                          \
  }

RESAMPLE_LOOPS (f32, float)
RESAMPLE_LOOPS (f64, double)

/* --- volumes -----------------------------------------------------------------------------------
 */

static void
blend_volume (const void *job, int64_t volume, void *memory)
{
  const ResamplePlan *plan = job;
  const AdjKView *x = &plan->resample->x, *y = &plan->resample->y;
  AdjKView x_volumes = adj_k_volumes_of (x), y_volumes = adj_k_volumes_of (y);
  char *y_memory = (char *) memory + volume_bytes (plan->loops, plan->size);

  adj_k_volume_load (plan->loops, memory, x, adj_k_view_offset (&x_volumes, volume));
  (x->type == ADJ_K_F64 ? f64_blend : f32_blend) (plan, memory, y_memory);
  adj_k_volume_store (plan->loops, y, adj_k_view_offset (&y_volumes, volume), y_memory);
}

static void
spread_volume (const void *job, int64_t volume, void *memory)
{
  const ResamplePlan *plan = job;
  const AdjKView *x = &plan->resample->x, *y = &plan->resample->y;
  AdjKView x_volumes = adj_k_volumes_of (x), y_volumes = adj_k_volumes_of (y);
  size_t bytes = volume_bytes (plan->loops, plan->size);
  char *y_memory = (char *) memory + bytes;

  adj_k_volume_load (plan->loops, y_memory, y, adj_k_view_offset (&y_volumes, volume));
  memset (memory, 0, bytes);
  (x->type == ADJ_K_F64 ? f64_spread : f32_spread) (plan, memory, y_memory);
  adj_k_volume_store (plan->loops, x, adj_k_view_offset (&x_volumes, volume), memory);
}

static bool
resample_volumes (const AdjKResample *resample, void (*one) (const void *, int64_t, void *))
{
  AdjKView volumes = adj_k_volumes_of (&resample->x);
  ResamplePlan plan;
  VolumeWork work = { .one = one, .job = &plan };
  bool done = adj_k_resample_begin (&plan, resample);

  if (!done)
    return false;
  work.memory = volume_bytes (plan.loops, plan.size) + volume_bytes (plan.loops, plan.out);
  done = adj_k_for_each_volume (&work, adj_k_view_count (&volumes),
                                adj_k_view_count (&resample->y) > SERIAL);
  adj_k_resample_end (&plan);
  return done;
}

bool
adj_k_resample (const AdjKResample *resample)
{
  return resample_volumes (resample, blend_volume);
}

bool
adj_k_resample_backward (const AdjKResample *resample)
{
  return resample_volumes (resample, spread_volume);
}
