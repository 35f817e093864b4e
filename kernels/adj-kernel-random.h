/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* The random numbers of PyTorch on the CPU, bit for bit.  Words of 32 bits are drawn, in order; all
 * else is computed from them. */

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

/* Draws the next words of @twister, which is in memory of the queue's device; @out: I32, dense. */
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
  bool stretched; /* otherwise scale and shift are ignored */
} AdjKNormal;

/* @x: F32, dense, 16 numbers of [0, 1) after 16: they become normal numbers, then scaled and
 * shifted. Numbers i and i + 8 of 16 become two by the Box-Muller transform, with the logarithm,
 * sine and cosine of Cephes in f32 and fused multiply-adds. */
void adj_k_normal (const AdjKView *x, const AdjKNormal *normal);

/* @out: BOOL, dense: true with probability @p.  @streams: with numbers of MKL's MCG31, seeded by
 * one word; else two words are used per element. */
void adj_k_bernoulli (const AdjKView *out, const AdjKView *words, double p, bool streams);

/* @out: I64, dense: words modulo @range plus @low.  With twice as many @words as elements, two
 * words are one number of 64 bits. */
void adj_k_integers (const AdjKView *out, const AdjKView *words, int64_t low, uint64_t range);

/* --- numbers of a GPU ------------------------------------------------------------------------- */

/* The generator that PyTorch keeps for a GPU.  @offset: a multiple of 4. */
typedef struct
{
  uint64_t seed, offset;
} AdjKPhilox;

typedef enum
{
  /* u · scale + shift in the type of the result, but shift where that equals @end. */
  ADJ_K_DRAW_UNIFORM,
  /* n · scale + shift; n by the Box-Muller transform of two neighbours in a stream. */
  ADJ_K_DRAW_NORMAL,
  /* scale · ln u, with -ε/2 for ln u where u is almost 1. */
  ADJ_K_DRAW_EXPONENTIAL,
  /* Whether u < scale. */
  ADJ_K_DRAW_BELOW,
  /* Words modulo @range, plus @low. */
  ADJ_K_DRAW_INTEGER,
} AdjKDrawKind;

/* Numbers as PyTorch's CUDA kernels compute them: u is uniform in (0, 1], from one word in f32 or
 * from two in f64.  Each thread has a stream of words, which are drawn in fours. */
typedef struct
{
  AdjKDrawKind kind;
  bool wide;     /* two words for each number */
  int32_t width; /* neighbouring elements per thread: 2, 4 or 8, unless they are wide; 1: the next
                    element of a thread is @n_threads further on */
  int64_t n_threads; /* threads that draw; see adj_k_draw_threads() */
  double scale, shift, end;
  uint64_t range;
  int64_t low;
} AdjKDraw;

/* Resident threads of the GPU that drew: 132 processors, as those of an H100. */
#define ADJ_K_DRAW_THREADS (132 * 2048)

/* The number of threads that PyTorch starts for @n > 0 elements on a GPU with @most resident
 * threads. */
int64_t adj_k_draw_threads (int64_t n, int64_t most);

/* @generator: in memory of the queue's device; it is advanced.  @out: dense; F16, BF16, F32 or F64,
 * but BOOL for ADJ_K_DRAW_BELOW, I64 for ADJ_K_DRAW_INTEGER. */
void adj_k_draw (AdjKPhilox *generator, const AdjKDraw *draw, const AdjKView *out);
