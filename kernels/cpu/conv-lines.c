/* SPDX-License-Identifier: MIT */

/* Convolutions with a stride of 1 without gathering: in a zero-padded copy, the inputs of a tap are
 * one run.  Positions between the end of a line and the start of the next are computed too, and
 * dropped. */

#include <stdlib.h>
#include <string.h>

#include "conv.h"
#include "pairs.h"

enum
{
  POSITIONS = 512,   /* positions at a time, about */
  COPIED = 8,        /* cost of a copied element; a product costs 1 */
  SERIAL = 64 * 1024 /* multiplications below which threads do not pay */
};

/* The number of zeros before the first element that a position sees along one dim. */
static int64_t
zeros_before (const ConvPlan *plan, const Axis *axis)
{
  return plan->reversed ? (axis->kernel - 1) * axis->dilation - axis->padding : axis->padding;
}

/* The distance from the input of the first tap to that of tap @k. */
static int64_t
tap_offset (const ConvPlan *plan, const Axis *axis, int64_t k)
{
  return (plan->reversed ? axis->kernel - 1 - k : k) * axis->dilation;
}

int64_t
adj_k_conv_seen_by (const Axis *axis, int64_t n)
{
  return n + (axis->kernel - 1) * axis->dilation;
}

bool
adj_k_conv_sees_lines (const ConvPlan *plan)
{
  const Axis *axis = plan->axis;

  for (int d = 0; d < AXES; d++)
    if (axis[d].stride != 1 || zeros_before (plan, &axis[d]) < 0)
      return false;
  return axis[0].kernel == 1 && axis[0].padding == 0 && axis[1].kernel * axis[2].kernel > 1 &&
         plan->channels > 0;
}

bool
adj_k_conv_has_lines (const ConvPlan *plan)
{
  const Axis *x = &plan->axis[2];

  return adj_k_conv_sees_lines (plan) &&
         adj_k_conv_seen_by (x, x->positions) * 4 <= x->positions * 5;
}

void
adj_k_conv_copy_channel (const ConvPlan *plan, const ConvCopy *copy, int64_t channel)
{
  const AdjKView *source = &plan->source;
  const Axis *y = &plan->axis[1], *x = &plan->axis[2];
  char *to = copy->at + (size_t) (channel * copy->height * copy->width) * copy->size;
  int64_t base = copy->image * source->stride[0] +
                 (copy->group * plan->channels + copy->channel + channel) * source->stride[1] +
                 copy->depth * source->stride[2];
  int64_t left = zeros_before (plan, x), count = min_i64 (x->size, copy->width - left);

  memset (to, 0, (size_t) (copy->height * copy->width) * copy->size);
  for (int64_t i = 0; i < copy->height && count > 0; i++)
    {
      int64_t line = copy->first + i - zeros_before (plan, y);

      if (line >= 0 && line < y->size)
        copy->load (to + (size_t) (i * copy->width + left) * copy->size,
                    view_at (source, base + line * source->stride[3]), source->stride[4],
                    (int) count);
    }
}

int64_t
adj_k_conv_row_offset (const ConvPlan *plan, const ConvCopy *copy, int64_t row)
{
  const Axis *y = &plan->axis[1], *x = &plan->axis[2];
  int64_t tap = row % plan->taps;

  return (row / plan->taps * copy->height + tap_offset (plan, y, tap / x->kernel)) * copy->width +
         tap_offset (plan, x, tap % x->kernel);
}

/* The factors for products of bf16 in pairs. */
typedef struct
{
  const PairLoops *loops;
  uint32_t *panels; /* the weights of all groups */
  size_t of_group;  /* elements of one group */
  int least;        /* their least exponent */
} Pairs;

/* Lines of one image and group that are computed together, with their buffers. */
typedef struct
{
  const ConvPlan *plan;
  const ClassLoops *loops;
  ConvCopy copy;
  const char *panels; /* the weights of the group */
  const Pairs *pairs; /* (nullable): set for bf16 */
  int64_t n;          /* lines */
  int64_t *rows;      /* for each row of columns, its start in the copy */
  char *sums;         /* a row for each channel of the result, of @ld elements */
  int64_t ld;
} Lines;

