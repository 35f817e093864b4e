/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adj-kernel-op.h"

/* The reference kernels: plain C over strided memory, usable without GLib.
 *
 * What holds for all of them:
 *
 *  - Views have any strides, outputs too.  An output must not overlap an input, except that
 *    adj_k_pointwise() may write exactly the elements that it reads.  An output view must not
 *    have two indices at one address.
 *  - Callers must ensure that sizes, dtypes and dims fit as each function says.  Only
 *    *indices stored in tensors* are checked here: such functions return false, put the first
 *    offending index into @bad, and leave the output in an unspecified state.
 *  - Arithmetic happens in a compute class: f32 for 16- and 32-bit floats, f64 for f64, i64
 *    (wrapping) for integers and bools.  The result is rounded once, when it is stored.
 *  - f32 and 16-bit results are the same bits on every CPU and with any number of threads (the
 *    payload of a NaN excepted); f64 transcendental functions are those of libm. */

typedef enum
{
  ADJ_K_BOOL, /* one byte, 0 or 1 */
  ADJ_K_U8,
  ADJ_K_I8,
  ADJ_K_I16,
  ADJ_K_I32,
  ADJ_K_I64,
  ADJ_K_F16,
  ADJ_K_BF16,
  ADJ_K_F32,
  ADJ_K_F64,
  ADJ_K_N
} AdjKType;

#define ADJ_K_MAX_RANK 16

typedef struct
{
  void *data; /* element [0, 0, …] */
  AdjKType type;
  int rank;
  int64_t size[ADJ_K_MAX_RANK];
  int64_t stride[ADJ_K_MAX_RANK]; /* in elements; 0 repeats; never negative */
} AdjKView;

size_t adj_k_type_get_size (AdjKType type); /* bytes of an element */
bool adj_k_type_is_float (AdjKType type);
int64_t adj_k_view_count (const AdjKView *view); /* number of elements, 1 for rank 0 */

/* --- copy.c: copies, casts, constants --------------------------------------------------------- */

/* dst = (type of dst) src, of the same sizes (to broadcast, give @src strides of 0).  Float to
 * integer truncates toward zero; values out of range (and NaN) become the most negative int32 or
 * int64, and narrower integers wrap.  To bool: x != 0.  To 16-bit floats through f32, nearest even.
 */
void adj_k_copy (const AdjKView *dst, const AdjKView *src);

void adj_k_fill_f64 (const AdjKView *dst, double value);
void adj_k_fill_i64 (const AdjKView *dst, int64_t value);

/* dst[i] = start + i * step, where i counts elements in row-major order.  The double form computes
 * in f64 whatever the type of @dst. */
void adj_k_iota_f64 (const AdjKView *dst, double start, double step);
void adj_k_iota_i64 (const AdjKView *dst, int64_t start, int64_t step);

/* dst[…, i, j] = src where j - i <= diagonal (lower) or j - i >= diagonal (upper), else 0.
 * Rank at least 2, same sizes and type. */
void adj_k_tril (const AdjKView *dst, const AdjKView *src, int64_t diagonal);
void adj_k_triu (const AdjKView *dst, const AdjKView *src, int64_t diagonal);

/* --- pointwise.c: a small register machine, run tile by tile ---------------------------------- */

#define ADJ_K_MAX_REGS 64
#define ADJ_K_MAX_INPUTS 64

typedef struct
{
  AdjKOp op;
  uint8_t dst; /* register written; may be one that is read */
  uint8_t a, b, c;
  union
  {
    double f;
    int64_t i;
  } imm;
} AdjKCode;

typedef struct
{
  AdjKClass klass; /* inputs are cast to it when loaded */
  int n_inputs;
  int n_regs;
  int n_code;
  const AdjKCode *code;
  int result; /* register stored at the end, cast to the type of the output */
} AdjKProgram;

/* Whether all numbers are in bounds, each register is written before it is read and each op exists
 * in the class.  adj_k_pointwise() takes such programs only. */
