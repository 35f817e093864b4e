/* SPDX-License-Identifier: MIT */
/* Philox 4x32-10, the counter-based generator of CUDA: the number at any offset, for
 * torch.rand_like and dropout. */

#include "call/adj-philox.h"

#include "adj-kernel-random.h"

#include "call/adj-philox-internal.h"

#define BLOCK_SIZE 256u
#define MAX_BLOCKS (132u * 8u) /* processors × blocks that fit on one */

void
adj_philox_block (const guint32 key[2], const guint32 counter[4], guint32 out[4])
{
  adj_k_philox_block (key, counter, out);
}

static guint64
count_threads (guint64 n)
{
  guint64 blocks = (n + BLOCK_SIZE - 1) / BLOCK_SIZE;

  return MIN (blocks, MAX_BLOCKS) * BLOCK_SIZE;
}

guint64
adj_philox_jump (guint64 n, gboolean is_double)
{
  if (n == 0)
    return 0;
  return ((n - 1) / (count_threads (n) * ADJ_PHILOX_UNROLL (is_double)) + 1) * 4;
}

/* The words of thread @thread in its turn @turn. */
static void
draw (AdjPhilox state, guint64 thread, guint64 turn, guint32 out[4])
{
  guint64 at = state.offset / 4 + turn;
  const guint32 key[2] = { (guint32) state.seed, (guint32) (state.seed >> 32) };
  const guint32 counter[4] = { (guint32) at, (guint32) (at >> 32), (guint32) thread,
                               (guint32) (thread >> 32) };

  adj_philox_block (key, counter, out);
}

/* Element @i is number @part of thread @thread in turn @turn. */
static void
locate (guint64 i, guint64 threads, guint unroll, guint64 *thread, guint64 *turn, guint *part)
{
  *turn = i / (threads * unroll);
  *part = (guint) (i / threads % unroll);
  *thread = i % threads;
}

void
adj_philox_uniform (AdjPhilox state, guint64 n, float *out)
{
  guint64 threads = count_threads (n);

  for (guint64 i = 0; i < n; i++)
    {
      guint64 thread, turn;
      guint32 words[4];
      guint part;

      locate (i, threads, 4, &thread, &turn, &part);
      draw (state, thread, turn, words);
      out[i] = (float) words[part] * 2.3283064e-10f + 2.3283064e-10f / 2.0f;
      if (out[i] >= 1.0f)
        out[i] = 0.0f;
    }
}

void
adj_philox_uniform_double (AdjPhilox state, guint64 n, double *out)
{
  guint64 threads = count_threads (n);

  for (guint64 i = 0; i < n; i++)
    {
      guint64 thread, turn, z;
      guint32 words[4];
      guint part;

      locate (i, threads, 2, &thread, &turn, &part);
      draw (state, thread, turn, words);
      z = (guint64) words[2 * part] ^ ((guint64) words[2 * part + 1] << 21);
      out[i] = (double) z * 0x1p-53 + 0x1p-54;
      if (out[i] >= 1.0)
        out[i] = 0.0;
    }
}
