/* SPDX-License-Identifier: MIT */
/* Random words, of which each turn of the twister is made by one block, and numbers from them. */

#include "cpu/draw.h"
#include "cuda/args.h"
#include "cuda/class.h"

#define N ADJ_K_TWISTER_WORDS
#define M 397

/* Words that need none of the same turn; the next as many need these, the rest those. */
#define APART (N - M)

/* The next 624 words, in place: each from two old ones and one that is new for all but the first
 * third. */
DEVICE void
turn (uint32_t *state)
{
  for (int first = 0; first < N; first += APART)
    {
      int i = first + THREAD, end = first + APART < N ? first + APART : N;
      uint32_t made = 0;

      if (i < end)
        made = turned (state[i], state[(i + 1) % N], state[(i + M) % N]);
      sync_block ();
      if (i < end)
        state[i] = made;
      sync_block ();
    }
}

KERNEL (adj_words, WordsArgs)
{
  SHARED uint32_t state[N];
  AdjKTwister *twister = args.twister;
  int64_t left = twister->left - 1, next = twister->next;

  for (int i = THREAD; i < N; i += THREADS)
    state[i] = twister->state[i];
  sync_block ();
  for (int64_t at = 0; at < args.n;)
    {
      int64_t some;

      if (left == 0)
        {
          turn (state);
          left = N;
          next = 0;
        }
      some = left < args.n - at ? left : args.n - at;
      for (int64_t i = THREAD; i < some; i += THREADS)
        args.out[at + i] = tempered (state[next + i]);
      at += some;
      left -= some;
      next += some;
    }
  for (int i = THREAD; i < N; i += THREADS)
    twister->state[i] = state[i];
  sync_block ();
  if (THREAD == 0)
    {
      twister->left = (int32_t) left + 1;
      twister->next = (uint32_t) next;
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
