/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-philox.h"

G_BEGIN_DECLS

/* Numbers of the counter-based generator, and what drawing them does to its state. */

/* Four words for one counter under one key. */
void adj_philox_block (const guint32 key[2], const guint32 counter[4], guint32 out[4]);

/* Numbers that one thread of PyTorch's kernel takes at once: 4 of 32 bits, or 2 doubles. */
#define ADJ_PHILOX_UNROLL(is_double) ((is_double) ? 2u : 4u)

/* By how much drawing @n numbers moves the offset: as PyTorch launches its kernel on a GPU of 132
 * processors. */
guint64 adj_philox_jump (guint64 n, gboolean is_double);

/* Fills @out with the @n numbers of torch.rand() on that GPU, uniform in [0, 1). */
void adj_philox_uniform (AdjPhilox state, guint64 n, float *out);
void adj_philox_uniform_double (AdjPhilox state, guint64 n, double *out);

G_END_DECLS
