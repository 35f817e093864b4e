/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/transform-private.h"
#include "call/adj-op.h"

G_BEGIN_DECLS

/* A call with a batched tensor among its arguments. */
typedef struct
{
  AdjOpCall *call;
  Level *level;
  gboolean wrapped; /* its results are already tensors of the level */
  guint dim;        /* batch dimension of the results; a rule may set it */
} Batching;

/* Makes the calls below the level; @out: the results, borrowed from the scope.  %FALSE: the context
 * is in error. */
typedef gboolean (*BatchFunc) (Batching *b, AdjValue *out);

/* (nullable): of an operator of the table. */
BatchFunc batching_find_rule (const AdjOp *op);

/* Calls the operator once for each entry. */
gboolean batching_each (Batching *b, AdjValue *out);

/* Of layer norm and convolutions (batching-norms.c, batching-convolutions.c). */
gboolean batching_normalize (Batching *b, AdjValue *out);
gboolean batching_normalize_backward (Batching *b, AdjValue *out);
gboolean batching_convolve (Batching *b, AdjValue *out);
gboolean batching_convolve_backward (Batching *b, AdjValue *out);

/* For an operator that draws random numbers, by the randomness of the level. */
gboolean batching_draw (Batching *b, AdjValue *out);

/* Of a loss of the elements of two tensors: (self, target, reduction, …). */
gboolean batching_compare (Batching *b, AdjValue *out);

/* Of index_put, index and the like. */
gboolean batching_put_by_index (Batching *b, AdjValue *out);
gboolean batching_take_by_index (Batching *b, AdjValue *out);

/* Of one tensor: the batch dimension stays where it is. */
gboolean batching_as_it_is (Batching *b, AdjValue *out);
/* Of elements that broadcast; of an operator with a pointwise body. */
gboolean batching_elements (Batching *b, AdjValue *out);
gboolean batching_pointwise (Batching *b, AdjValue *out);

/* @tensor, whose first dimension is the batch, with dimensions of size 1 inserted after it, so that
 * it has @rank others; %NULL: the context is in error. */
AdjTensor *batching_pad (AdjContext *cx, AdjTensor *tensor, guint rank);
/* The same by a view, also where none is inserted.  @tensor has at most @rank others. */
AdjTensor *batching_view_padded (AdjContext *cx, AdjTensor *tensor, guint rank);

/* The sizes @value with the batch size before them. */
AdjValue batching_with_size (const Batching *b, const AdjValue *value);

/* Argument @arg with the batch dimension in front, or unchanged if it is not batched; %NULL: it is
 * no tensor, or the context is in error. */
AdjTensor *batching_front (const Batching *b, guint arg);
gboolean batching_is_batched (const Batching *b, guint arg);
/* Rank of argument @arg, a tensor, without the batch dimension. */
guint batching_rank (const Batching *b, guint arg);

G_END_DECLS
