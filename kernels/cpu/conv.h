/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cpu: what conv.c and conv-lines.c share. */

#include "adj-kernel-conv.h"
#include "tile.h"

enum
{
  AXES = 3
};

/* How positions along one spatial dim see elements: position p sees element p · stride + shift of
 * the source with shift = k · dilation - padding; reversed, the p = e · stride + shift is what
 * sees source element e. */
typedef struct
{
  int64_t size;      /* elements of the source */
  int64_t positions; /* of the destination */
  int64_t kernel, stride, padding, dilation;
} Axis;

typedef struct
{
  const AdjKConv *conv;
  AdjKView source;      /* rank 5: what is gathered from */
  AdjKView destination; /* rank 5: where positions stand */
  Axis axis[AXES];
  bool reversed;
  int64_t rows;      /* channels of the destination in a group */
  int64_t channels;  /* channels of the source in a group */
  int64_t taps;      /* elements of the kernel */
  int64_t positions; /* elements of a channel of the destination */
} ConvPlan;

/* Whether conv-lines.c computes it: positions see neighbours, one step further each. */
bool adj_k_conv_has_lines (const ConvPlan *plan);
/* Writes the destination; false: no memory. @weights: dense, [group, row, channel, tap]. */
bool adj_k_conv_lines (const ConvPlan *plan, const AdjKView *weights);
