/* SPDX-License-Identifier: MIT */

/* F(2×2, 3×3): y = A' (U ∘ V) A with U = G w G' and V = B' x B, where ∘ is a matrix product over
 * channels for each of the 16 elements.  The gradient of the input is the same with w turned, that
 * of w is G' (S ∘ V) G with S = A (gradient of y) A', where ∘ sums over tiles.
 *
 *   G = 1    0    0
 *       1/2  1/2  1/2
 *       1/2 -1/2  1/2
 *       0    0    1
 *
 * Tiles of some lines stand side by side, with one between lines that belongs to neither: so all
 * that tiles see of a channel are shifted runs of four planes. */

#include <stdlib.h>
#include <string.h>

#include "adj-kernel-winograd.h"
#include "panels.h"

enum
{
  SPOTS = 16,          /* elements of a tile */
  PLANES = 4,          /* of a channel: even and odd lines and columns */
  CACHE = 1024 * 1024, /* bytes of tiles that stay in cache */
  LEAST_TILES = 64,    /* tiles of a block, if they do not fit */
  SPREAD = 15,         /* cost of a spread or collected element of a tile; a product costs 1 */
  WEIGHT = 400,        /* cost of a row and channel of weights */
  MAX_COLS = 64,       /* of a panel */
  CACHE_LINE = 64
};

/* From [N, channels, lines, columns] to [N, rows, lines, columns]. */
typedef struct
{
  const ClassLoops *loops;
  const WinogradLoops *turns;
  AdjKView source, destination;
  const AdjKView *bias; /* (nullable): added to the destination */
  int64_t channels, rows;
  int64_t top, left;           /* zeros before what the first position sees */
  int64_t tile_lines, tiles;   /* of the destination, and in a line of it */
  int64_t pitch;               /* tiles from one line to the next */
  int64_t block_lines, blocks; /* lines of tiles that are computed at a time; of an image */
  int64_t n;                   /* tiles of a block, with those that fill the last panel */
} Plan;

static int64_t
round_up (int64_t n, int64_t to)
{
  return (n + to - 1) / to * to;
}

static Plan
plan_new (const AdjKView *source, const AdjKView *destination, int64_t top, int64_t left)
{
  const Loops *all = adj_k_loops ();
  Plan plan = { .loops = &all->klass[ADJ_K_CLASS_F32],
                .turns = &all->winograd,
                .source = *source,
                .destination = *destination,
                .channels = source->size[1],
                .rows = destination->size[1],
                .top = top,
                .left = left };
  int64_t of_tile = SPOTS * (plan.channels + plan.rows) * (int64_t) sizeof (float), most;

  plan.tile_lines = (destination->size[2] + 1) / 2;
  plan.tiles = (destination->size[3] + 1) / 2;
  plan.pitch = plan.tiles + 1;
  most = CACHE / of_tile > LEAST_TILES ? CACHE / of_tile : LEAST_TILES;
  most = min_i64 (plan.tile_lines, most / plan.pitch);
  plan.block_lines = most > 1 ? most : 1;
  plan.blocks = (plan.tile_lines + plan.block_lines - 1) / plan.block_lines;
  plan.n = round_up (plan.block_lines * plan.pitch, plan.loops->gemm_cols);
  return plan;
}

static Plan
plan_of (const AdjKConv *conv, AdjKConvKind kind)
{
  Plan plan;

  if (kind == ADJ_K_CONV_INPUT)
    plan = plan_new (&conv->y, &conv->x, 2 - conv->padding[0], 2 - conv->padding[1]);
  else
    plan = plan_new (&conv->x, &conv->y, conv->padding[0], conv->padding[1]);
  plan.bias = conv->bias;
  return plan;
}

/* The cost in products.  For weights, the spread tiles are also transposed. */
static double
cost_of (const Plan *plan, AdjKConvKind kind)
{
  double tiles = (double) (SPOTS * plan->n * plan->blocks) * (double) plan->destination.size[0];
  double spread = kind == ADJ_K_CONV_WEIGHT ? 1.8 * SPREAD : SPREAD;

  return (double) (plan->channels * plan->rows) * (tiles + WEIGHT) +
         tiles * spread * (double) (plan->channels + plan->rows);
}

