/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Discrete Fourier transforms of any length, in f64, on the CPU only. */

typedef struct AdjKFft AdjKFft;

/* The plan of a length, at least 1; NULL when memory ran out. */
AdjKFft *adj_k_fft_new (int64_t n);
void adj_k_fft_free (AdjKFft *fft);

/* x[k] = Σ x[j] e^(-2πi jk / n), in place, of n complex numbers as pairs; with e^(+2πi jk / n) when
 * @backward.  A plan may be used by one thread at a time. */
void adj_k_fft_run (AdjKFft *fft, double *x, bool backward);
