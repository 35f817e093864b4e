/* SPDX-License-Identifier: MIT */

/* Convolutions with a stride of 1 without gathering: what some lines of positions see is copied
 * with the zeros around it; what a tap sees is then one run of the copy.  Positions between the end
 * of a line and the begin of the next are computed too, and left out. */

#include <stdlib.h>
#include <string.h>

#include "conv.h"

enum
{
  POSITIONS = 512,   /* at a time, about: a block of a matrix product */
  SERIAL = 64 * 1024 /* multiplications below which threads do not pay */
};

/* Along one dim: the zeros before the first element that a position sees. */
static int64_t
zeros_before (const ConvPlan *plan, const Axis *axis)
{
  return plan->reversed ? (axis->kernel - 1) * axis->dilation - axis->padding : axis->padding;
}

/* What a tap sees is so many elements after what the first one sees. */
static int64_t
tap_offset (const ConvPlan *plan, const Axis *axis, int64_t k)
{
  return (plan->reversed ? axis->kernel - 1 - k : k) * axis->dilation;
}

/* Elements that @n neighbouring positions see. */
static int64_t
seen_by (const Axis *axis, int64_t n)
{
  return n + (axis->kernel - 1) * axis->dilation;
}

bool
adj_k_conv_has_lines (const ConvPlan *plan)
{
  const Axis *axis = plan->axis;

  for (int d = 0; d < AXES; d++)
    if (axis[d].stride != 1 || zeros_before (plan, &axis[d]) < 0)
      return false;
  return axis[0].kernel == 1 && axis[0].padding == 0 && axis[1].kernel * axis[2].kernel > 1 &&
         seen_by (&axis[2], axis[2].positions) * 4 <= axis[2].positions * 5;
}

/* Some lines of one image and group, and what they are computed with. */
typedef struct
{
  const ConvPlan *plan;
  const AdjKView *weights;
  int64_t image, group;
  int64_t depth, first, n; /* the lines */
  int64_t width, height;   /* of the copy of what they see */
  int64_t *rows;           /* where in the copy each row of columns begins */
  char *copy, *result;
} Lines;

/* The elements of channel @c that the lines see, as far as there are any. */
static void
copy_channel (const Lines *lines, int64_t c)
{
  const ConvPlan *plan = lines->plan;
  const AdjKView *source = &plan->source;
  const Axis *y = &plan->axis[1], *x = &plan->axis[2];
  size_t size = adj_k_type_get_size (source->type);
  char *to = lines->copy + (size_t) (c * lines->height * lines->width) * size;
  int64_t channel = lines->group * plan->channels + c;
  int64_t base = lines->image * source->stride[0] + channel * source->stride[1] +
                 lines->depth * source->stride[2];
  int64_t left = zeros_before (plan, x), count = min_i64 (x->size, lines->width - left);

  memset (to, 0, (size_t) (lines->height * lines->width) * size);
  for (int64_t i = 0; i < lines->height && count > 0; i++)
    {
      int64_t line = lines->first + i - zeros_before (plan, y);

      if (line >= 0 && line < y->size)
        adj_k_copy_run (to + (size_t) (i * lines->width + left) * size, 1,
                        view_at (source, base + line * source->stride[3]), source->stride[4], count,
                        size);
    }
}

static void
find_rows (const Lines *lines)
{
  const ConvPlan *plan = lines->plan;
  const Axis *y = &plan->axis[1], *x = &plan->axis[2];

  for (int64_t row = 0; row < plan->channels * plan->taps; row++)
    {
      int64_t tap = row % plan->taps;

      lines->rows[row] =
          (row / plan->taps * lines->height + tap_offset (plan, y, tap / x->kernel)) *
              lines->width +
          tap_offset (plan, x, tap % x->kernel);
    }
}

static AdjKView
bias_of (const Lines *lines, int64_t n)
{
  const ConvPlan *plan = lines->plan;
  const AdjKView *bias = plan->conv->bias;

  return (AdjKView){
    .data = view_at (bias, lines->group * plan->rows * bias->stride[0]),
    .type = bias->type,
    .rank = 2,
    .size = { plan->rows, n },
    .stride = { bias->stride[0], 0 },
  };
}

