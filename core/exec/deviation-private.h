/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-deviation.h"
#include "exec/rounding-private.h"

G_BEGIN_DECLS

/* The terms that elements of a result are sums of. */
typedef struct
{
  double *sizes;   /* (owned) (nullable): per element: sum of the absolute values of its terms */
  double *moves;   /* (owned) (nullable): per element: how far one rounding of each step moves it */
  gboolean fine;   /* steps round to float32 even in 16-bit types */
  double sums;     /* L2 norm of @sizes where elements are sums; else 0 */
  double places;   /* L2 norm of the moves that a rounding of blend weights causes */
  double **around; /* (owned) (nullable): other right results for elements beyond their limit, where
                      rounding decides on which side of an edge they are */
  guint n_around;
  gboolean coarse; /* intermediate results may be rounded to the type of the result */
  double norm;     /* L2 norm of all terms */
  double *counts;  /* (owned) (nullable): per element: how many terms were added in turn */
  gboolean inside; /* these sums are intermediate results: they are off by their share in moves */
} Terms;

void terms_clear (Terms *terms);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Terms, terms_clear)

/* (transfer full): the numbers of @data, both parts of complex ones; @n (out): how many. */
double *deviation_read (const AdjTensorData *data, gint64 *n);

/* Whether both have equal elements of the same type; zeros of either sign are equal, and so are
 * NaNs. */
gboolean deviation_is_none (const AdjTensorData *a, const AdjTensorData *b);

/* The deviation of @value from @exact; not measured where their numbers of elements differ. @terms:
 * (nullable): not used. */
AdjDeviation deviation_measure (const AdjTensorData *value,
                                AdjTensorData *exact,
                                const NodeRounding *rounding,
                                const Terms *terms);

G_END_DECLS
