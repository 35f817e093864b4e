/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* What a release does in another way than 2.6 where a graph as Dynamo reads it is run. */
typedef struct
{
  const char *release;
  gboolean drops_whole; /* x[:, 1] takes no slice of what is known to end before, nor x[:] = y */
  gboolean fills;       /* x[…] = 1 stays a number: fill, masked_fill or index_fill */
  gboolean wide_scores; /* flex_attention multiplies 16 bits as f32 */
  gboolean
      checkpoints_plainly; /* a body without a policy, where no trace is made, is checkpointed */
} Habits;

/* (transfer none): those of the release of @cx. */
const Habits *habits_find (const AdjContext *cx);

G_END_DECLS
