/* SPDX-License-Identifier: MIT */

/* Convolutions as matrix products: the inputs of a run of positions are gathered into the columns
 * of a matrix.  Gathering for the gradient of the input is the same loop with stride and position
 * exchanged, so both directions share one function. */

#include "conv.h"

#include <stdlib.h>
#include <string.h>

enum
{
  BLOCK = 256,        /* chunks of positions are multiples of it */
  CACHE = 128 * 1024, /* elements of gathered columns that stay in cache */
  SERIAL = 64 * 1024  /* multiplications below which threads do not pay */
};

/* Positions first, first + step, … see elements from, from + jump, … */
typedef struct
{
  int64_t first, step, count;
  int64_t from, jump;
} Run;

static int64_t
floor_div (int64_t a, int64_t b)
{
  return b == 1 ? a : a / b - (a % b < 0);
}

static int64_t
max_i64 (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* The positions among @start … @start + @n - 1 that have an input for tap @k. */
static Run
see (const ConvPlan *plan, const Axis *axis, int64_t k, int64_t start, int64_t n)
{
  int64_t shift = k * axis->dilation - axis->padding, s = axis->stride, last;
  Run run = { .step = 1, .jump = s };

  if (!plan->reversed)
    {
      run.first = max_i64 (start, floor_div (s - 1 - shift, s));
      last = min_i64 (start + n - 1, floor_div (axis->size - 1 - shift, s));
      run.count = max_i64 (last - run.first + 1, 0);
      run.from = run.first * s + shift;
      return run;
    }
  run.step = s;
  run.jump = 1;
  run.from = max_i64 (floor_div (start - shift + s - 1, s), 0);
  run.first = run.from * s + shift;
  last = min_i64 (start + n - 1, (axis->size - 1) * s + shift);
  run.count = last < run.first ? 0 : floor_div (last - run.first, s) + 1;
  return run;
}

/* --- gathering ---------------------------------------------------------------------------------
 */

/* Positions @start … @start + @n - 1 of row @row of the columns of one image and group, whose first
 * source element is @base elements further on. */
static void
gather_row (const ConvPlan *plan, char *out, int64_t base, int64_t row, int64_t start, int64_t n)
{
  const Axis *axis = plan->axis;
  const int64_t *stride = plan->source.stride + 2;
  size_t size = adj_k_type_get_size (plan->source.type);
  int64_t c = row / plan->taps, tap = row % plan->taps;
  int64_t k[AXES] = { tap / (axis[1].kernel * axis[2].kernel),
                      tap / axis[2].kernel % axis[1].kernel, tap % axis[2].kernel };
  int64_t width = axis[2].positions, height = axis[1].positions;

  int64_t x = start % width, y = start / width % height, z = start / width / height;

  base += c * plan->source.stride[1];
  for (; n > 0; x = 0, z += y + 1 == height, y = y + 1 == height ? 0 : y + 1)
    {
      int64_t length = min_i64 (width - x, n);
      Run runs[AXES] = { see (plan, &axis[0], k[0], z, 1), see (plan, &axis[1], k[1], y, 1),
                         see (plan, &axis[2], k[2], x, length) };
      int64_t at =
          base + runs[0].from * stride[0] + runs[1].from * stride[1] + runs[2].from * stride[2];
      bool seen = runs[0].count > 0 && runs[1].count > 0 && runs[2].count > 0;

      if (!seen || runs[2].count < length)
        memset (out, 0, (size_t) length * size);
      if (seen)
        adj_k_copy_run (out + (size_t) (runs[2].first - x) * size, runs[2].step,
                        view_at (&plan->source, at), runs[2].jump * stride[2], runs[2].count, size);
      out += (size_t) length * size;
      n -= length;
    }
}

static AdjKView
matrix (void *data, AdjKType type, int64_t rows, int64_t cols)
{
  return (AdjKView){
    .data = data,
    .type = type,
    .rank = 2,
    .size = { rows, cols },
    .stride = { cols, 1 },
  };
}

/* --- views -------------------------------------------------------------------------------------
 */

/* A view with three spatial dims, with sizes of 1 in front of the existing ones. */
static AdjKView
with_three_axes (const AdjKView *view)
{
  AdjKView out = *view;
  int missing = AXES + 2 - view->rank;

  out.rank = AXES + 2;
  for (int d = 0; d < missing; d++)
    {
      out.size[2 + d] = 1;
      out.stride[2 + d] = 0;
    }
  for (int d = 2; d < view->rank; d++)
    {
      out.size[missing + d] = view->size[d];
      out.stride[missing + d] = view->stride[d];
    }
  return out;
}

int64_t
adj_k_conv_position_stride (const AdjKView *view)
{
  AdjKView spatial = adj_k_view_keep (view, ~UINT32_C (3));

  adj_k_views_merge (&spatial, 1);
  return spatial.rank == 1 ? spatial.stride[0] : -1;
}

/* A view with the same sizes in new, dense memory; data is NULL when memory ran out. */
static AdjKView
fresh_like (const AdjKView *view, AdjKType type)
{
  AdjKView out = *view;
  int64_t n = 1;

  out.type = type;
  for (int d = view->rank; d-- > 0;)
    {
      out.stride[d] = n;
      n *= max_i64 (view->size[d], 1);
    }
  out.data = malloc ((size_t) n * adj_k_type_get_size (type));
  return out;
}

/* The weights as [group, rows, source channels, kernel…]. */
static AdjKView
weights_by_group (const ConvPlan *plan)
{
  const AdjKView *w = &plan->conv->w;
  AdjKView kernel = with_three_axes (w), out = kernel;
  int64_t n = w->size[0] / plan->conv->groups;
  int outputs = plan->reversed ? 2 : 1, inputs = plan->reversed ? 1 : 2;

  out.rank = AXES + 3;
  out.size[0] = plan->conv->groups;
  out.stride[0] = n * w->stride[0];
  out.size[outputs] = n;
  out.stride[outputs] = w->stride[0];
  out.size[inputs] = w->size[1];
  out.stride[inputs] = w->stride[1];
  for (int d = 0; d < AXES; d++)
    {
      out.size[3 + d] = kernel.size[2 + d];
      out.stride[3 + d] = kernel.stride[2 + d];
    }
  return out;
}

static ConvPlan
plan_new (const AdjKConv *conv, bool reversed)
{
  AdjKView kernel = with_three_axes (&conv->w);
  int missing = AXES + 2 - conv->w.rank;
  ConvPlan plan = {
    .conv = conv,
    .source = with_three_axes (reversed ? &conv->y : &conv->x),
    .destination = with_three_axes (reversed ? &conv->x : &conv->y),
    .reversed = reversed,
    .taps = 1,
    .positions = 1,
  };

  plan.rows = plan.destination.size[1] / conv->groups;
  plan.channels = plan.source.size[1] / conv->groups;
  for (int d = 0; d < AXES; d++)
    {
      plan.axis[d] = (Axis){
        .size = plan.source.size[2 + d],
        .positions = plan.destination.size[2 + d],
        .kernel = kernel.size[2 + d],
        .stride = d < missing ? 1 : conv->stride[d - missing],
        .padding = d < missing ? 0 : conv->padding[d - missing],
        .dilation = d < missing ? 1 : conv->dilation[d - missing],
      };
      plan.taps *= plan.axis[d].kernel;
      plan.positions *= plan.axis[d].positions;
    }
  return plan;
}

/* Whether each position sees only the element at its own place: then the source is the matrix of
 * columns. */
static bool
sees_itself (const ConvPlan *plan)
{
  for (int d = 0; d < AXES; d++)
    if (plan->axis[d].kernel != 1 || plan->axis[d].stride != 1 || plan->axis[d].padding != 0 ||
        plan->axis[d].size != plan->axis[d].positions)
      return false;
  return adj_k_conv_position_stride (&plan->source) >= 0;
}

/* @k channels of the source, @base elements further on, at positions @start … @start + @n - 1. */
static AdjKView
channels_of (const ConvPlan *plan, int64_t base, int64_t start, int64_t k, int64_t n)
{
  int64_t stride = adj_k_conv_position_stride (&plan->source);
  AdjKView channels =
      matrix (view_at (&plan->source, base + start * stride), plan->source.type, k, n);

  channels.stride[0] = plan->source.stride[1];
  channels.stride[1] = stride;
  return channels;
}

/* --- y and x -----------------------------------------------------------------------------------
 */

/* Positions @start … @start + @n - 1 of one image and group. */
static bool
multiply_chunk (const ConvPlan *plan,
                const AdjKView *weights,
                int64_t image,
                int64_t group,
                int64_t start,
                int64_t n)
{
  const AdjKView *to = &plan->destination;
  int64_t k = plan->channels * plan->taps;
  int64_t stride = adj_k_conv_position_stride (to);
  int64_t base = image * plan->source.stride[0] + group * plan->channels * plan->source.stride[1];
  size_t size = adj_k_type_get_size (plan->source.type);
  bool direct = sees_itself (plan);
  char *columns = direct ? NULL : malloc ((size_t) max_i64 (k * n, 1) * size);
  AdjKGemm gemm = { .alpha = 1, .beta = 1 };
  AdjKView bias;

  if (!direct && !columns)
    return false;
  for (int64_t row = 0; row < k && !direct; row++)
    gather_row (plan, columns + (size_t) (row * n) * size, base, row, start, n);

  gemm.a = matrix (view_at (weights, group * plan->rows * k), weights->type, plan->rows, k);
  gemm.b =
      direct ? channels_of (plan, base, start, k, n) : matrix (columns, plan->source.type, k, n);
  gemm.c = matrix (
      view_at (to, image * to->stride[0] + group * plan->rows * to->stride[1] + start * stride),
      to->type, plan->rows, n);
  gemm.c.stride[0] = to->stride[1];
  gemm.c.stride[1] = stride;
  if (plan->conv->bias)
    {
      bias = matrix (view_at (plan->conv->bias, group * plan->rows * plan->conv->bias->stride[0]),
                     plan->conv->bias->type, plan->rows, n);
      bias.stride[0] = plan->conv->bias->stride[0];
      bias.stride[1] = 0;
      gemm.d = &bias;
    }
  adj_k_gemm (&gemm);
  free (columns);
  return true;
}

static bool
multiply (const ConvPlan *plan, const AdjKView *weights)
{
  int64_t images = plan->destination.size[0], groups = plan->conv->groups;
  int64_t k = max_i64 (plan->channels * plan->taps, 1);
  int64_t chunk = max_i64 (CACHE / k / BLOCK, 1) * BLOCK;
  int64_t chunks = (plan->positions + chunk - 1) / chunk, tasks = images * groups * chunks;
  double work = (double) tasks * (double) min_i64 (chunk, plan->positions) * (double) k;
  bool threads = tasks > 1 && work * (double) plan->rows > SERIAL, done = true;

#pragma omp parallel for schedule(static) if (threads) reduction(&& : done)
  for (int64_t task = 0; task < tasks; task++)
    {
      int64_t start = task % chunks * chunk;

      done = multiply_chunk (plan, weights, task / chunks / groups, task / chunks % groups, start,
                             min_i64 (chunk, plan->positions - start)) &&
             done;
    }
  return done;
}

static bool
convolve (const AdjKConv *conv, bool reversed)
{
  ConvPlan plan = plan_new (conv, reversed);
  AdjKView target = plan.destination, original = weights_by_group (&plan);
  AdjKView weights = fresh_like (&original, original.type);
  bool flat = adj_k_conv_position_stride (&target) >= 0, done;

  if (!flat)
    plan.destination = fresh_like (&target, target.type);
  done = weights.data && plan.destination.data;
  if (done)
    {
      adj_k_copy (&weights, &original);
      done = adj_k_conv_has_lines (&plan) ? adj_k_conv_lines (&plan, &weights)
                                          : multiply (&plan, &weights);
    }
  if (done && !flat)
    adj_k_copy (&target, &plan.destination);
  if (!flat)
    free (plan.destination.data);
  free (weights.data);
  return done;
}

bool
adj_k_conv (const AdjKConv *conv)
{
  return convolve (conv, false);
}

bool
adj_k_conv_input (const AdjKConv *conv)
{
  return convolve (conv, true);
}

static void
transpose (AdjKView *view)
{
  AdjKView before = *view;

  for (int d = 0; d < 2; d++)
    {
      view->size[d] = before.size[1 - d];
      view->stride[d] = before.stride[1 - d];
    }
}

/* --- w -----------------------------------------------------------------------------------------
 */

/* Some rows of the columns of one group, summed by one thread. */
typedef struct
{
  int64_t group, first, count;
} Rows;

/* Adds the products of one chunk of positions to the sums. */
static void
add_chunk (const ConvPlan *plan,
           const AdjKView *sums,
           const Rows *rows,
           char *columns,
           int64_t image,
           int64_t start)
{
  const AdjKView *y = &plan->destination;
  int64_t k = plan->channels * plan->taps, n = min_i64 (CONV_CHUNK, plan->positions - start);
  int64_t channel = rows->group * plan->channels;
  int64_t base = image * plan->source.stride[0] + channel * plan->source.stride[1];
  size_t size = adj_k_type_get_size (plan->source.type);
  AdjKGemm gemm = { .alpha = 1, .beta = 1 };
  AdjKView before;

  bool direct = sees_itself (plan);

  for (int64_t row = 0; row < rows->count && !direct; row++)
    gather_row (plan, columns + (size_t) (row * n) * size, base, rows->first + row, start, n);

  gemm.a = matrix (view_at (y, image * y->stride[0] + rows->group * plan->rows * y->stride[1] +
                                   start * adj_k_conv_position_stride (y)),
                   y->type, plan->rows, n);
  gemm.a.stride[0] = y->stride[1];
  gemm.a.stride[1] = adj_k_conv_position_stride (y);
  gemm.b = direct ? channels_of (plan, base + rows->first * plan->source.stride[1], start,
                                 rows->count, n)
                  : matrix (columns, plan->source.type, rows->count, n);
  transpose (&gemm.b);
  gemm.c = matrix (view_at (sums, rows->group * plan->rows * k + rows->first), sums->type,
                   plan->rows, rows->count);
  gemm.c.stride[0] = k;
  before = gemm.c;
  gemm.d = &before;
  adj_k_gemm (&gemm);
}

static bool
sum_rows (const ConvPlan *plan, const AdjKView *sums, const Rows *rows)
{
  int64_t chunk = min_i64 (CONV_CHUNK, max_i64 (plan->positions, 1));
  char *columns = malloc ((size_t) (rows->count * chunk) * adj_k_type_get_size (plan->source.type));

  if (!columns)
    return false;
  for (int64_t image = 0; image < plan->destination.size[0]; image++)
    for (int64_t start = 0; start < plan->positions; start += CONV_CHUNK)
      add_chunk (plan, sums, rows, columns, image, start);
  free (columns);
  return true;
}

static bool
sum_weights (const ConvPlan *plan, const AdjKView *sums)
{
  int64_t k = plan->channels * plan->taps, blocks = (k + BLOCK - 1) / BLOCK;
  int64_t tasks = plan->conv->groups * blocks;
  double work = (double) (plan->destination.size[0] * plan->destination.size[1]) *
                (double) (plan->positions * k);
  bool done = true;

  if (adj_k_conv_weight_has_lines (plan, &adj_k_loops ()->klass[class_of (sums->type)]))
    return adj_k_conv_weight_lines (plan, sums);
  adj_k_fill_i64 (sums, 0);
#pragma omp parallel for schedule(static) if (tasks > 1 && work > SERIAL) reduction(&& : done)
  for (int64_t task = 0; task < tasks; task++)
    {
      Rows rows = { .group = task / blocks, .first = task % blocks * BLOCK };

      rows.count = min_i64 (BLOCK, k - rows.first);
      done = sum_rows (plan, sums, &rows) && done;
    }
  return done;
}

bool
adj_k_conv_weight (const AdjKConv *conv)
{
  ConvPlan plan = plan_new (conv, false);
  AdjKView target = weights_by_group (&plan), y = plan.destination;
  AdjKView sums = fresh_like (&target, adj_k_loops ()->klass[class_of (target.type)].type);
  bool flat = adj_k_conv_position_stride (&y) >= 0, done;

  if (!flat)
    plan.destination = fresh_like (&y, y.type);
  done = sums.data && plan.destination.data;
  if (done && !flat)
    adj_k_copy (&plan.destination, &y);
  done = done && sum_weights (&plan, &sums);
  if (done)
    adj_k_copy (&target, &sums);
  if (!flat)
    free (plan.destination.data);
  free (sums.data);
  return done;
}
