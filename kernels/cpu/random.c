/* SPDX-License-Identifier: MIT */
/* Random words in order, and numbers from them. */

#include <string.h>

#include "adj-kernel-random.h"
#include "draw-gpu.h"
#include "tile.h"

enum
{
  DRAWN = 8192,     /* numbers of a stream that a thread draws at a time */
  STREAM_LANES = 16 /* numbers that are drawn side by side in lanes */
};

/* --- words ------------------------------------------------------------------------------------ */

#define N ADJ_K_TWISTER_WORDS
#define M 397

void
adj_k_twister_seed (AdjKTwister *twister, uint32_t seed)
{
  uint32_t *state = twister->state;

  state[0] = seed;
  for (uint32_t i = 1; i < N; i++)
    state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
  twister->left = 1;
  twister->next = 0;
}

static void
turn (AdjKTwister *twister)
{
  uint32_t *state = twister->state;

  for (int i = 0; i < N - M; i++)
    state[i] = turned (state[i], state[i + 1], state[i + M]);
  for (int i = N - M; i < N - 1; i++)
    state[i] = turned (state[i], state[i + 1], state[i + M - N]);
  state[N - 1] = turned (state[N - 1], state[0], state[M - 1]);
  twister->left = N;
  twister->next = 0;
}

uint32_t
adj_k_twister_next (AdjKTwister *twister)
{
  if (--twister->left == 0)
    turn (twister);
  return tempered (twister->state[twister->next++]);
}

void
adj_k_words (AdjKTwister *twister, const AdjKView *out)
{
  uint32_t *words = out->data;
  int64_t n = adj_k_view_count (out);

  for (int64_t i = 0; i < n;)
    {
      int64_t some = min_i64 (twister->left - 1, n - i);

      for (int64_t k = 0; k < some; k++)
        words[i + k] = tempered (twister->state[twister->next + k]);
      twister->left -= (int32_t) some;
      twister->next += (uint32_t) some;
      i += some;
      if (i < n)
        words[i++] = adj_k_twister_next (twister);
    }
}

void
adj_k_philox_block (const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
  philox_block (key, counter, out);
}

