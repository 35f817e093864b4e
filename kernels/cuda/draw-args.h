/* SPDX-License-Identifier: MIT */
#pragma once

/* Arguments of the kernels that draw random numbers. */

#include "adj-kernel-backend.h"

enum
{
  WORDS_AHEAD = 34 * ADJ_K_TWISTER_WORDS, /* words that those after a jump are sums of, or more */
  JUMP_PARTS = 24                         /* blocks that share a jump: a divisor of 624 */
};

/* A long draw is made in segments, each by a block.  Those after the first begin at words that are
 * sums of the words that follow the state. */
typedef struct
{
  AdjKTwister *twister, *before; /* before: a copy of the first; without segments the same */
  uint32_t *out, *ahead;         /* ahead: the state and the words after it, WORDS_AHEAD */
  const uint32_t *jumps;         /* a row of bits for each segment but the first */
  uint32_t *parts;               /* [segments - 1, JUMP_PARTS, 624]: sums */
  int64_t n, segment;            /* words of each segment, but the last, which has the rest */
} WordsArgs;

typedef struct
{
  const uint64_t *seed;
  uint32_t *out;
  int64_t n, n_words; /* counters; words of each */
} PhiloxArgs;

typedef struct
{
  const uint32_t *words;
  void *out;
  int64_t n;
  int type; /* of out */
  double scale, shift;
} NumbersArgs;

typedef struct
{
  float *x;
  int64_t n; /* pairs */
  AdjKNormal normal;
} NormalArgs;

typedef struct
{
  const uint32_t *words;
  uint8_t *out;
  int64_t n;
  double p;
  bool streams;
} BernoulliArgs;

typedef struct
{
  const uint32_t *words;
  int64_t *out;
  int64_t n, low;
  uint64_t range;
  bool wide; /* two words are a number of 64 bits */
} IntegersArgs;

typedef struct
{
  AdjKPhilox *generator;
  void *out;
  int64_t n;
  AdjKType type; /* of out */
  AdjKDraw draw;
} DrawArgs;
