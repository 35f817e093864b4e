/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include "interpreter/adj-numeric.h"

G_BEGIN_DECLS

/* How far what an operator gave lies from what it gives in float64 on the same inputs, and how far
 * it may.  Three statistics, for each misses what another sees: the L2 distance sees noise, the
 * slope a factor that is smaller than the noise, the worst element what is lost among many. */

/* How many u of the absolute values of its terms one element may be off. */
#define ADJ_ELEMENT_LIMIT 64

typedef struct
{
  gboolean measured;
  gint64 n_class_mismatch; /* NaN or infinite in one of the two only; what a cast to the type makes
                              infinite may be */
  double rel_l2, rel_l2_limit;
  double slope, slope_limit; /* <value, exact> / <exact, exact> - 1 */
  double independent;        /* elements that round independently of each other */
  double element;            /* the largest error of an element in u of its terms */
  gint64 element_index;      /* row-major; -1: none */
  double terms;              /* L2 norm of the terms over that of their sums; 1: not looked at */
  gboolean right;            /* none of them is beyond its limit */
} AdjDeviation;

#define ADJ_DEVIATION_NONE                                                                         \
  ((AdjDeviation){ .rel_l2 = NAN,                                                                  \
                   .rel_l2_limit = NAN,                                                            \
                   .slope = NAN,                                                                   \
                   .slope_limit = NAN,                                                             \
                   .element = NAN,                                                                 \
                   .element_index = -1 })

G_END_DECLS
