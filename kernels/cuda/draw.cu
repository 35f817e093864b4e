/* SPDX-License-Identifier: MIT */
/* Random words, of which a block makes 227 at a time, and numbers from them. */

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

/* Word @i of the stream is made of words i - 624, i - 623 and i - 227. */
DEVICE uint32_t
make_word (uint32_t *ring, int64_t i)
{
  return WORD (i) = turned (WORD (i - N), WORD (i - N + 1), WORD (i - APART));
}

/* Words are numbered from the first of the state, of which @from on are wanted. */
DEVICE void
give_word (const WordsArgs *args, int64_t from, int64_t i, uint32_t word)
{
  if (i >= from && i < from + args->n)
    args->out[i - from] = tempered (word);
}

/* The number of the next word of @twister. */
DEVICE int64_t
next_of (const AdjKTwister *twister)
{
  return twister->left > 1 ? twister->next : N;
}

/* Word @i of those with which the block's segment begins, from the sums of the jump to it. */
DEVICE uint32_t
join_parts (const WordsArgs *args, int i)
{
  const uint32_t *parts = args->parts + (BLOCK - 1) * JUMP_PARTS * N + i;
  uint32_t word = 0;

  for (int part = 0; part < JUMP_PARTS; part++)
    word ^= parts[part * N];
  return word;
}

/* A block per segment; the state that stays is the turn of the last word.  Segments after the first
 * begin at word 1 of their jump: of word 0 of a state only one bit is of the stream. */
KERNEL (adj_words, WordsArgs)
{
  SHARED uint32_t ring[RING];
  AdjKTwister *twister = args.twister;
  bool is_last = BLOCK + 1 == BLOCKS;
  int64_t wanted = next_of (args.before), end = wanted + args.n, turns = (end + N - 1) / N;
  int64_t first = BLOCK > 0 ? BLOCK * args.segment + 1 : 0;
  int64_t last = is_last ? turns * N : (BLOCK + 1) * args.segment + 1 + N;

  for (int i = THREAD; i < N; i += THREADS)
    {
      WORD (first + i) = BLOCK > 0 ? join_parts (&args, i) : args.before->state[i];
      if (BLOCK == 0)
        give_word (&args, wanted, i, WORD (i));
    }
  sync_block ();
  for (int64_t i = first + N + THREAD; i - THREAD < last; i += APART)
    {
      if (THREAD < APART && i < last)
        give_word (&args, wanted, i, make_word (ring, i));
      sync_block ();
    }
  for (int i = THREAD; i < N && is_last; i += THREADS)
    twister->state[i] = WORD ((turns - 1) * N + i);
  if (THREAD == 0 && is_last)
    {
      twister->left = (int32_t) (turns * N - end) + 1;
      twister->next = (uint32_t) (end - (turns - 1) * N);
    }
}

/* One block: a copy of the generator, and the words ahead of it. */
KERNEL (adj_words_ahead, WordsArgs)
{
  SHARED uint32_t ring[RING];

  for (int i = THREAD; i < N; i += THREADS)
    args.before->state[i] = args.ahead[i] = ring[i] = args.twister->state[i];
  if (THREAD == 0)
    {
      args.before->left = args.twister->left;
      args.before->next = args.twister->next;
    }
  sync_block ();
  for (int64_t i = N + THREAD; i - THREAD < WORDS_AHEAD; i += APART)
    {
      if (THREAD < APART && i < WORDS_AHEAD)
        args.ahead[i] = make_word (ring, i);
      sync_block ();
    }
}

/* JUMP_PARTS blocks per jump, each for a share of its terms; a thread makes sums of up to three
 * words. */
KERNEL (adj_words_jump, WordsArgs)
{
  const uint32_t *jump = args.jumps + BLOCK / JUMP_PARTS * N;
  int share = N / JUMP_PARTS, first = (int) (BLOCK % JUMP_PARTS) * share;

  for (int i = THREAD; i < N; i += 3 * THREADS)
    {
      uint32_t sum[3] = { 0 };

      for (int term = 32 * first; term < 32 * (first + share); term++)
        if ((jump[term / 32] >> term % 32 & 1) != 0)
          for (int k = 0; k < 3; k++)
            sum[k] ^= i + k * THREADS < N ? args.ahead[1 + term + i + k * THREADS] : 0;
      for (int k = 0; k < 3 && i + k * THREADS < N; k++)
        args.parts[BLOCK * N + i + k * THREADS] = sum[k];
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
