/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* Sizes of the random perturbations: of results, and of the coordinates that some operators look
 * up. */
typedef struct
{
  double results;     /* relative */
  double coordinates; /* relative to coordinates above 1, absolute below */
  guint64 seed;
} Perturbation;

/* (transfer full): a mode that perturbs the results of every operator that rounds, and the argument
 * `grid` of discontinuous ones (ADJ_OP_JUMPS); to be placed above the float64 mode. */
AdjMode *perturbation_mode_new (const Perturbation *move);

G_END_DECLS
