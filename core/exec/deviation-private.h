/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-deviation.h"
#include "exec/rounding-private.h"

G_BEGIN_DECLS

/* The terms that the elements of a result are sums of. */
typedef struct
{
  double *sizes;   /* (owned) (nullable): of each element the sum of their absolute values */
  double *moves;   /* (owned) (nullable): how far one rounding of each step moves it */
  gboolean fine;   /* those are roundings to float32 in 16-bit types too */
  double sums;     /* L2 norm of the sizes where they are sums; else 0 */
  double places;   /* L2 norm of how far a rounding of the weights of a blend moves all */
  double **around; /* (owned) (nullable): what else is right of an element beyond its limit, for
                      rounding does not tell on which side of an edge it is */
  guint n_around;
  gboolean
      coarse;  /* what it is computed from on the way may be rounded to the type of the result */
  double norm; /* L2 norm of the terms of all */
} Terms;

void terms_clear (Terms *terms);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Terms, terms_clear)

/* (transfer full): every number of @data, of complex elements both parts; @n (out). */
double *deviation_read (const AdjTensorData *data, gint64 *n);

/* Whether both hold the same elements of the same type; zeros of either sign are the same, and so
 * are NaNs. */
gboolean deviation_is_none (const AdjTensorData *a, const AdjTensorData *b);

/* @value against @exact; not measured where they are not as many.  @terms: (nullable): not looked
 * at. */
AdjDeviation deviation_measure (const AdjTensorData *value,
                                AdjTensorData *exact,
                                const NodeRounding *rounding,
                                const Terms *terms);

G_END_DECLS
