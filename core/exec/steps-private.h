/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* By how much what operators give, and the places that some of them look at, move by chance. */
typedef struct
{
  double results; /* relative */
  double places;  /* of what is larger than 1 relative to it, absolute of the rest */
  guint64 seed;
} StepsMove;

/* (transfer full): a mode that moves what every operator gives that rounds, and the argument `grid`
 * of those that jump (ADJ_OP_JUMPS); above the float64 mode. */
AdjMode *steps_mode_new (const StepsMove *move);

G_END_DECLS