/* The positions of the lines, without those between them. */
static void
write_lines (const Lines *lines, const AdjKView *result)
{
  const ConvPlan *plan = lines->plan;
  const AdjKView *to = &plan->destination;
  int64_t channel = lines->group * plan->rows;
  AdjKView from = {
    .data = result->data,
    .type = to->type,
    .rank = 3,
    .size = { plan->rows, lines->n, plan->axis[2].positions },
    .stride = { result->stride[0], lines->width, 1 },
  };
  AdjKView out = from;

  out.data = view_at (to, lines->image * to->stride[0] + channel * to->stride[1] +
                              lines->depth * to->stride[2] + lines->first * to->stride[3]);
  out.stride[0] = to->stride[1];
  out.stride[1] = to->stride[3];
  out.stride[2] = to->stride[4];
  adj_k_copy (&out, &from);
}

static void
compute_lines (const Lines *lines)
{
  const ConvPlan *plan = lines->plan;
  int64_t k = plan->channels * plan->taps;
  int64_t n = (lines->n - 1) * lines->width + plan->axis[2].positions;
  AdjKGemm gemm = {
    .a = { .data = view_at (lines->weights, lines->group * plan->rows * k),
           .type = lines->weights->type,
           .rank = 2,
           .size = { plan->rows, k },
           .stride = { k, 1 } },
    .b = { .data = lines->copy,
           .type = plan->source.type,
           .rank = 2,
           .size = { k, n },
           .stride = { 0, 1 } },
    .c = { .data = lines->result,
           .type = plan->destination.type,
           .rank = 2,
           .size = { plan->rows, n },
           .stride = { lines->n * lines->width, 1 } },
    .alpha = 1,
    .beta = 1,
  };
  AdjKView bias;

  if (plan->conv->bias)
    {
      bias = bias_of (lines, n);
      gemm.d = &bias;
    }
  for (int64_t c = 0; c < plan->channels; c++)
    copy_channel (lines, c);
  find_rows (lines);
  adj_k_gemm_rows (&gemm, lines->rows);
  write_lines (lines, &gemm.c);
}

/* With memory for its time. */
static bool
compute_task (Lines *lines)
{
  const ConvPlan *plan = lines->plan;
  size_t k = (size_t) (plan->channels * plan->taps);
  size_t copied = (size_t) (plan->channels * lines->height * lines->width);
  size_t computed = (size_t) (plan->rows * lines->n * lines->width);

  lines->rows = malloc ((k + 1) * sizeof *lines->rows);
  lines->copy = malloc ((copied + 1) * adj_k_type_get_size (plan->source.type));
  lines->result = malloc ((computed + 1) * adj_k_type_get_size (plan->destination.type));
  bool done = lines->rows && lines->copy && lines->result;

  if (done)
    compute_lines (lines);
  free (lines->rows);
  free (lines->copy);
  free (lines->result);
  return done;
}

bool
adj_k_conv_lines (const ConvPlan *plan, const AdjKView *weights)
{
  const Axis *y = &plan->axis[1];
  int64_t width = seen_by (&plan->axis[2], plan->axis[2].positions);
  int64_t together = POSITIONS / width > 1 ? POSITIONS / width : 1;
  int64_t blocks = (y->positions + together - 1) / together;
  int64_t depths = plan->axis[0].positions;
  int64_t tasks = plan->destination.size[0] * plan->conv->groups * depths * blocks;
  double work = (double) (plan->destination.size[0] * plan->destination.size[1]) *
                (double) (plan->positions * plan->channels * plan->taps);
  bool threads = tasks > 1 && work > SERIAL, done = true;

#pragma omp parallel for schedule(static) if (threads) reduction(&& : done)
  for (int64_t task = 0; task < tasks; task++)
    {
      Lines lines = {
        .plan = plan,
        .weights = weights,
        .image = task / blocks / depths / plan->conv->groups,
        .group = task / blocks / depths % plan->conv->groups,
        .depth = task / blocks % depths,
        .first = task % blocks * together,
        .width = width,
      };

      lines.n = min_i64 (together, y->positions - lines.first);
      lines.height = seen_by (y, lines.n);
      done = compute_task (&lines) && done;
    }
  return done;
}
