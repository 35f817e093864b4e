/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Random numbers become others as in PyTorch on the CPU, bit for bit.  What is drawn are words of
 * 32 bits, in order; the rest are functions of them. */

/* --- words ------------------------------------------------------------------------------------ */

#define ADJ_K_TWISTER_WORDS 624

/* The Mersenne Twister MT19937. */
typedef struct
{
  uint32_t state[ADJ_K_TWISTER_WORDS];
  int32_t left;  /* words until the next turn, this one included */
  uint32_t next; /* position in state */
} AdjKTwister;

void adj_k_twister_seed (AdjKTwister *twister, uint32_t seed);
uint32_t adj_k_twister_next (AdjKTwister *twister);

/* The next words of @twister, in memory of the queue's device; @out: I32, dense. */
void adj_k_words (AdjKTwister *twister, const AdjKView *out);

/* Four words of Philox 4x32-10, a function of counter and key. */
void adj_k_philox_block (const uint32_t key[2], const uint32_t counter[4], uint32_t out[4]);

/* @out: I32, dense, [n, 1 … 4]: the first words of the counters from 0 on under the low half of
 * @seed, one I64. */
void adj_k_philox (const AdjKView *seed, const AdjKView *out);

/* --- numbers ---------------------------------------------------------------------------------- */

/* How many words a number of [0, 1) takes in @type: 2 in F64, for 53 bits, else 1. */
#define ADJ_K_UNIFORM_WORDS(type) ((type) == ADJ_K_F64 ? 2 : 1)

/* @out: u · @scale + @shift, by a fused multiply-add, u in [0, 1) with as many bits as the type of
 * @out holds exactly; dense. */
void adj_k_uniform (const AdjKView *out, const AdjKView *words, double scale, double shift);

typedef struct
{
  double scale, shift;
  bool stretched; /* else scale and shift are not looked at */
} AdjKNormal;

/* @x: F32, dense, 16 numbers of [0, 1) after 16: they become normal ones, which are stretched.
 * Numbers i and i + 8 of 16 become two by the method of Box and Muller, with the logarithm, sine
 * and cosine of Cephes in f32 and fused multiply-adds. */
void adj_k_normal (const AdjKView *x, const AdjKNormal *normal);

/* @out: BOOL, dense: true with probability @p.  @streams: by numbers of MKL's MCG31, which one word
 * starts; else each takes two words. */
void adj_k_bernoulli (const AdjKView *out, const AdjKView *words, double p, bool streams);

/* @out: I64, dense: words modulo @range plus @low.  Where there are twice as many @words, two of
 * them are one of 64 bits. */
void adj_k_integers (const AdjKView *out, const AdjKView *words, int64_t low, uint64_t range);

/* --- numbers of a GPU ------------------------------------------------------------------------- */

/* The generator that PyTorch keeps for a GPU.  @offset: a multiple of 4. */
typedef struct
{
  uint64_t seed, offset;
} AdjKPhilox;

typedef enum
{
  /* u · scale + shift, as an element of the result, but shift where that is @end. */
  ADJ_K_DRAW_UNIFORM,
  /* n · scale + shift; n by the method of Box and Muller, of two neighbours in a stream. */
  ADJ_K_DRAW_NORMAL,
  /* scale · ln u, with -ε/2 for ln u where u is almost 1. */
  ADJ_K_DRAW_EXPONENTIAL,
  /* Whether u < scale. */
  ADJ_K_DRAW_BELOW,
  /* Words modulo @range, plus @low. */
  ADJ_K_DRAW_INTEGER,
} AdjKDrawKind;

/* Numbers as PyTorch's kernels of CUDA make them: u is uniform in (0, 1], of one word in f32 or of
 * two in f64.  Each thread has a stream of words, which come in fours. */
typedef struct
{
  AdjKDrawKind kind;
  bool wide;         /* two words for each number */
  int32_t width;     /* elements that a thread takes side by side: 2, 4 or 8, unless they are wide;
                        1: the next one of a thread is @n_threads further on */
  int64_t n_threads; /* that draw; see adj_k_draw_threads() */
  double scale, shift, end;
  uint64_t range;
  int64_t low;
} AdjKDraw;

/* How many threads fit at once on the GPU that drew: of 132 processors, as those of an H100. */
#define ADJ_K_DRAW_THREADS (132 * 2048)

/* How many threads PyTorch starts for @n > 0 elements on a GPU that holds @most at once. */
int64_t adj_k_draw_threads (int64_t n, int64_t most);

/* @generator: in memory of the queue's device; it is moved past what was drawn.  @out: dense; F16,
 * BF16, F32 or F64, but BOOL for ADJ_K_DRAW_BELOW, I64 for ADJ_K_DRAW_INTEGER. */
void adj_k_draw (AdjKPhilox *generator, const AdjKDraw *draw, const AdjKView *out);
