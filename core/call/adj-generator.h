/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-error.h"

G_BEGIN_DECLS

/* PyTorch's random numbers on the CPU: the Mersenne Twister MT19937, whose state reads and writes
 * the bytes of torch.get_rng_state(), so that a recorded state gives the numbers that PyTorch
 * drew.  Distributions stand in core/ops/random.c. */
typedef struct _AdjGenerator AdjGenerator;

#define ADJ_GENERATOR_STATE_BYTES 5056

/* The source of random numbers with one parameter: bernoulli with one probability, masks of
 * dropout, exponential.  It depends on how PyTorch was built, not on the CPU. */
typedef enum
{
  /* One draw starts a stream of MKL's MCG31: wheels for x86-64 of release 2.6. */
  ADJ_RANDOM_MKL,
  /* All from the generator, 53 bits each: wheels of release 2.15, and builds without MKL. */
  ADJ_RANDOM_GENERATOR,
} AdjRandomSource;

ADJ_PUBLIC AdjGenerator *adj_generator_new (guint64 seed);    /* (transfer full) */
ADJ_PUBLIC void adj_generator_free (AdjGenerator *generator); /* @generator: (nullable) */

/* As torch.manual_seed(). */
ADJ_PUBLIC void adj_generator_seed (AdjGenerator *generator, guint64 seed);

/* @bytes has room for ADJ_GENERATOR_STATE_BYTES. */
ADJ_PUBLIC void adj_generator_get_state (const AdjGenerator *generator, guint8 *bytes);
/* %FALSE with ADJ_ERROR_PARSE, and nothing changed, when @bytes are not a valid state. */
ADJ_PUBLIC gboolean adj_generator_set_state (AdjGenerator *generator,
                                             const guint8 *bytes,
                                             gsize n_bytes,
                                             GError **error);

/* The next 32 bits. */
ADJ_PUBLIC guint32 adj_generator_next32 (AdjGenerator *generator);
/* Two draws, the first one in the upper half. */
ADJ_PUBLIC guint64 adj_generator_next64 (AdjGenerator *generator);
/* Uniform in [0, 1), of 53 bits. */
ADJ_PUBLIC double adj_generator_next_uniform (AdjGenerator *generator);
/* Normal with mean 0 and deviation 1; numbers are drawn in pairs. */
ADJ_PUBLIC double adj_generator_next_normal (AdjGenerator *generator);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjGenerator, adj_generator_free)

G_END_DECLS
