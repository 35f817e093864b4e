/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

#define ADJ_STATS_BINS 32

/* Statistics of a tensor; those of a large tensor are of evenly spaced samples. */
typedef struct
{
  gint64 n;         /* elements of the tensor */
  gint64 n_sampled; /* number of samples */
  gint64 n_nan, n_inf;
  double min, max, mean, deviation; /* of the finite ones; NaN when there are none */
  double low, high;                 /* range of the bins: min and max */
  guint bins[ADJ_STATS_BINS];
  guint largest_bin;
} AdjTensorStats;

void adj_tensor_stats_compute (const AdjTensorData *data, AdjTensorStats *stats);
/* For two tensors, with bins of a common range. */
void adj_tensor_stats_compute_both (const AdjTensorData *a,
                                    const AdjTensorData *b,
                                    AdjTensorStats *stats_a,
                                    AdjTensorStats *stats_b);
/* The first elements, "0.1, -2, 3, …"; (transfer full) */
char *adj_tensor_stats_first (const AdjTensorData *data, guint n);

G_END_DECLS
