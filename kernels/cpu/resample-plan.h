/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to the kernels: the taps of a resampling, for the CPU and devices. */

#include "adj-kernel-resample.h"
#include "cpu/resample-tap.h"
#include "cpu/volume.h"

/* One axis: element i of y has the taps first[i] … first[i + 1] - 1. */
typedef struct
{
  const AdjKResample *resample;
  double scale;        /* 0: by the sizes */
  const double *moves; /* (nullable): offsets of weights */
  int64_t size, out;
  int64_t *first;
  ResampleTap *taps;
} ResampleAxis;

typedef struct
{
  const AdjKResample *resample;
  const ClassLoops *loops;
  int64_t size[AXES], out[AXES];
  ResampleAxis axes[AXES];
} ResamplePlan;

/* Fills @plan, whose memory adj_k_resample_end() frees; false, with nothing to free, when memory
 * ran out. */
bool adj_k_resample_begin (ResamplePlan *plan, const AdjKResample *resample);
void adj_k_resample_end (ResamplePlan *plan);
