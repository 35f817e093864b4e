/* SPDX-License-Identifier: MIT */
/* Checks of CUDA's entries that draw random numbers. */

#include <math.h>
#include "cuda-check.h"

/* Makes @n words, the same for both backends. */
static AdjKView
words_of (gint n)
{
  AdjKView words = kernel_array (ADJ_K_I32, 1, n);
  AdjKTwister twister;

  adj_k_twister_seed (&twister, (guint32) n);
  adj_k_words (&twister, &words);
  return words;
}

/* Draws that begin, span and end at refills of the generator's 624 words; draws of two segments of
 * 65,536 words or more, of a new generator too. */
void
check_words (AdjKType type)
{
  static const gint counts[] = { 200000, 1, 623, 624, 625, 227, 1300, 131072 };
  AdjKTwister twisters[2];

  if (type != ADJ_K_I32)
    return;
  adj_k_twister_seed (&twisters[0], 7);
  twisters[1] = twisters[0];
  for (guint k = 0; k < G_N_ELEMENTS (counts); k++)
    {
      Pair out;

      PAIR (out, kernel_array (type, 1, counts[k]));
      ON_BOTH (q, i)
      adj_q_words (q, &twisters[i], &out[i]);
      assert_pair ("words", out);
      g_assert_cmpmem (&twisters[0], sizeof twisters[0], &twisters[1], sizeof twisters[1]);
    }
}

void
check_philox (AdjKType type)
{
  AdjKView seed = SOME (ADJ_K_I64, -5, 900, 1);

  for (gint n_words = 1; n_words <= 4 && type == ADJ_K_I32; n_words++)
    {
      Pair out;

      PAIR (out, kernel_array (type, 2, 301, n_words));
      ON_BOTH (q, i)
      adj_q_philox (q, &seed, &out[i]);
      assert_pair ("philox", out);
    }
}

void
check_uniform (AdjKType type)
{
  AdjKView words = words_of (2 * 301);
  Pair out;

  if (!is_float (type))
    return;
  PAIR (out, kernel_array (type, 1, 301));
  ON_BOTH (q, i)
  adj_q_uniform (q, &out[i], &words, 3, -1);
  assert_pair ("uniform", out);
}

void
check_normal (AdjKType type)
{
  for (gint stretched = 0; stretched < 2 && type == ADJ_K_F32; stretched++)
    {
      const AdjKNormal normal = { 3, 0.1, stretched };
      Pair x;

      PAIR (x, SOME (type, 0, 0.99, 48 * 16));
      if (x[0].stride[0] != 1)
        PAIR (x, SOME (type, 0, 0.99, 48 * 16));
      ON_BOTH (q, i)
      adj_q_normal (q, &x[i], &normal);
      assert_pair ("normal", x);
    }
}

void
check_bernoulli (AdjKType type)
{
  AdjKView words = words_of (2 * 3001);

  for (gint streams = 0; streams < 2 && type == ADJ_K_BOOL; streams++)
    {
      Pair out;

      PAIR (out, kernel_array (type, 1, 3001));
      ON_BOTH (q, i)
      adj_q_bernoulli (q, &out[i], &words, 0.3, streams);
      assert_pair ("bernoulli", out);
    }
}

void
check_integers (AdjKType type)
{
  for (gint wide = 0; wide < 2 && type == ADJ_K_I64; wide++)
    {
      AdjKView words = words_of (wide ? 2 * 301 : 301);
      Pair out;

      PAIR (out, kernel_array (type, 1, 301));
      ON_BOTH (q, i)
      adj_q_integers (q, &out[i], &words, -5, wide ? G_MAXUINT64 / 3 : 1000);
      assert_pair ("integers", out);
    }
}

/* Fewer elements than threads, more, several rounds; each memory layout. */
void
check_draw (AdjKType type)
{
  static const gint counts[] = { 1, 301, 5000 };
  static const gint32 widths[] = { 1, 2, 4, 8 };
  AdjKDrawKind first = type == ADJ_K_BOOL  ? ADJ_K_DRAW_BELOW
                       : type == ADJ_K_I64 ? ADJ_K_DRAW_INTEGER
                                           : ADJ_K_DRAW_UNIFORM;
  AdjKDrawKind last = is_float (type) ? ADJ_K_DRAW_EXPONENTIAL : first;
  AdjKPhilox generators[2] = { { 0x123456789abcdefu, 12 }, { 0x123456789abcdefu, 12 } };

  if (!is_float (type) && first == ADJ_K_DRAW_UNIFORM)
    return;
  for (AdjKDrawKind kind = first; kind <= last; kind++)
    for (guint k = 0; k < G_N_ELEMENTS (counts) * G_N_ELEMENTS (widths) * 2; k++)
      {
        gint n = counts[k / 8];
        const AdjKDraw draw = { .kind = kind,
                                .wide = type == ADJ_K_F64 || (k % 2 == 1 && !is_float (type)),
                                .width = k % 2 == 1 || type == ADJ_K_F64 ? 1 : widths[k / 2 % 4],
                                .n_threads = adj_k_draw_threads (n, 512),
                                .scale = kind == ADJ_K_DRAW_EXPONENTIAL ? -0.5 : 0.7,
                                .shift = -0.25,
                                .end = 0.45,
                                .range = G_GUINT64_CONSTANT (0x1234567890),
                                .low = -7 };
        Pair out;

        PAIR (out, kernel_array (type, 1, n));
        ON_BOTH (q, i)
        adj_q_draw (q, &generators[i], &draw, &out[i]);
        assert_pair ("draw", out);
        g_assert_cmpuint (generators[0].offset, ==, generators[1].offset);
      }
}
