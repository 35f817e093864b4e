/* SPDX-License-Identifier: MIT */
#pragma once

/* Arguments of the kernels that read or write at given positions. */

#include "adj-kernel-backend.h"

/* out[i] = x[…] where the position in one dim is given: i counts elements of @out. */
typedef struct
{
  AdjKView out, x, idx; /* x and idx as seen from out; x with the given dim of stride 0 */
  AdjKFaults *faults;
  int64_t n, size, stride; /* of the given dim of x */
} GatherArgs;

/* For each line, in order of j: out[line, idx[j]] = or += src[line, j]. */
typedef struct
{
  AdjKView lines, src, idx; /* of out, of src and of idx: all dims but the one along j */
  void *data;
  AdjKFaults *faults;
  int64_t n_lines, n, size, stride, src_stride, idx_stride;
  int type;
  bool add;
} ScatterArgs;

typedef struct
{
  AdjKView idx;
  int64_t *counts;
  AdjKFaults *faults;
  int64_t n, size;
} CountArgs;

/* Walks values by places of the index tensors (@places) and the other dims (@rest). */
typedef struct
{
  AdjKView places, rest; /* of values */
  AdjKView x_rest;       /* of x */
  const AdjKView *idx;   /* in device memory: n_idx views of the sizes of places */
  int64_t size[ADJ_K_MAX_RANK], stride[ADJ_K_MAX_RANK]; /* of the indexed dims of x */
  void *x, *values;
  AdjKFaults *faults;
  int64_t n_places, n_rest;
  int n_idx, type;
  int64_t *keys; /* keys of the places, if these are wanted */
} ManyArgs;

/* The key of each element of @idx. */
typedef struct
{
  AdjKView idx;
  int64_t *keys;
  AdjKFaults *faults;
  int64_t n, size, skipped;
} KeysArgs;

/* Writes values of @places × @rest to @stride · key + @x_rest.  Places are sorted by key; negative
 * keys are left out. */
typedef struct
{
  AdjKView places, rest, x_rest;
  const int64_t *keys, *order; /* sorted keys, and their places */
  const int64_t *counts;       /* (nullable): by key: divisor of the added values */
  void *x;
  int64_t n_places, n_rest, stride;
  double factor;
  int x_type;
  bool add, scaled;
} PutArgs;
