/* SPDX-License-Identifier: MIT */
#pragma once

#include "interpreter/adj-numeric.h"

G_BEGIN_DECLS

/* Error bounds, by dtype and by the roundings of an operator. */

/* The smallest positive and the largest number of @dtype; 0 and DBL_MAX for other than floats. */
double adj_dtype_smallest (AdjDType dtype);
double adj_dtype_largest (AdjDType dtype);

/* The number of roundings of an operator, in units of u: to the dtype of the result, and before,
 * where 16-bit types use float32. */
typedef struct
{
  double of_result, within;
} AdjRoundings;

/* The roundings of @band at reduction length @k. */
AdjRoundings adj_band_roundings (AdjBand band, double k);

/* The largest relative error of a value of @dtype by these roundings. */
double adj_roundings_limit (AdjRoundings roundings, AdjDType dtype);

/* The largest local rel-L2 error that @band allows at reduction length @k in @dtype. */
double adj_band_limit (AdjBand band, AdjDType dtype, double k);

G_END_DECLS
