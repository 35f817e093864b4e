/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The class of the tolerance band in comparisons. For 16-bit types the band is 2u of the result
 * plus the float32 band. */
typedef enum
{
  ADJ_BAND_EXACT,   /* copies, views, integers, indices: bit for bit */
  ADJ_BAND_ROUNDED, /* exactly rounded pointwise: 2u */
  ADJ_BAND_SMOOTH,  /* transcendental, softmax, norms: 8u */
  ADJ_BAND_PLACES,  /* interpolation of K elements at computed positions: u (6 + log2 K), plus the
                       effect of a rounding of the positions */
  ADJ_BAND_SUM,     /* u (4 + log2 K) */
  ADJ_BAND_PRODUCT, /* matrix products and convolutions: u (4 + 2 log2 K) */
  ADJ_BAND_LINALG,  /* transforms and factorizations, whose steps build on each other:
                       u (8 + 4 log2 K) */
} AdjBand;

G_END_DECLS