bool
adj_k_winograd_pays (const AdjKConv *conv, AdjKConvKind kind)
{
  const AdjKView *w = &conv->w;
  Plan plan;

  if (w->rank != 4 || w->size[2] != 3 || w->size[3] != 3 || conv->groups != 1)
    return false;
  if (w->type != ADJ_K_F32 || conv->x.type != ADJ_K_F32 || conv->y.type != ADJ_K_F32)
    return false;
  for (int d = 0; d < 2; d++)
    if (conv->stride[d] != 1 || conv->dilation[d] != 1 || conv->padding[d] < 0 ||
        conv->padding[d] > 2)
      return false;
  if (conv->x.size[0] < 1 || w->size[0] < 1 || w->size[1] < 1 || conv->y.size[2] < 1 ||
      conv->y.size[3] < 1 || conv->x.size[2] < 1 || conv->x.size[3] < 1)
    return false;
  plan = plan_of (conv, kind);
  return cost_of (&plan, kind) <
         9.0 * (double) (plan.channels * plan.rows * plan.destination.size[2]) *
             (double) (plan.destination.size[3] * plan.destination.size[0]);
}

static float *
new_floats (int64_t n)
{
  return aligned_alloc (CACHE_LINE, (size_t) round_up (n * (int64_t) sizeof (float), CACHE_LINE));
}

/* --- tiles -------------------------------------------------------------------------------------
 */

/* Elements of a plane, with what the last tiles see beyond it. */
static int64_t
plane_size (const Plan *plan)
{
  return plan->n + plan->pitch + 1;
}

/* (transfer full) (nullable): four planes, and a line. */
static float *
new_planes (const Plan *plan)
{
  return new_floats (PLANES * plane_size (plan) + 2 * plan->pitch);
}

/* Fills the planes of one channel with @lines pairs of lines of @width pairs of elements, from line
 * @top and column -@left of it on; elements outside are 0. */
static void
fill_planes (const Plan *plan,
             float *planes,
             const AdjKView *view,
             int64_t base,
             int64_t top,
             int64_t left,
             int64_t lines,
             int64_t width)
{
  int64_t size = plane_size (plan), used = lines * plan->pitch;
  int64_t count = min_i64 (view->size[3], 2 * width - left);
  float *line = planes + PLANES * size;

  memset (line, 0, (size_t) (2 * plan->pitch) * sizeof *line);
  for (int64_t i = 0; i < 2 * lines; i++)
    {
      int64_t y = top + i;
      float *even = planes + (i & 1) * 2 * size + (i >> 1) * plan->pitch, *odd = even + size;

      if (y >= 0 && y < view->size[2])
        {
          plan->loops->load[view->type](line + left, view_at (view, base + y * view->stride[2]),
                                        view->stride[3], (int) count);
          plan->turns->part (even, odd, line, (int) plan->pitch);
          continue;
        }
      memset (even, 0, (size_t) plan->pitch * sizeof *even);
      memset (odd, 0, (size_t) plan->pitch * sizeof *odd);
    }
  for (int64_t i = 0; i < PLANES; i++)
    memset (planes + i * size + used, 0, (size_t) (size - used) * sizeof *planes);
}

/* Lines of tiles of block @block. */
static int64_t
lines_of (const Plan *plan, int64_t block)
{
  return min_i64 (plan->block_lines, plan->tile_lines - block * plan->block_lines);
}

/* V of channel @c of a block of an image. */
static void
spread_source (const Plan *plan, float *v, float *planes, int64_t image, int64_t block, int64_t c)
{
  const AdjKView *x = &plan->source;

  fill_planes (plan, planes, x, image * x->stride[0] + c * x->stride[1],
               2 * block * plan->block_lines - plan->top, plan->left, lines_of (plan, block) + 1,
               plan->pitch);
  plan->turns->spread (v + c * plan->n, plan->channels * plan->n, planes, plane_size (plan),
                       plan->pitch, (int) plan->n);
}

/* S of row @o; 0 for the tiles between lines. */
static void
spread_gradient (const Plan *plan, float *s, float *planes, int64_t image, int64_t block, int64_t o)
{
  const AdjKView *y = &plan->destination;

  fill_planes (plan, planes, y, image * y->stride[0] + o * y->stride[1],
               2 * block * plan->block_lines, 0, lines_of (plan, block), plan->tiles);
  plan->turns->spread_gradient (s + o * plan->n, plan->rows * plan->n, planes, plane_size (plan),
                                (int) plan->n);
}

