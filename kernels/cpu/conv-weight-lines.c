/* SPDX-License-Identifier: MIT */

/* The gradient of the weights of a convolution with a stride of 1: in a zero-padded image, a tap's
 * inputs for a line of positions are one run, read in place beside panels of the gradient.  Chunks
 * and slices are those of conv.c; for pairs of bf16 the image is stored in reverse. */

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "conv.h"
#include "pairs.h"

enum
{
  SERIAL = 64 * 1024 /* multiplications below which threads do not pay */
};

/* A part of the channels of a group, summed by one thread. */
typedef struct
{
  const ConvPlan *plan;
  const ClassLoops *loops;
  ConvCopy copy;
  bool is_copied;           /* the image is in @copy */
  const PairLoops *pairs;   /* (nullable): set for bf16 */
  uint16_t *turned;         /* the reversed image, if there are pairs */
  const void **turned_left; /* the rows of @left in it */
  int least;                /* its least exponent */
  int64_t count;            /* channels */
  int64_t m, ld; /* number of rows, one for each channel and tap, and their length; with padding */
  const void **left;  /* per row: the input of its tap at the first position */
  char *gradient;     /* panels of a slice of positions */
  char *chunk, *sums; /* sums of the rows: over a chunk of positions, over chunks before it */
} Part;

static int64_t
round_up (int64_t n, int64_t to)
{
  return (n + to - 1) / to * to;
}

bool
adj_k_conv_weight_has_lines (const ConvPlan *plan, const ClassLoops *loops)
{
  int64_t cols = loops->gemm_cols;

  return adj_k_conv_sees_lines (plan) && plan->axis[0].positions == 1 && plan->rows > 0 &&
         round_up (plan->rows, cols) * 3 <= plan->rows * 4;
}

/* Positions @start … @start + @n - 1 as runs of the copy. */
static int
find_runs (const Part *part, int64_t start, int64_t n, GemmRun *runs)
{
  int64_t length = part->plan->axis[2].positions;
  int count = 0;

  while (n > 0)
    {
      int64_t x = start % length, here = min_i64 (length - x, n);

      runs[count++] = (GemmRun){ start / length * part->copy.width + x, here };
      start += here;
      n -= here;
    }
  return count;
}

static void
copy_image (Part *part)
{
  for (int64_t c = 0; c < part->count && !part->is_copied; c++)
    adj_k_conv_copy_channel (part->plan, &part->copy, c);
  part->is_copied = true;
}

static void
add_slice (Part *part, int64_t start, int64_t n)
{
  const ConvPlan *plan = part->plan;
  const ClassLoops *loops = part->loops;
  const AdjKView *y = &plan->destination;
  int64_t stride = adj_k_conv_position_stride (y);
  PanelLines lines = { y,
                       part->copy.image * y->stride[0] +
                           part->copy.group * plan->rows * y->stride[1] + start * stride,
                       y->stride[1], stride, plan->rows };
  GemmRun runs[GEMM_STEP];
  int n_runs = find_runs (part, start, n, runs);

  if (part->pairs &&
      part->pairs->pack (part->gradient, PAIR_COLS, &lines, n) + part->least >= PAIRS_LEAST)
    {
      for (int64_t j = 0; j < part->ld; j += PAIR_COLS)
        for (int64_t i = 0; i < part->m; i += loops->gemm_rows)
          part->pairs->gemm_runs (part->chunk + (size_t) (i * part->ld + j) * loops->size, part->ld,
                                  part->turned_left + i,
                                  part->gradient + (size_t) (j * n / 2) * sizeof (uint32_t), runs,
                                  n_runs);
      return;
    }
  copy_image (part);
  adj_k_pack_panels (loops, part->gradient, &lines, loops->gemm_cols, n);
  for (int64_t j = 0; j < part->ld; j += loops->gemm_cols)
    for (int64_t i = 0; i < part->m; i += loops->gemm_rows)
      loops->gemm_runs (part->chunk + (size_t) (i * part->ld + j) * loops->size, part->ld,
                        part->left + i, part->gradient + (size_t) (j * n) * loops->size, runs,
                        n_runs);
}

static int64_t
copied (const Part *part)
{
  return part->count * part->copy.height * part->copy.width;
}

static void
turn_image (Part *part)
{
  ConvCopy copy = part->copy;
  int64_t n = copied (part);

  copy.load = adj_k_conv_copy_16;
  copy.size = sizeof *part->turned;
  copy.at = (char *) part->turned;
  for (int64_t c = 0; c < part->count; c++)
    adj_k_conv_copy_channel (part->plan, &copy, c);
  for (int64_t i = 0; i < n / 2; i++)
    {
      uint16_t other = part->turned[n - 1 - i];

      part->turned[n - 1 - i] = part->turned[i];
      part->turned[i] = other;
    }
  part->least = part->pairs->find_least (part->turned, n);
}

