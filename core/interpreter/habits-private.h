/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* Differences of a PyTorch release from 2.6 when a Dynamo graph is run. */
typedef struct
{
  const char *release;
  gboolean drops_whole; /* x[0:n] of at most n elements takes no slice, even as the only index, nor
                           does x[:] = y */
  gboolean fills;       /* x[…] = 1 writes a number: fill, masked_fill or index_fill */
  gboolean wide_scores; /* flex_attention multiplies 16-bit numbers in f32 */
  gboolean checkpoints_plainly; /* outside of traces, checkpoint needs no policy to act as one */
} Habits;

/* (transfer none): the row for the release of @cx. */
const Habits *habits_find (const AdjContext *cx);

G_END_DECLS