void
adj_k_philox (const AdjKView *seed, const AdjKView *out)
{
  uint32_t *words = out->data;
  int64_t n = out->size[0], n_words = out->size[1];

#pragma omp parallel for schedule(static) if (n > 16 * 1024)
  for (int64_t i = 0; i < n; i++)
    philox_words (*(const uint64_t *) seed->data, i, words + i * n_words, n_words);
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* The elements of @view, which is dense, in a row. */
static AdjKView
flat (const AdjKView *view, int64_t at, int64_t n)
{
  return (AdjKView){ .data = (char *) view->data + (size_t) at * adj_k_type_get_size (view->type),
                     .type = view->type,
                     .rank = 1,
                     .size = { n },
                     .stride = { 1 } };
}

void
adj_k_uniform (const AdjKView *out, const AdjKView *words, double scale, double shift)
{
  int64_t n = adj_k_view_count (out);

#pragma omp parallel for schedule(static) if (n > 16 * 1024)
  for (int64_t at = 0; at < n; at += TILE)
    {
      double values[TILE];
      AdjKView to = flat (out, at, min_i64 (TILE, n - at));
      AdjKView from = to;

      from.data = values;
      from.type = ADJ_K_F64;
      for (int64_t i = 0; i < to.size[0]; i++)
        values[i] = fma (uniform_of (words->data, at + i, out->type), scale, shift);
      adj_k_copy (&to, &from);
    }
}

void
adj_k_normal (const AdjKView *x, const AdjKNormal *normal)
{
  float *u = x->data;

#pragma omp parallel for schedule(static)
  for (int64_t block = 0; block < adj_k_view_count (x) / 16; block++)
    {
      float *pair = u + block * 16;

      for (int i = 0; i < 8; i++)
        box_muller_f32 (&pair[i], &pair[i + 8]);
      for (int i = 0; i < 16 && normal->stretched; i++)
        pair[i] = (float) ((double) pair[i] * normal->scale + normal->shift);
    }
}

/* The least state that is not below @p as a number: states increase with their numbers. */
static uint64_t
find_bound (double p)
{
  uint64_t bound;

  if (!(p > 0))
    return 0;
  if (p >= 1)
    return MCG_PRIME;
  bound = (uint64_t) (p * (double) MCG_PRIME);
  while (bound > 0 && (double) (bound - 1) / (double) MCG_PRIME >= p)
    bound--;
  while ((double) bound / (double) MCG_PRIME < p)
    bound++;
  return bound;
}

/* Neighbours are in lanes, which skip over each other.  A product modulo the prime 2^31 - 1 is the
 * sum of its halves, as no state is 0. */
static void
draw_from_stream (uint8_t *out, int64_t at, int64_t n, uint32_t word, uint64_t bound)
{
  uint64_t x[STREAM_LANES], leap = MCG_FACTOR;

  x[0] = mcg_state (word, at);
  for (int lane = 1; lane < STREAM_LANES; lane++)
    {
      x[lane] = x[lane - 1] * MCG_FACTOR % MCG_PRIME;
      leap = leap * MCG_FACTOR % MCG_PRIME;
    }
  for (int64_t i = 0; i < n; i += STREAM_LANES)
    {
      uint8_t below[STREAM_LANES];

      for (int lane = 0; lane < STREAM_LANES; lane++)
        {
          uint64_t product = x[lane] * leap;
          uint64_t sum = (product & MCG_PRIME) + (product >> 31);

          below[lane] = (int32_t) x[lane] < (int32_t) bound;
          x[lane] = (sum & MCG_PRIME) + (sum >> 31);
        }
      memcpy (out + i, below, (size_t) min_i64 (STREAM_LANES, n - i));
    }
}

void
adj_k_bernoulli (const AdjKView *out, const AdjKView *words, double p, bool streams)
{
  const uint32_t *drawn = words->data;
  uint8_t *bools = out->data;
  int64_t n = adj_k_view_count (out);
  uint64_t bound = find_bound (p);

#pragma omp parallel for schedule(static) if (n > 16 * 1024)
  for (int64_t at = 0; at < n; at += DRAWN)
    {
      int64_t end = min_i64 (at + DRAWN, n);

      if (streams)
        draw_from_stream (bools + at, at, end - at, drawn[0], bound);
      for (int64_t i = at; i < end && !streams; i++)
        bools[i] = uniform_f64 (drawn, i) < p;
    }
}

void
adj_k_integers (const AdjKView *out, const AdjKView *words, int64_t low, uint64_t range)
{
  const uint32_t *drawn = words->data;
  int64_t *numbers = out->data, n = adj_k_view_count (out);
  bool wide = adj_k_view_count (words) > n;

  for (int64_t i = 0; i < n; i++)
    numbers[i] = (int64_t) ((wide ? wide_word (drawn, i) : drawn[i]) % range + (uint64_t) low);
}

/* --- numbers of a GPU ------------------------------------------------------------------------- */

enum
{
  DRAW_BLOCK = 256 /* threads of each of PyTorch's blocks */
};

int64_t
adj_k_draw_threads (int64_t n, int64_t most)
{
  int64_t fit = most < DRAW_BLOCK ? 1 : most / DRAW_BLOCK;

  return min_i64 ((n + DRAW_BLOCK - 1) / DRAW_BLOCK, fit) * DRAW_BLOCK;
}

void
adj_k_draw (AdjKPhilox *generator, const AdjKDraw *draw, const AdjKView *out)
{
  int64_t n = adj_k_view_count (out);

#pragma omp parallel for schedule(static) if (n > 16 * 1024)
  for (int64_t i = 0; i < n; i++)
    draw_element (generator, draw, out->data, out->type, i);
  generator->offset += draw_move (draw, n);
}