static void
add_image (Part *part)
{
  const ConvPlan *plan = part->plan;
  const ClassLoops *loops = part->loops;
  int64_t n = part->m * part->ld;

  part->is_copied = false;
  if (part->pairs)
    turn_image (part);
  for (int64_t start = 0; start < plan->positions; start += CONV_CHUNK)
    {
      int64_t end = min_i64 (start + CONV_CHUNK, plan->positions);

      memset (part->chunk, 0, (size_t) n * loops->size);
      for (int64_t p = start; p < end; p += GEMM_STEP)
        add_slice (part, p, min_i64 (GEMM_STEP, end - p));
      for (int64_t i = 0; i < part->m; i++)
        {
          char *row = part->sums + (size_t) (i * part->ld) * loops->size;

          loops->op[ADJ_K_OP_ADD](row, part->chunk + (size_t) (i * part->ld) * loops->size, row,
                                  NULL, (int) part->ld);
        }
    }
}

static void
write_sums (const Part *part, const AdjKView *sums)
{
  const ConvPlan *plan = part->plan;
  int64_t k = plan->channels * plan->taps, rows = part->count * plan->taps;
  AdjKView from = { .data = part->sums,
                    .type = part->loops->type,
                    .rank = 2,
                    .size = { plan->rows, rows },
                    .stride = { 1, part->ld } };
  AdjKView to = from;

  to.data = view_at (sums, part->copy.group * plan->rows * k + part->copy.channel * plan->taps);
  to.stride[0] = k;
  to.stride[1] = 1;
  adj_k_copy (&to, &from);
}

static void
sum_images (Part *part, const AdjKView *sums)
{
  const ConvPlan *plan = part->plan;
  const ClassLoops *loops = part->loops;

  for (int64_t i = 0; i < part->m; i++)
    {
      int64_t row = i < part->count * plan->taps ? i : 0;
      int64_t offset = adj_k_conv_row_offset (plan, &part->copy, row);

      part->left[i] = part->copy.at + (size_t) offset * loops->size;
      if (part->pairs)
        part->turned_left[i] = part->turned + copied (part) - 1 - offset;
    }
  memset (part->sums, 0, (size_t) (part->m * part->ld) * loops->size);
  for (part->copy.image = 0; part->copy.image < plan->destination.size[0]; part->copy.image++)
    add_image (part);
  write_sums (part, sums);
}

/* Sums the part with temporary memory. */
static bool
sum_part (Part *part, const AdjKView *sums)
{
  const ClassLoops *loops = part->loops;
  size_t n = (size_t) copied (part);
  size_t summed = (size_t) (part->m * part->ld);

  part->copy.at = malloc (n * loops->size + 1);
  part->turned = malloc (part->pairs ? n * sizeof *part->turned + 1 : 1);
  part->turned_left = malloc ((size_t) part->m * sizeof *part->left + 1);
  part->left = malloc ((size_t) part->m * sizeof *part->left + 1);
  part->gradient = malloc ((size_t) (GEMM_STEP * part->ld) * loops->size);
  part->chunk = malloc (summed * loops->size);
  part->sums = malloc (summed * loops->size);
  bool done = part->copy.at && part->turned && part->turned_left && part->left && part->gradient &&
              part->chunk && part->sums;

  if (done)
    sum_images (part, sums);
  free (part->copy.at);
  free (part->turned);
  free (part->turned_left);
  free (part->left);
  free (part->gradient);
  free (part->chunk);
  free (part->sums);
  return done;
}

/* (nullable): if no pair crosses the end of a line of positions. */
static const PairLoops *
find_pairs (const ConvPlan *plan)
{
  return plan->source.type == ADJ_K_BF16 && plan->destination.type == ADJ_K_BF16 &&
                 plan->axis[2].positions % 2 == 0
             ? adj_k_pair_loops ()
             : NULL;
}

bool
adj_k_conv_weight_lines (const ConvPlan *plan, const AdjKView *sums)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[class_of (sums->type)];
  const Axis *y = &plan->axis[1], *x = &plan->axis[2];
  double work = (double) (plan->destination.size[0] * plan->destination.size[1]) *
                (double) (plan->positions * plan->channels * plan->taps);
  int64_t wanted = omp_in_parallel () || work <= SERIAL ? 1 : omp_get_max_threads ();
  int64_t each = (plan->channels + wanted - 1) / wanted;
  int64_t parts = (plan->channels + each - 1) / each, tasks = parts * plan->conv->groups;
  const PairLoops *pairs = find_pairs (plan);
  bool done = true;

#pragma omp parallel for schedule(static) if (tasks > 1) reduction(&& : done)
  for (int64_t task = 0; task < tasks; task++)
    {
      Part part = {
        .plan = plan,
        .loops = loops,
        .pairs = pairs,
        .copy = { .load = loops->load[plan->source.type],
                  .size = loops->size,
                  .group = task / parts,
                  .channel = task % parts * each,
                  .width = adj_k_conv_seen_by (x, x->positions),
                  .height = adj_k_conv_seen_by (y, y->positions) },
        .ld = round_up (plan->rows, loops->gemm_cols),
      };

      part.count = min_i64 (each, plan->channels - part.copy.channel);
      part.m = round_up (part.count * plan->taps, loops->gemm_rows);
      done = sum_part (&part, sums) && done;
    }
  return done;
}
