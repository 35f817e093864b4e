/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-band.h"
#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* Comparing two tensors (interpreter/SPEC.md §4): @a is the candidate, @r the reference; all in
 * double, one pass.  A complex element counts as two numbers. */

#define ADJ_N_HISTOGRAM 33 /* ulp distance 0, 1, 2, 4 … 2^31 */

typedef struct
{
  gboolean same_shape, same_dtype, same_strides;
  gint64 n;
  gint64 n_nan_a, n_nan_r, n_inf_a, n_inf_r;
  gint64 n_class_mismatch; /* one NaN or infinite and the other not, or infinities of other sign */
  double max_abs;
  gint64 max_index; /* row-major; -1 when nothing is finite */
  double mean_abs, p50_abs, p99_abs;
  double scaled_max; /* max_abs / max |r| */
  double rel_l2;     /* |a - r| / |r|; 0/0 is 0 */
  double max_rel;    /* |a - r| / max (|r|, 1e-3 max |r|) */
  double cosine, bias;
  gint64 ulp[ADJ_N_HISTOGRAM]; /* on the bit pattern of the lower-precision dtype; empty for
                                  integers */
  gint64 n_not_close;          /* by the rule of torch.testing with the dtype's defaults */
  gint64 not_close[10];        /* row-major indices of the first of them */
  guint n_not_close_listed;
} AdjTensorDifference;

/* Fills @out; for tensors of different shapes it only says that shapes differ. */
ADJ_PUBLIC void
adj_tensor_compare (const AdjTensorData *a, const AdjTensorData *r, AdjTensorDifference *out);

/* 2^-24 for f32, 2^-11 f16, 2^-8 bf16, 2^-53 f64; 0 for integers and bool. */
ADJ_PUBLIC double adj_dtype_unit_roundoff (AdjDType dtype);

typedef enum
{
  ADJ_VERDICT_EQUAL,  /* bit for bit */
  ADJ_VERDICT_WITHIN, /* inside its band */
  ADJ_VERDICT_DIFFERS,
  ADJ_VERDICT_SKIPPED, /* not comparable: uninitialised, opaque, missing on one side */
} AdjVerdict;

ADJ_PUBLIC const char *adj_verdict_name (AdjVerdict verdict); /* "within" */

G_END_DECLS