bool adj_k_program_check (const AdjKProgram *program);

/* out[i] = program (inputs[0][i], inputs[1][i], …); all inputs have the sizes of @out (broadcast by
 * strides of 0).  Returns false when an integer was divided by zero (the result there is 0). */
bool adj_k_pointwise (const AdjKProgram *program, const AdjKView *out, const AdjKView *inputs);

/* --- reduce.c: reductions and scans ----------------------------------------------------------- */

typedef enum
{
  ADJ_K_SUM,
  ADJ_K_PROD,
  ADJ_K_MAX, /* NaN wins; needs at least one element, as does min */
  ADJ_K_MIN,
  ADJ_K_MEAN, /* sum / n in the compute class */
  ADJ_K_ANY,
  ADJ_K_ALL,
  ADJ_K_NORM2 /* sqrt (sum x²) */
} AdjKReduce;

/* Reduces the dims of @in whose bit is set in @dims.  @out has the rank of @in with size 1 in those
 * dims (give a view with the dims put back when keepdim is false).  Class of the type of @out (any,
 * all: of @in).  A fixed tree over the row-major order of the reduced dims: pairwise, leaves of
 * 1024. */
void adj_k_reduce (AdjKReduce kind, const AdjKView *out, const AdjKView *in, uint32_t dims);

/* Two passes: mean, then sum (x - mean)² / max (n - correction, 0).  @var and @mean may be NULL. */
void adj_k_var_mean (const AdjKView *var,
                     const AdjKView *mean,
                     const AdjKView *in,
                     uint32_t dims,
                     double correction);

/* The first largest (smallest) element over @dim and its index (i64); NaN wins.  @values may be
 * NULL.  Outputs have size 1 in @dim.  @dim -1 takes the whole of @in in row-major order; then all
 * sizes of the outputs are 1. */
void adj_k_max_dim (const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim);
void adj_k_min_dim (const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim);

/* Running sum and product over @dim, in sequence; f64 inside for floats.  Same sizes. */
void adj_k_cumsum (const AdjKView *out, const AdjKView *in, int dim);
void adj_k_cumprod (const AdjKView *out, const AdjKView *in, int dim);

/* --- matmul.c --------------------------------------------------------------------------------- */

/* C = beta · D + alpha · A B over views of rank 2, [m,n] = [m,k] [k,n], or rank 3 with a batch
 * dim first.  D is NULL or has the sizes of C (broadcast by strides of 0); it is not read when
 * beta is 0.  Class of the type of C; products and sums in a fixed order along k.  In class I64,
 * alpha and beta are cast to integers. */
typedef struct
{
  AdjKView c, a, b;
  const AdjKView *d; /* (nullable) */
  double alpha, beta;
} AdjKGemm;

void adj_k_gemm (const AdjKGemm *gemm);

/* --- softmax.c -------------------------------------------------------------------------------- */

void adj_k_softmax (const AdjKView *out, const AdjKView *in, int dim);
void adj_k_log_softmax (const AdjKView *out, const AdjKView *in, int dim);

/* @y is what the forward function returned.  softmax: g·y - y·Σ(g·y); log_softmax: g - e^y·Σg. */
void adj_k_softmax_backward (const AdjKView *gx, const AdjKView *g, const AdjKView *y, int dim);
void adj_k_log_softmax_backward (const AdjKView *gx, const AdjKView *g, const AdjKView *y, int dim);

/* --- norm.c ----------------------------------------------------------------------------------- */

/* The last @n_dims dims of x are normalised.  mean and rstd have the rank of x with size 1 there;
 * weight, bias and their gradients have rank @n_dims.  Nullable: w, b. */
typedef struct
{
  AdjKView x, y, mean, rstd; /* mean, rstd: outputs */
  const AdjKView *w, *b;
  int n_dims;
  double eps;
} AdjKLayerNorm;

void adj_k_layer_norm (const AdjKLayerNorm *norm);