/* --- y and x -----------------------------------------------------------------------------------
 */

/* The 3 × @n of @in, for each i of 4: Σ g[i][a] · in[a]. */
static void
spread_taps (float *out, const float *in, int64_t n)
{
  const float *first = in, *second = in + n, *third = in + 2 * n;

  for (int64_t c = 0; c < n; c++)
    {
      float ends = (first[c] + third[c]) * .5F, middle = second[c] * .5F;

      out[c] = first[c];
      out[n + c] = ends + middle;
      out[2 * n + c] = ends - middle;
      out[3 * n + c] = third[c];
    }
}

/* U of one row: of each element, all channels.  @room: for 9 + 12 times as many. */
static void
spread_weights (
    const Plan *plan, const AdjKView *w, int64_t row, bool turned, float *u, float *room)
{
  int64_t n = plan->channels, along = w->stride[turned ? 0 : 1];
  int64_t base = row * w->stride[turned ? 1 : 0];
  float *taps = room, *between = room + 9 * n;

  for (int64_t tap = 0; tap < 9; tap++)
    {
      int64_t at = turned ? 8 - tap : tap;

      plan->loops->load[w->type](taps + tap * n,
                                 view_at (w, base + at / 3 * w->stride[2] + at % 3 * w->stride[3]),
                                 along, (int) n);
    }
  spread_taps (between, taps, 3 * n);
  for (int64_t i = 0; i < 4; i++)
    spread_taps (u + i * 4 * n, between + i * 3 * n, n);
}

static int64_t
panel_rows (const Plan *plan)
{
  return round_up (plan->rows, plan->loops->gemm_rows);
}

/* (transfer full) (nullable): U as panels: of each element, of each slice of channels. */
static float *
pack_weights (const Plan *plan, const AdjKView *w, bool turned)
{
  const ClassLoops *loops = plan->loops;
  int64_t n = plan->channels, padded = panel_rows (plan), height = loops->gemm_rows;
  float *u = new_floats (height * SPOTS * n), *room = new_floats (21 * n);
  float *panels = new_floats (SPOTS * padded * n);
  AdjKView all = { .data = u, .type = ADJ_K_F32, .rank = 1, .stride = { 1 } };

  for (int64_t row = 0; u && room && panels && row < plan->rows; row += height)
    {
      int64_t count = min_i64 (height, plan->rows - row);

      for (int64_t r = 0; r < count; r++)
        spread_weights (plan, w, row + r, turned, u + r * SPOTS * n, room);
      for (int64_t spot = 0; spot < SPOTS; spot++)
        for (int64_t p = 0; p < n; p += GEMM_STEP)
          {
            PanelLines lines = { &all, spot * n + p, SPOTS * n, 1, count };
            int64_t k = min_i64 (GEMM_STEP, n - p);

            adj_k_pack_panels (loops, panels + (spot * n + p) * padded + row * k, &lines,
                               (int) height, k);
          }
    }
  if (!u || !room)
    {
      free (panels);
      panels = NULL;
    }
  free (u);
  free (room);
  return panels;
}

/* What a thread computes a block with. */
typedef struct
{
  float *v, *m, *planes;
  int64_t *at; /* of each channel in V */
} Work;

static bool
work_init (const Plan *plan, Work *work)
{
  *work = (Work){ .v = new_floats (SPOTS * plan->channels * plan->n),
                  .m = new_floats (SPOTS * panel_rows (plan) * plan->n),
                  .planes = new_planes (plan),
                  .at = malloc ((size_t) plan->channels * sizeof *work->at) };
  for (int64_t c = 0; work->at && c < plan->channels; c++)
    work->at[c] = c * plan->n;
  return work->v && work->m && work->planes && work->at;
}

static void
work_clear (Work *work)
{
  free (work->v);
  free (work->m);
  free (work->planes);
  free (work->at);
}

