/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The class of the tolerance band in comparisons; in 16-bit types 2u of the result, and the rest
 * of them in float32. */
typedef enum
{
  ADJ_BAND_EXACT,   /* copies, views, integers, indices: bit for bit */
  ADJ_BAND_ROUNDED, /* exactly rounded pointwise: 2u */
  ADJ_BAND_SMOOTH,  /* transcendental, softmax, norms: 8u */
  ADJ_BAND_PLACES, /* blends of K at places that it computes: u (6 + log2 K), and what a rounding of
                      these moves */
  ADJ_BAND_SUM,    /* u (4 + log2 K) */
  ADJ_BAND_PRODUCT, /* matrix products and convolutions: u (4 + 2 log2 K) */
  ADJ_BAND_LINALG,  /* transforms and factorizations, whose steps build on each other:
                       u (8 + 4 log2 K) */
} AdjBand;

G_END_DECLS