static int64_t
round_up (int64_t n, int64_t to)
{
  return (n + to - 1) / to * to;
}

/* The number of rows, rounded up to whole panels. */
static int64_t
panel_rows (const ConvPlan *plan, const ClassLoops *loops)
{
  return round_up (plan->rows, loops->gemm_rows);
}

/* The weights of all groups as panels: of each slice of k, of each gemm_rows channels. */
static void
pack_weights (const ConvPlan *plan, const ClassLoops *loops, const AdjKView *weights, char *panels)
{
  int64_t k = plan->channels * plan->taps;
  size_t of_group = (size_t) (panel_rows (plan, loops) * k) * loops->size;

  for (int64_t group = 0; group < plan->conv->groups; group++)
    for (int64_t p = 0; p < k; p += GEMM_STEP)
      {
        PanelLines lines = { weights, group * plan->rows * k + p, k, 1, plan->rows };

        adj_k_pack_panels (loops,
                           panels + (size_t) group * of_group +
                               (size_t) (p * panel_rows (plan, loops)) * loops->size,
                           &lines, loops->gemm_rows, min_i64 (GEMM_STEP, k - p));
      }
}

/* The same as pairs, if there is memory for them. */
static void
pack_pairs (const ConvPlan *plan, const ClassLoops *loops, const AdjKView *weights, Pairs *pairs)
{
  int64_t k = plan->channels * plan->taps, padded = panel_rows (plan, loops);

  pairs->of_group = (size_t) (padded * ((k + 1) / 2));
  pairs->panels =
      malloc (pairs->of_group * (size_t) plan->conv->groups * sizeof *pairs->panels + 1);
  pairs->least = PAIRS_NONE;
  for (int64_t group = 0; pairs->panels && group < plan->conv->groups; group++)
    for (int64_t p = 0; p < k; p += GEMM_STEP)
      {
        PanelLines lines = { weights, group * plan->rows * k + p, k, 1, plan->rows };
        uint32_t *to = pairs->panels + (size_t) group * pairs->of_group + p / 2 * padded;
        int least = pairs->loops->pack (to, loops->gemm_rows, &lines, min_i64 (GEMM_STEP, k - p));

        pairs->least = least < pairs->least ? least : pairs->least;
      }
}

/* sum_lines() for a copy in bf16; false: a sum could be subnormal. */
static bool
sum_pairs (const Lines *lines)
{
  const ConvPlan *plan = lines->plan;
  const ClassLoops *loops = lines->loops;
  const Pairs *pairs = lines->pairs;
  int64_t k = plan->channels * plan->taps, m = plan->rows, padded = panel_rows (plan, loops);
  const uint32_t *panels = pairs->panels + (size_t) lines->copy.group * pairs->of_group;
  uint32_t panel[GEMM_STEP / 2 * PAIR_COLS];

  memset (lines->sums, 0, (size_t) (padded * lines->ld) * loops->size);
  for (int64_t p = 0; p < k; p += GEMM_STEP)
    for (int64_t j = 0; j < lines->ld; j += PAIR_COLS)
      {
        int64_t n = min_i64 (GEMM_STEP, k - p), count = (n + 1) / 2;

        if (pairs->loops->pack_rows (panel, (const uint16_t *) (const void *) lines->copy.at + j,
                                     lines->rows + p, n) +
                pairs->least <
            PAIRS_LEAST)
          return false;
        for (int64_t i = 0; i < m; i += loops->gemm_rows)
          pairs->loops->gemm[min_i64 (loops->gemm_rows, m - i)](
              lines->sums + (size_t) (i * lines->ld + j) * loops->size, lines->ld,
              panels + p / 2 * padded + i * count, panel, count);
      }
  return true;
}