/* M = U ∘ V */
static void
multiply (const Plan *plan, const Work *work, const float *panels)
{
  const ClassLoops *loops = plan->loops;
  int64_t padded = panel_rows (plan);

  memset (work->m, 0, (size_t) (SPOTS * padded * plan->n) * sizeof *work->m);
  for (int64_t spot = 0; spot < SPOTS; spot++)
    for (int64_t p = 0; p < plan->channels; p += GEMM_STEP)
      for (int64_t j = 0; j < plan->n; j += loops->gemm_cols)
        for (int64_t i = 0; i < plan->rows; i += loops->gemm_rows)
          {
            int64_t k = min_i64 (GEMM_STEP, plan->channels - p);

            loops->gemm_lines[min_i64 (loops->gemm_rows, plan->rows - i)](
                work->m + (spot * padded + i) * plan->n + j, plan->n,
                panels + (spot * plan->channels + p) * padded + i * k,
                work->v + spot * plan->channels * plan->n + j, work->at + p, k);
          }
}

static void
add_bias (const Plan *plan, float *planes, int64_t size, int64_t row)
{
  Scalar tile[TILE], value = adj_k_load_one (plan->loops, plan->bias, row * plan->bias->stride[0]);

  fill_tile (plan->loops, tile, &value, TILE);
  for (int64_t at = 0; at < PLANES * size; at += TILE)
    plan->loops->op[ADJ_K_OP_ADD](planes + at, planes + at, tile, NULL,
                                  (int) min_i64 (TILE, PLANES * size - at));
}

/* Row @row of the destination, from M. */
static void
write_row (const Plan *plan, const Work *work, int64_t image, int64_t block, int64_t row)
{
  const AdjKView *to = &plan->destination;
  int64_t base = image * to->stride[0] + row * to->stride[1], size = plan->n;
  int64_t first = 2 * block * plan->block_lines;
  int64_t n = min_i64 (2 * lines_of (plan, block), to->size[2] - first);

  plan->turns->collect (work->planes, size, work->m + row * plan->n, panel_rows (plan) * plan->n,
                        (int) plan->n);
  if (plan->bias)
    add_bias (plan, work->planes, size, row);
  for (int64_t i = 0; i < n; i++)
    {
      const float *even = work->planes + (i & 1) * 2 * size + (i >> 1) * plan->pitch;
      float *line = work->planes + PLANES * plane_size (plan);

      plan->turns->join (line, even, even + size, (int) plan->tiles);
      plan->loops->store[to->type](view_at (to, base + (first + i) * to->stride[2]), to->stride[3],
                                   line, (int) to->size[3]);
    }
}

static bool
convolve (const AdjKConv *conv, AdjKConvKind kind)
{
  Plan plan = plan_of (conv, kind);
  float *panels = pack_weights (&plan, &conv->w, kind == ADJ_K_CONV_INPUT);
  int64_t tasks = plan.destination.size[0] * plan.blocks;
  bool done = panels != NULL;

#pragma omp parallel if (tasks > 1 && done) reduction(&& : done)
  {
    Work work = { NULL };

    done = done && work_init (&plan, &work);
#pragma omp for schedule(static)
    for (int64_t task = 0; task < tasks; task++)
      if (done)
        {
          int64_t image = task / plan.blocks, block = task % plan.blocks;

          for (int64_t c = 0; c < plan.channels; c++)
            spread_source (&plan, work.v, work.planes, image, block, c);
          multiply (&plan, &work, panels);
          for (int64_t row = 0; row < plan.rows; row++)
            write_row (&plan, &work, image, block, row);
        }
    work_clear (&work);
  }
  free (panels);
  return done;
}

bool
adj_k_winograd (const AdjKConv *conv)
{
  return convolve (conv, ADJ_K_CONV_FORWARD);
}

bool
adj_k_winograd_input (const AdjKConv *conv)
{
  return convolve (conv, ADJ_K_CONV_INPUT);
}

/* --- w -----------------------------------------------------------------------------------------
 */

/* Adds S ∘ V of one element of a block to its sums, rows of @ld. @left: room for panels of S. */
static void
add_products (
    const Plan *plan, float *sums, int64_t ld, const float *s, const float *v, float *left)
{
  const ClassLoops *loops = plan->loops;
  int64_t rows = loops->gemm_rows, cols = loops->gemm_cols;
  const AdjKView of_s = { .data = (void *) s, .type = ADJ_K_F32, .rank = 1, .stride = { 1 } };
  const AdjKView of_v = { .data = (void *) v, .type = ADJ_K_F32, .rank = 1, .stride = { 1 } };
  _Alignas(CACHE_LINE) float right[MAX_COLS * GEMM_STEP];

  for (int64_t p = 0; p < plan->n; p += GEMM_STEP)
    {
      int64_t k = min_i64 (GEMM_STEP, plan->n - p);
      PanelLines lines = { &of_s, p, plan->n, 1, plan->rows };

      adj_k_pack_panels (loops, left, &lines, (int) rows, k);
      for (int64_t j = 0; j < plan->channels; j += cols)
        {
          PanelLines columns = { &of_v, j * plan->n + p, plan->n, 1,
                                 min_i64 (cols, plan->channels - j) };

          adj_k_pack_panels (loops, right, &columns, (int) cols, k);
          for (int64_t i = 0; i < plan->rows; i += rows)
            loops->gemm[min_i64 (rows, plan->rows - i)](sums + i * ld + j, ld, left + i * k, right,
                                                        k);
        }
    }
}

