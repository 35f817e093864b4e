/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include "interpreter/adj-numeric.h"

G_BEGIN_DECLS

/* The distance of an operator's result from its float64 result on the same inputs, and the limits.
 * Three statistics complement each other: the L2 distance sees errors of all elements, the slope a
 * factor smaller than these, the worst element an error that is lost among many. */

/* Limit for the error of one element, in u of the sum of its terms' absolute values. */
#define ADJ_ELEMENT_LIMIT 64

typedef struct
{
  gboolean measured;
  gint64 n_class_mismatch; /* elements that are NaN or infinite on one side only, except those that
                              a cast to the type makes infinite */
  double rel_l2, rel_l2_limit;
  double slope, slope_limit; /* <value, exact> / <exact, exact> - 1 */
  double independent;        /* number of elements whose roundings are independent of each other */
  double element;            /* the largest error of an element in u of its terms */
  gint64 element_index;      /* row-major; -1: none */
  double terms;              /* L2 norm of the terms over that of their sums; 1: not computed */
  gboolean right;            /* no statistic exceeds its limit */
} AdjDeviation;

#define ADJ_DEVIATION_NONE                                                                         \
  ((AdjDeviation){ .rel_l2 = NAN,                                                                  \
                   .rel_l2_limit = NAN,                                                            \
                   .slope = NAN,                                                                   \
                   .slope_limit = NAN,                                                             \
                   .element = NAN,                                                                 \
                   .element_index = -1 })

G_END_DECLS