/* Adds slices of k in sequence, each summed as in adj_k_gemm(). */
static void
sum_lines (const Lines *lines)
{
  const ConvPlan *plan = lines->plan;
  const ClassLoops *loops = lines->loops;
  int64_t k = plan->channels * plan->taps, m = plan->rows, padded = panel_rows (plan, loops);
  size_t size = loops->size;

  memset (lines->sums, 0, (size_t) (padded * lines->ld) * size);
  for (int64_t p = 0; p < k; p += GEMM_STEP)
    for (int64_t j = 0; j < lines->ld; j += loops->gemm_cols)
      for (int64_t i = 0; i < m; i += loops->gemm_rows)
        {
          int64_t n = min_i64 (GEMM_STEP, k - p);

          loops->gemm_lines[min_i64 (loops->gemm_rows, m - i)](
              lines->sums + (size_t) (i * lines->ld + j) * size, lines->ld,
              lines->panels + (size_t) (p * padded + i * n) * size,
              lines->copy.at + (size_t) j * size, lines->rows + p, n);
        }
}

static void
add_bias (const Lines *lines, char *row, int64_t channel)
{
  const AdjKView *bias = lines->plan->conv->bias;
  const ClassLoops *loops = lines->loops;
  Scalar tile[LEAF],
      value = adj_k_load_one (loops, bias,
                              (lines->copy.group * lines->plan->rows + channel) * bias->stride[0]);

  fill_tile (loops, tile, &value, (int) min_i64 (LEAF, lines->ld));
  for (int64_t start = 0; start < lines->ld; start += LEAF)
    {
      char *at = row + (size_t) start * loops->size;

      loops->op[ADJ_K_OP_ADD](at, at, tile, NULL, (int) min_i64 (LEAF, lines->ld - start));
    }
}

/* Writes the positions of the lines, without those between them. */
static void
write_lines (const Lines *lines)
{
  const ConvPlan *plan = lines->plan;
  const ClassLoops *loops = lines->loops;
  const AdjKView *to = &plan->destination;
  const ConvCopy *copy = &lines->copy;
  int64_t base = copy->image * to->stride[0] + copy->group * plan->rows * to->stride[1] +
                 copy->depth * to->stride[2] + copy->first * to->stride[3];

  for (int64_t channel = 0; channel < plan->rows; channel++)
    {
      char *row = lines->sums + (size_t) (channel * lines->ld) * loops->size;

      if (plan->conv->bias)
        add_bias (lines, row, channel);
      for (int64_t i = 0; i < lines->n; i++)
        loops->store[to->type](view_at (to, base + channel * to->stride[1] + i * to->stride[3]),
                               to->stride[4], row + (size_t) (i * copy->width) * loops->size,
                               (int) plan->axis[2].positions);
    }
}

void
adj_k_conv_copy_16 (void *to, const void *from, int64_t stride, int n)
{
  adj_k_copy_run (to, 1, from, stride, n, sizeof (uint16_t));
}

/* Copies the inputs of the lines, with zeros for the rest of the last panel. */
static void
copy_channels (Lines *lines, LoadLoop load, size_t size)
{
  const ConvPlan *plan = lines->plan;
  size_t copied = (size_t) (plan->channels * lines->copy.height * lines->copy.width);

  lines->copy.load = load;
  lines->copy.size = size;
  memset (lines->copy.at + copied * size, 0, (size_t) lines->loops->gemm_cols * size);
  for (int64_t c = 0; c < plan->channels; c++)
    adj_k_conv_copy_channel (plan, &lines->copy, c);
}

/* Computes the lines with temporary memory. */
static bool
compute_lines (Lines *lines)
{
  const ConvPlan *plan = lines->plan;
  const ClassLoops *loops = lines->loops;
  size_t k = (size_t) (plan->channels * plan->taps);
  size_t copied = (size_t) (plan->channels * lines->copy.height * lines->copy.width);
  size_t beyond = (size_t) loops->gemm_cols * loops->size; /* that the last panel reads */

  lines->rows = malloc ((k + 1) * sizeof *lines->rows);
  lines->copy.at = malloc (copied * loops->size + beyond);
  lines->sums = malloc ((size_t) (panel_rows (plan, loops) * lines->ld) * loops->size + 1);
  bool done = lines->rows && lines->copy.at && lines->sums;

  if (done)
    {
      for (size_t row = 0; row < k; row++)
        lines->rows[row] = adj_k_conv_row_offset (plan, &lines->copy, (int64_t) row);
      if (lines->pairs)
        copy_channels (lines, adj_k_conv_copy_16, sizeof (uint16_t));
      if (!lines->pairs || !sum_pairs (lines))
        {
          copy_channels (lines, loops->load[plan->source.type], loops->size);
          sum_lines (lines);
        }
      write_lines (lines);
    }
  free (lines->rows);
  free (lines->copy.at);
  free (lines->sums);
  return done;
}

