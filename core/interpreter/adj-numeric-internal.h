/* SPDX-License-Identifier: MIT */
#pragma once

#include "interpreter/adj-numeric.h"

G_BEGIN_DECLS

/* What an error may be: by type, and by the roundings of an operator. */

/* The least number above 0 and the largest of @dtype; 0 and DBL_MAX for what is no float. */
double adj_dtype_smallest (AdjDType dtype);
double adj_dtype_largest (AdjDType dtype);

/* How often an operator may round, in units of u: to the type of its result, and on the way there,
 * which 16-bit types go in float32. */
typedef struct
{
  double of_result, within;
} AdjRoundings;

/* Those of @band at reduction length @k. */
AdjRoundings adj_band_roundings (AdjBand band, double k);

/* The largest relative error that they make of a value of @dtype. */
double adj_roundings_limit (AdjRoundings roundings, AdjDType dtype);

/* The largest local rel-L2 error that @band allows at reduction length @k in @dtype. */
double adj_band_limit (AdjBand band, AdjDType dtype, double k);

G_END_DECLS