/* Σ g[i][a] · in[i], rows of @step, for each a of 3. */
static void
collect_taps (float *out, const float *in, int64_t step, int64_t n)
{
  const float *first = in, *second = in + step, *third = in + 2 * step, *fourth = in + 3 * step;

  for (int64_t c = 0; c < n; c++)
    {
      float sum = (second[c] + third[c]) * .5F, difference = (second[c] - third[c]) * .5F;

      out[c] = first[c] + sum;
      out[n + c] = difference;
      out[2 * n + c] = sum + fourth[c];
    }
}

/* The weights of one row from its sums, of each element @of_spot apart.  @room: for 12 + 9 times as
 * many as there are channels. */
static void
collect_weights (const Plan *plan,
                 const AdjKView *w,
                 int64_t row,
                 const float *sums,
                 int64_t of_spot,
                 float *room)
{
  int64_t n = plan->channels;
  float *between = room, *taps = room + 12 * n;

  for (int64_t i = 0; i < 4; i++)
    collect_taps (between + i * 3 * n, sums + i * 4 * of_spot, of_spot, n);
  collect_taps (taps, between, 3 * n, 3 * n);
  for (int64_t tap = 0; tap < 9; tap++)
    plan->loops->store[w->type](
        view_at (w, row * w->stride[0] + tap / 3 * w->stride[2] + tap % 3 * w->stride[3]),
        w->stride[1], taps + tap * n, (int) n);
}

/* Sums over the blocks of all images in order; each sum is computed by one thread, so the bits do
 * not depend on their number. */
static bool
sum_blocks (const Plan *plan, float *sums, int64_t ld, float *v, float *s)
{
  int64_t all = plan->channels + plan->rows, n = plan->n;
  bool done = true;

#pragma omp parallel reduction(&& : done)
  {
    float *planes = new_planes (plan), *left = new_floats (panel_rows (plan) * GEMM_STEP);

    done = planes && left;
    for (int64_t task = 0; task < plan->destination.size[0] * plan->blocks; task++)
      {
        int64_t image = task / plan->blocks, block = task % plan->blocks;

#pragma omp for schedule(static)
        for (int64_t i = 0; i < all; i++)
          if (done && i < plan->channels)
            spread_source (plan, v, planes, image, block, i);
          else if (done)
            spread_gradient (plan, s, planes, image, block, i - plan->channels);
#pragma omp for schedule(static)
        for (int64_t spot = 0; spot < SPOTS; spot++)
          if (done)
            add_products (plan, sums + spot * panel_rows (plan) * ld, ld, s + spot * plan->rows * n,
                          v + spot * plan->channels * n, left);
      }
    free (planes);
    free (left);
  }
  return done;
}

bool
adj_k_winograd_weight (const AdjKConv *conv)
{
  Plan plan = plan_of (conv, ADJ_K_CONV_WEIGHT);
  int64_t ld = round_up (plan.channels, plan.loops->gemm_cols), of_spot = panel_rows (&plan) * ld;
  float *sums = new_floats (SPOTS * of_spot), *v = new_floats (SPOTS * plan.channels * plan.n);
  float *s = new_floats (SPOTS * plan.rows * plan.n), *room = new_floats (21 * plan.channels);
  bool done = sums && v && s && room;

  if (done)
    {
      memset (sums, 0, (size_t) (SPOTS * of_spot) * sizeof *sums);
      done = sum_blocks (&plan, sums, ld, v, s);
    }
  for (int64_t row = 0; done && row < plan.rows; row++)
    collect_weights (&plan, &conv->w, row, sums + row * ld, of_spot, room);
  free (sums);
  free (v);
  free (s);
  free (room);
  return done;
}