/* Computed positions for @n lines, including those between lines and the rest of the last panel. */
static int64_t
computed (const ConvPlan *plan, const ClassLoops *loops, int64_t n)
{
  const Axis *x = &plan->axis[2];

  return round_up ((n - 1) * adj_k_conv_seen_by (x, x->positions) + x->positions, loops->gemm_cols);
}

/* The number of lines at a time with the least cost for computed positions and copied elements. */
static int64_t
find_together (const ConvPlan *plan, const ClassLoops *loops)
{
  const Axis *y = &plan->axis[1], *x = &plan->axis[2];
  int64_t width = adj_k_conv_seen_by (x, x->positions), best = 1;
  double least = 0;

  for (int64_t n = 1; n <= y->positions && (n == 1 || n * width <= 2 * POSITIONS); n++)
    {
      int64_t blocks = y->positions / n, rest = y->positions % n;
      double columns = (double) (blocks * computed (plan, loops, n) +
                                 (rest > 0 ? computed (plan, loops, rest) : 0));
      double copied = (double) ((blocks + (rest > 0)) * adj_k_conv_seen_by (y, n) * width);
      double cost = columns * (double) (plan->rows * plan->taps) + COPIED * copied;

      if (n == 1 || cost < least)
        {
          least = cost;
          best = n;
        }
    }
  return best;
}

bool
adj_k_conv_lines (const ConvPlan *plan, const AdjKView *weights)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[class_of (plan->destination.type)];
  const Axis *y = &plan->axis[1];
  int64_t width = adj_k_conv_seen_by (&plan->axis[2], plan->axis[2].positions);
  int64_t together = find_together (plan, loops);
  int64_t blocks = (y->positions + together - 1) / together;
  int64_t depths = plan->axis[0].positions, groups = plan->conv->groups;
  int64_t tasks = plan->destination.size[0] * groups * depths * blocks;
  size_t of_group = (size_t) (panel_rows (plan, loops) * plan->channels * plan->taps) * loops->size;
  double work = (double) (plan->destination.size[0] * plan->destination.size[1]) *
                (double) (plan->positions * plan->channels * plan->taps);
  char *panels = malloc (of_group * (size_t) groups + 1);
  bool threads = tasks > 1 && work > SERIAL, done = true;
  Pairs pairs = { .loops = NULL };

  if (!panels)
    return false;
  pack_weights (plan, loops, weights, panels);
  if (weights->type == ADJ_K_BF16 && plan->source.type == ADJ_K_BF16 &&
      class_of (plan->destination.type) == ADJ_K_CLASS_F32)
    pairs.loops = adj_k_pair_loops ();
  if (pairs.loops)
    pack_pairs (plan, loops, weights, &pairs);

#pragma omp parallel for schedule(static) if (threads) reduction(&& : done)
  for (int64_t task = 0; task < tasks; task++)
    {
      int64_t first = task % blocks * together, n = min_i64 (together, y->positions - first);
      int64_t group = task / blocks / depths % groups;
      Lines lines = {
        .plan = plan,
        .loops = loops,
        .pairs = pairs.panels ? &pairs : NULL,
        .copy = { .image = task / blocks / depths / groups,
                  .group = group,
                  .depth = task / blocks % depths,
                  .first = first,
                  .width = width,
                  .height = adj_k_conv_seen_by (y, n) },
        .panels = panels + (size_t) group * of_group,
        .n = n,
        .ld = computed (plan, loops, n),
      };

      done = compute_lines (&lines) && done;
    }
  free (pairs.panels);
  free (panels);
  return done;
}
