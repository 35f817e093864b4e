/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cpu: what conv.c, conv-lines.c and conv-weight-lines.c share. */

#include "adj-kernel-conv.h"
#include "panels.h"

enum
{
  AXES = 3,
  CONV_CHUNK = 1024 /* positions of a chunk of the weight gradient: fixed, results depend on it */
};

/* How positions along one spatial dim map to elements: position p sees element p · stride + shift
 * of the source with shift = k · dilation - padding; reversed, p = e · stride + shift are the
 * positions that see source element e. */
typedef struct
{
  int64_t size;      /* elements of the source */
  int64_t positions; /* of the destination */
  int64_t kernel, stride, padding, dilation;
} Axis;

typedef struct
{
  const AdjKConv *conv;
  AdjKView source;      /* rank 5: gathered from */
  AdjKView destination; /* rank 5: has the positions */
  Axis axis[AXES];
  bool reversed;
  int64_t rows;      /* channels of the destination in a group */
  int64_t channels;  /* channels of the source in a group */
  int64_t taps;      /* elements of the kernel */
  int64_t positions; /* elements of a channel of the destination */
} ConvPlan;

/* The stride from one position of a channel to the next; -1 when there is no single one. */
int64_t adj_k_conv_position_stride (const AdjKView *view);

/* --- conv-lines.c ------------------------------------------------------------------------------
 */

/* A zero-padded copy of the inputs of some lines of positions, for some channels of one image and
 * group. */
typedef struct
{
  LoadLoop load; /* of an element of the source */
  size_t size;   /* of an element of the copy */
  char *at;
  int64_t image, group, channel, depth; /* @channel: the first, in the group */
  int64_t first;                        /* line of positions */
  int64_t width, height;                /* of a channel */
} ConvCopy;

/* A LoadLoop that copies elements of 16 bits unchanged. */
void adj_k_conv_copy_16 (void *dst, const void *src, int64_t stride, int n);
/* The number of elements that @n neighbouring positions see. */
int64_t adj_k_conv_seen_by (const Axis *axis, int64_t n);
/* Whether the inputs of a tap for a line are one run of such a copy. */
bool adj_k_conv_sees_lines (const ConvPlan *plan);
/* Fills channel @channel of the copy. */
void adj_k_conv_copy_channel (const ConvPlan *plan, const ConvCopy *copy, int64_t channel);
/* The offset of the input at the first position for row @row of the columns, (channel, tap). */
int64_t adj_k_conv_row_offset (const ConvPlan *plan, const ConvCopy *copy, int64_t row);

/* Whether adj_k_conv_lines() supports it. */
bool adj_k_conv_has_lines (const ConvPlan *plan);
/* Writes the destination; false: no memory. @weights: dense, [group, row, channel, tap]. */
bool adj_k_conv_lines (const ConvPlan *plan, const AdjKView *weights);

/* --- conv-weight-lines.c -----------------------------------------------------------------------
 */

/* Whether it is faster, as most of each panel is used. */
bool adj_k_conv_weight_has_lines (const ConvPlan *plan, const ClassLoops *loops);
/* Writes @sums, dense, [group, row, channel, tap], of the class; false: no memory. */
bool adj_k_conv_weight_lines (const ConvPlan *plan, const AdjKView *sums);
