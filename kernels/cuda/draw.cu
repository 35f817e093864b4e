/* SPDX-License-Identifier: MIT */
/* Random words, of which each turn of the twister is made by one block, and numbers from them. */

#include "cpu/draw-gpu.h"
#include "cuda/args.h"
#include "cuda/class.h"

#define N ADJ_K_TWISTER_WORDS
#define M 397

/* Words that need none of each other. */
#define APART (N - M)

/* Words kept: a power of two with room for a turn and for the words made meanwhile, so that no step
 * overwrites words that a concurrent step reads. */
#define RING 1024
#define WORD(i) ring[(uint32_t) (i) % RING]

/* Word i of the stream is made of words i - 624, i - 623 and i - 227; @n of them, at most, are
 * made from word @from on, and words from @wanted on are drawn to @out. */
DEVICE void
step (uint32_t *ring, int64_t from, int n, uint32_t *out, int64_t wanted, int64_t end)
{
  if (THREAD < n)
    {
      int64_t i = from + THREAD;
      uint32_t made = turned (WORD (i - N), WORD (i - N + 1), WORD (i - APART));

      WORD (i) = made;
      if (i >= wanted && i < end)
        out[i - wanted] = tempered (made);
    }
  sync_block ();
}

/* Words are numbered from the first of the state; the state that stays is the turn of the last
 * word. */
KERNEL (adj_words, WordsArgs)
{
  SHARED uint32_t ring[RING];
  AdjKTwister *twister = args.twister;
  int64_t left = twister->left - 1, wanted = left > 0 ? twister->next : N;
  int64_t end = wanted + args.n, turns = (end + N - 1) / N;

  for (int i = THREAD; i < N; i += THREADS)
    {
      ring[i] = twister->state[i];
      if (i >= wanted && i < end)
        args.out[i - wanted] = tempered (ring[i]);
    }
  sync_block ();
  for (int64_t from = N; from < turns * N; from += APART)
    {
      int64_t n = turns * N - from;

      step (ring, from, n < APART ? (int) n : APART, args.out, wanted, end);
    }
  for (int i = THREAD; i < N; i += THREADS)
    twister->state[i] = WORD ((turns - 1) * N + i);
  sync_block ();
  if (THREAD == 0)
    {
      twister->left = (int32_t) (turns * N - end) + 1;
      twister->next = (uint32_t) (end - (turns - 1) * N);
    }
}

KERNEL (adj_philox, PhiloxArgs)
{
  FOR_EACH (i, args.n)
    philox_words (*args.seed, i, args.out + i * args.n_words, args.n_words);
}

KERNEL (adj_uniform, NumbersArgs)
{
  FOR_EACH (i, args.n)
    f64_store (args.out, args.type, i,
               fma (uniform_of (args.words, i, args.type), args.scale, args.shift));
}

/* A thread for each pair. */
KERNEL (adj_normal, NormalArgs)
{
  FOR_EACH (i, args.n)
    {
      float *u = args.x + i / 8 * 16 + i % 8, *v = u + 8;

      box_muller_f32 (u, v);
      if (args.normal.stretched)
        {
          *u = (float) ((double) *u * args.normal.scale + args.normal.shift);
          *v = (float) ((double) *v * args.normal.scale + args.normal.shift);
        }
    }
}

KERNEL (adj_bernoulli, BernoulliArgs)
{
  FOR_EACH (i, args.n)
    {
      double x = args.streams ? (double) mcg_state (args.words[0], i) / (double) MCG_PRIME
                              : uniform_f64 (args.words, i);

      args.out[i] = x < args.p;
    }
}

KERNEL (adj_integers, IntegersArgs)
{
  FOR_EACH (i, args.n)
    args.out[i] = (int64_t) ((args.wide ? wide_word (args.words, i) : args.words[i]) % args.range +
                             (uint64_t) args.low);
}

KERNEL (adj_draw, DrawArgs)
{
  FOR_EACH (i, args.n)
    draw_element (args.generator, &args.draw, args.out, args.type, i);
}

/* When all of it is drawn. */
KERNEL (adj_draw_move, DrawArgs)
{
  if (BLOCK == 0 && THREAD == 0)
    args.generator->offset += draw_move (&args.draw, args.n);
}
