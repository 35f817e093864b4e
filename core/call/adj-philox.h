/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "base/adj-macros.h"

G_BEGIN_DECLS

/* The counter-based generator of GPUs, Philox4x32-10: the numbers depend on seed, offset and
 * position alone, so a draw is a function and can be repeated. */

/* Four words for one counter under one key. */
ADJ_PUBLIC void adj_philox_block (const guint32 key[2], const guint32 counter[4], guint32 out[4]);

/* What drawing moves; PyTorch keeps one for each GPU. */
typedef struct
{
  guint64 seed;
  guint64 offset; /* a multiple of 4 */
} AdjPhilox;

/* Numbers that one thread of PyTorch's kernel takes at once: 4 of 32 bits, or 2 doubles. */
#define ADJ_PHILOX_UNROLL(is_double) ((is_double) ? 2u : 4u)

/* By how much drawing @n numbers moves the offset: as PyTorch launches its kernel on a GPU of 132
 * processors. */
ADJ_PUBLIC guint64 adj_philox_jump (guint64 n, gboolean is_double);

/* Fills @out with the @n numbers of torch.rand() on that GPU, uniform in [0, 1). */
ADJ_PUBLIC void adj_philox_uniform (AdjPhilox state, guint64 n, float *out);
ADJ_PUBLIC void adj_philox_uniform_double (AdjPhilox state, guint64 n, double *out);

G_END_DECLS
