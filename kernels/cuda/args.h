/* SPDX-License-Identifier: MIT */
#pragma once

/* Arguments of each kernel: filled by launchers, read by kernels. */

#include "adj-kernel-backend.h"
#include "cpu/resample-tap.h"
#include "cuda/draw-args.h"
#include "cuda/index-args.h"

/* A number of either kind. */
typedef union
{
  double f;
  int64_t i;
} Number;

typedef struct
{
  const AdjKStep *steps;
  const AdjKView *operands; /* all of the same sizes */
  AdjKFaults *faults;
  int64_t n;
  int n_steps;
} FusedArgs;

typedef struct
{
  AdjKView dst, src;
  int64_t n;
  Number number;
  bool is_number; /* the source is @number, of the type of @src */
} CopyArgs;

typedef struct
{
  AdjKView dst;
  int64_t n;
  Number start, step;
  bool is_float;
} IotaArgs;

typedef struct
{
  AdjKView dst, src;
  int64_t n, diagonal;
  bool upper;
} TriangleArgs;

/* One output per place of @kept, each over the @n elements of @along; a block takes @chunk of them,
 * a power of two of leaves. */
typedef struct
{
  AdjKView kept, along, out;
  AdjKView mean; /* for @deviates: the squared distances to it are summed and divided */
  void *parts;   /* (nullable): of the class, the partial sums of each output's chunks */
  int64_t n, n_outputs, n_chunks, chunk;
  double divisor;
  int kind; /* AdjKReduce */
  bool deviates;
} ReduceArgs;

typedef struct
{
  AdjKView kept, along, var, mean; /* without data: not wanted */
  int64_t n, n_outputs;
  double divisor;
} VarianceArgs;

typedef struct
{
  AdjKView kept, along, values, indices; /* values without data: not wanted */
  int64_t n, n_outputs;
  bool smallest;
} ExtremeArgs;

enum
{
  SCAN_TILE = 1024, /* elements of a tile */
  SCAN_ROWS = 32    /* at most */
};

typedef struct
{
  AdjKView in, in_kept, out, out_kept;
  int64_t n, n_rows;
  int tile_rows;        /* a power of two */
  bool product, across; /* across: neighbours in memory are of different rows */
} ScanArgs;

/* Rows of softmax; backward: @x is g, @y what the forward function gave. */
typedef struct
{
  AdjKView x, x_kept, y, y_kept, out, out_kept;
  int64_t n, n_rows;
  bool log;
} SoftmaxArgs;

typedef struct
{
  AdjKView x, y, x_rows, y_rows, mean, rstd, w, b; /* w, b without data: none */
  int64_t n, n_rows;
  double eps;
} LayerNormArgs;

typedef struct
{
  AdjKView x, g, x_rows, g_rows, mean, rstd, w; /* w without data: none */
  AdjKView to, to_rows;                         /* gx */
  void *parts; /* partial sums of gw: of the class, for each column those of its chunks of @chunk
                  rows */
  int64_t n, n_rows, n_chunks, chunk;
} LayerNormBackwardArgs;

typedef struct
{
  AdjKView x, samples, target, weight; /* weight without data: none */
  AdjKView out, total;                 /* backward: out is g */
  AdjKFaults *faults;
  int64_t n, n_classes, class_stride, ignore_index;
  int reduction;
} NllArgs;

enum
{
  PRODUCT_EDGE = 16 /* of a tile of a product */
};

typedef struct
{
  AdjKView a, b, c, d; /* d without data: none */
  int64_t m, n, k, n_batches;
  double alpha, beta;
  int batched;
} GemmArgs;

/* Items of rows: a key and where it stood. */
typedef struct
{
  Number key;
  int64_t index;
} SortItem;

typedef struct
{
  AdjKView in, in_kept, values, values_kept, indices, indices_kept;
  SortItem *from, *to;
  int64_t n, k, n_rows, run;
  bool is_float, descending;
} SortArgs;

/* Of one spatial convolution, all ranks brought to 5. */
typedef struct
{
  AdjKView x, w, y, bias; /* bias without data: none */
  int64_t stride[3], padding[3], dilation[3];
  int64_t groups;
} ConvArgs;

typedef struct
{
  AdjKPool pool;
  AdjKView indices;
  AdjKView x_volumes, y_volumes, i_volumes; /* the dims before the last three */
  void *sums;                               /* of the class: x, dense; of unpool */
  int64_t n;                                /* threads */
  bool last;
} PoolArgs;

typedef struct
{
  AdjKView indices;
  AdjKFaults *faults;
  int64_t n, limit;
} CheckArgs;

typedef struct
{
  AdjKView x, y, x_volumes, y_volumes;
  const int64_t *first[3]; /* the taps of an output index along an axis: first[i] … first[i + 1] */
  const ResampleTap *taps[3];
  void *sums; /* backward: of the class, x, dense */
  int64_t n;  /* threads */
} ResampleArgs;

typedef struct
{
  AdjKView p, g, m, v, v_max; /* v_max without data: none */
  double beta1, beta2, weight_decay, eps;
  AdjKNumber lr, step, grad_scale, found;
  int64_t n;
  bool decoupled, maximize;
} AdamArgs;

typedef struct
{
  AdjKView p, g, m; /* m without data: none */
  double momentum, dampening, weight_decay;
  AdjKNumber lr, grad_scale, found;
  int64_t n;
  bool nesterov, maximize, is_first;
} SgdArgs;

typedef struct
{
  AdjKView x, found;
  AdjKNumber factor;
  int64_t n;
} UnscaleArgs;

/* Scores and gradients of probabilities [rows, n] of the class, dense, of rows of q, and their
 * results, maybe in place; see attention.cu. */
typedef struct
{
  AdjKView mask, lse, g, out; /* as the call's; mask without data: none */
  void *scores, *gradients;   /* of the class */
  void *p, *ds;
  AdjKType type; /* of p and ds */
  int64_t n_rows, n, depth;
  bool causal;
} AttentionArgs;

enum
{
  TILE_COLUMNS = 64 /* of the scores, and of the result, that a block makes at once */
};

/* See attention-tiles.cu. */
typedef struct
{
  AdjKView q, k, v, out, lse, mask; /* as the call's; mask without data: none */
  void *tops, *sums;                /* of the class, [batch, head, row] */
  double scale;
  bool causal;
} TilesArgs;
