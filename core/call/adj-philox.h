/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "base/adj-macros.h"

G_BEGIN_DECLS

/* The counter-based generator of GPUs, Philox4x32-10: the numbers depend on seed, offset and
 * position alone, so a draw is a function and can be repeated. */

/* The state that drawing advances; PyTorch keeps one for each GPU. */
typedef struct
{
  guint64 seed;
  guint64 offset; /* a multiple of 4 */
} AdjPhilox;

G_END_DECLS
