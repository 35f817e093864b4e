/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context-internal.h"
#include "call/adj-function.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

G_BEGIN_DECLS

/* Shared by forward and backward of flex_attention.  Returned tensors belong to the innermost
 * scope; %NULL or %FALSE: the context is in error. */

#define N_INDICES 4
#define TRANSPOSED(t)                                                                              \
  ADJ_APPLY (cx, ADJ_OP_transpose_int, ADJ_TENSOR (t), ADJ_INT (-2), ADJ_INT (-1))

typedef struct
{
  AdjContext *cx;
  AdjTensor *query, *key, *value; /* key and value repeated to the batches and heads of query */
  AdjDType dtype, wide;           /* of query; of scores */
  AdjFunction *score, *mask;      /* (owned) */
  AdjValue scale;
  AdjValue score_buffers, mask_buffers; /* (unowned): TUPLE or LIST */
  gint64 copies;                        /* query heads per head of key and value */
  gboolean one_batch;                   /* key and value have one batch for all of query */
  AdjValue indices[N_INDICES];          /* of batch, head, row, column */
  AdjTensor *scores, *changed;          /* before and after score and mask graph */
  AdjTensor *seen;                      /* bool: elements that are not masked */
} Flex;

void flex_clear (Flex *flex);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Flex, flex_clear)

/* Sets the context's error; returns %FALSE. */
gboolean flex_fail (AdjContext *cx, const char *what);
const AdjShape *flex_shape_of (const AdjTensor *tensor);
gboolean flex_are_tensors (const AdjValue *args, guint n);
/* Takes query, key and value from @args. */
gboolean flex_take_tensors (Flex *flex, const AdjValue *args);
/* Takes block_mask, scale, options, and the buffers of both graphs, if any, from @args. */
gboolean flex_take_rest (Flex *flex, const AdjValue *args, guint n);

/* Computes all members below the indices in @flex; repeats key and value to match query. */
gboolean flex_make_scores (Flex *flex);
/* Calls @function with @first (nullable), the indices, @second (nullable) and @buffers. @out
 * (transfer full). */
gboolean flex_call_graph (const Flex *flex,
                          AdjFunction *function,
                          AdjTensor *first,
                          AdjTensor *second,
                          const AdjValue *buffers,
                          AdjValue *out);

AdjTensor *flex_convert (AdjContext *cx, AdjTensor *tensor, AdjDType dtype);
AdjTensor *flex_multiply (AdjContext *cx, AdjTensor *left, AdjTensor *right);
AdjTensor *flex_divide_by_ln2 (AdjContext *cx, AdjTensor *tensor);
/* @tensor copied so that its dimensions are in the memory order of @like. */
AdjTensor *flex_arrange_like (AdjContext *cx, AdjTensor *tensor, const AdjTensor *like);
/* @results as a tuple (transfer full). */
gboolean flex_give (AdjTensor *const *results, guint n, AdjValue *out);

G_END_DECLS