/* Nullable: w, and each of gx, gw, gb (then it is not computed). */
typedef struct
{
  AdjKView g, x, mean, rstd; /* mean, rstd: as the forward function gave them */
  const AdjKView *w;
  const AdjKView *gx, *gw, *gb;
  int n_dims;
} AdjKLayerNormBackward;

void adj_k_layer_norm_backward (const AdjKLayerNormBackward *norm);

/* --- loss.c ----------------------------------------------------------------------------------- */

/* x is [N, C, …] or [C], target i64 [N, …] or rank 0, weight NULL or [C].  reduction: 0 none, 1
 * mean, 2 sum.  out is as target without reduction, else rank 0; total_weight rank 0. */
typedef struct
{
  AdjKView x, target;
  const AdjKView *weight;
  int reduction;
  int64_t ignore_index;
} AdjKNll;

bool adj_k_nll_loss (const AdjKNll *nll, const AdjKView *out, const AdjKView *total, int64_t *bad);

/* @nll->x gives only sizes here; @g is shaped as the forward output, @gx as x. */
bool adj_k_nll_loss_backward (
    const AdjKNll *nll, const AdjKView *gx, const AdjKView *g, const AdjKView *total, int64_t *bad);

/* --- index.c: index tensors are i64 (or i32) -------------------------------------------------- */

/* out[…, :] = weight[indices[…], :]; out has the sizes of indices, then D. */
bool
adj_k_embedding (const AdjKView *out, const AdjKView *weight, const AdjKView *idx, int64_t *bad);

/* gw[v, :] = Σ g[…, :] where indices[…] == v, in row-major order; rows of padding_idx (-1: none)
 * are 0; by_freq divides by the number of times v occurs.  False with @bad left alone: there is no
 * memory. */
typedef struct
{
  AdjKView gw, g, indices;
  int64_t padding_idx;
  bool by_freq;
} AdjKEmbeddingBackward;

bool adj_k_embedding_backward (const AdjKEmbeddingBackward *e, int64_t *bad);

/* out = x with position i of @dim taken from idx[i]; idx has rank 1 (or 0: size 1). */
bool adj_k_index_select (
    const AdjKView *out, const AdjKView *x, int dim, const AdjKView *idx, int64_t *bad);

/* out[…, i, …] += alpha · src[…, idx…] : out[…, idx[j], …] += alpha · src[…, j, …], j in order. */
bool adj_k_index_add (const AdjKView *out,
                      int dim,
                      const AdjKView *idx,
                      const AdjKView *src,
                      double alpha,
                      int64_t *bad);

/* out[i] = x[i with i[dim] = idx[i]]; out has the sizes of idx. */
bool
adj_k_gather (const AdjKView *out, const AdjKView *x, int dim, const AdjKView *idx, int64_t *bad);

/* out[i with i[dim] = idx[i]] = src[i] (or += src[i]), over the sizes of idx in row-major order;
 * the rest of @out stays, so copy self into it first.  For scatter.value give a src of stride 0. */
bool adj_k_scatter (
    const AdjKView *out, int dim, const AdjKView *idx, const AdjKView *src, int64_t *bad);
bool adj_k_scatter_add (
    const AdjKView *out, int dim, const AdjKView *idx, const AdjKView *src, int64_t *bad);

/* Advanced indexing: idx[d] is NULL (dim d is taken whole) or an index view; all index views have
 * the same sizes B (broadcast by strides of 0).  Negative indices count from the end.
 * @values has the sizes of x[idx]: B in place of the indexed dims when these are adjacent, else B
 * first, then the other dims. */
typedef struct
{
  AdjKView x;      /* read by index, written by index_put */
  AdjKView values; /* written by index, read by index_put */
  const AdjKView *idx[ADJ_K_MAX_RANK];
  bool accumulate; /* index_put: add, in row-major order of values */
} AdjKIndex;

bool adj_k_index (const AdjKIndex *index, int64_t *bad);
bool adj_k_index_put (const AdjKIndex *index, int64_t *bad);
