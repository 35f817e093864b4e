/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* The sizes of random moves: of results, and of the coordinates that some operators read. */
typedef struct
{
  double results;     /* relative */
  double coordinates; /* relative to coordinates above 1, absolute below */
  guint64 seed;
} Perturbation;

/* (transfer full): a mode that moves what every operator gives that rounds, and the argument `grid`
 * of those that jump (ADJ_OP_JUMPS); above the float64 mode. */
AdjMode *perturbation_mode_new (const Perturbation *move);

G_END_DECLS
