/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cpu: what index.c and index-many.c share. */

#include "tile.h"

/* The element of an index tensor @offset elements on. */
int64_t adj_k_index_at (const AdjKView *indices, int64_t offset);

/* An accumulation target: for 16-bit floats a copy in f32, which is rounded once at the end (the
 * output itself when memory ran out).  Its strides differ from those of the output. */
typedef struct
{
  const AdjKView *out;
  AdjKView view;
  const ClassLoops *loops; /* of the class of view */
  void *memory;
} Sum;

void adj_k_sum_begin (Sum *sum, const AdjKView *out);
void adj_k_sum_end (Sum *sum);

/* view[at + i * stride] += factor · src[src_at + i * src_stride]; @factor is of the class. */
typedef struct
{
  const AdjKView *src;
  int64_t at, stride, src_at, src_stride;
  int64_t n;
  const Scalar *factor; /* (nullable) */
} SumRun;

void adj_k_sum_add (const Sum *sum, const SumRun *run);
