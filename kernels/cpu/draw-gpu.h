/* SPDX-License-Identifier: MIT */
#pragma once

/* Random numbers as PyTorch's CUDA kernels compute them, one by one, on the CPU and on devices. */

#include "draw.h"

/* The position of a word or, for wide numbers, of a pair of words: number @part of the four words
 * that @thread draws in its turn @turn. */
typedef struct
{
  int64_t thread, turn;
  int part;
} DrawPlace;

/* The numbers that four words give. */
ALWAYS_INLINE int64_t
draw_each (const AdjKDraw *draw)
{
  return draw->wide ? 2 : 4;
}

ALWAYS_INLINE DrawPlace
draw_place (const AdjKDraw *draw, int64_t i)
{
  int64_t threads = draw->n_threads, each = draw_each (draw), width = draw->width;
  DrawPlace side_by_side = { i / width % threads,
                             i / width / threads * ((width + each - 1) / each) + i % width / each,
                             (int) (i % width % each) };
  DrawPlace apart = { i % threads, i / threads / each, (int) (i / threads % each) };

  return width == 1 ? apart : side_by_side;
}

/* How far drawing @n elements moves the offset. */
ALWAYS_INLINE uint64_t
draw_move (const AdjKDraw *draw, int64_t n)
{
  int64_t turn = draw->n_threads * draw_each (draw);

  return n > 0 ? (uint64_t) ((n - 1) / turn + 1) * 4 : 0;
}

ALWAYS_INLINE void
draw_words (const AdjKPhilox *generator, const DrawPlace *place, uint32_t words[4])
{
  uint64_t at = generator->offset / 4 + (uint64_t) place->turn;
  const uint32_t key[2] = { (uint32_t) generator->seed, (uint32_t) (generator->seed >> 32) };
  const uint32_t counter[4] = { (uint32_t) at, (uint32_t) (at >> 32), (uint32_t) place->thread,
                                (uint32_t) ((uint64_t) place->thread >> 32) };

  philox_block (key, counter, words);
}

ALWAYS_INLINE float
unit_f32 (uint32_t word)
{
  return (float) word * 0x1p-32f + 0x1p-33f;
}

ALWAYS_INLINE double
unit_f64 (const uint32_t *pair)
{
  return (double) (pair[0] ^ (uint64_t) pair[1] << 21) * 0x1p-53 + 0x1p-54;
}

ALWAYS_INLINE float
gaussian_f32 (const uint32_t *words, int part)
{
  float radius = sqrtf (-2 * log_of (unit_f32 (words[part & 2])));
  float angle = (float) words[(part & 2) + 1] * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
  float sine, cosine;

  sine_and_cosine_of (angle, &sine, &cosine);
  return radius * (part % 2 == 0 ? sine : cosine);
}

ALWAYS_INLINE double
gaussian_f64 (const uint32_t *words, int part)
{
  double radius = sqrt (-2 * log (unit_f64 (words)));
  double angle = (unit_f64 (words + 2) * 2) * 3.14159265358979323846;

  return radius * (part == 0 ? sin (angle) : cos (angle));
}

/* ln u, which is not 0. */
ALWAYS_INLINE float
log_below_f32 (float u)
{
  return u >= 1 - 0x1p-24f ? -0x1p-24f : log_of (u);
}

ALWAYS_INLINE double
log_below_f64 (double u)
{
  return u >= 1 - 0x1p-53 ? -0x1p-53 : log (u);
}

ALWAYS_INLINE float
drawn_f32 (const AdjKDraw *draw, const uint32_t *words, int part)
{
  float scale = (float) draw->scale, shift = (float) draw->shift;

  if (draw->kind == ADJ_K_DRAW_NORMAL)
    return fmaf (gaussian_f32 (words, part), scale, shift);
  if (draw->kind == ADJ_K_DRAW_EXPONENTIAL)
    return scale * log_below_f32 (unit_f32 (words[part]));
  return fmaf (unit_f32 (words[part]), scale, shift);
}

ALWAYS_INLINE double
drawn_f64 (const AdjKDraw *draw, const uint32_t *words, int part)
{
  if (draw->kind == ADJ_K_DRAW_NORMAL)
    return fma (gaussian_f64 (words, part), draw->scale, draw->shift);
  if (draw->kind == ADJ_K_DRAW_EXPONENTIAL)
    return draw->scale * log_below_f64 (unit_f64 (words + 2 * part));
  return fma (unit_f64 (words + 2 * part), draw->scale, draw->shift);
}

ALWAYS_INLINE int64_t
drawn_integer (const AdjKDraw *draw, const uint32_t *words, int part)
{
  uint64_t word = draw->wide ? wide_word (words, part) : words[part];

  return (int64_t) (word % draw->range + (uint64_t) draw->low);
}

ALWAYS_INLINE bool
drawn_below (const AdjKDraw *draw, const uint32_t *words, int part)
{
  return draw->wide ? unit_f64 (words + 2 * part) < draw->scale
                    : unit_f32 (words[part]) < (float) draw->scale;
}

/* A number that rounding moved to the end of its range becomes the beginning. */
ALWAYS_INLINE double
below_end (const AdjKDraw *draw, double x)
{
  return draw->kind == ADJ_K_DRAW_UNIFORM && x == draw->end ? draw->shift : x;
}

/* Element @i of @out. */
ALWAYS_INLINE void
draw_element (
    const AdjKPhilox *generator, const AdjKDraw *draw, void *out, AdjKType type, int64_t i)
{
  DrawPlace place = draw_place (draw, i);
  uint32_t words[4];

  draw_words (generator, &place, words);
  if (type == ADJ_K_BOOL)
    ((uint8_t *) out)[i] = drawn_below (draw, words, place.part);
  else if (type == ADJ_K_I64)
    ((int64_t *) out)[i] = drawn_integer (draw, words, place.part);
  else if (type == ADJ_K_F64)
    ((double *) out)[i] = below_end (draw, drawn_f64 (draw, words, place.part));
  else if (type == ADJ_K_F32)
    ((float *) out)[i] = (float) below_end (draw, drawn_f32 (draw, words, place.part));
  else if (type == ADJ_K_F16)
    ((uint16_t *) out)[i] = f16_of_f32 (
        (float) below_end (draw, f32_of_f16 (f16_of_f32 (drawn_f32 (draw, words, place.part)))));
  else
    ((uint16_t *) out)[i] = bf16_of_f32 (
        (float) below_end (draw, f32_of_bf16 (bf16_of_f32 (drawn_f32 (draw, words, place.part)))));
}
