/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* What rounding alone does to a run: the float64 run once more, with what every node computes moved
 * by less than the rounding error of its type. */

/* Whether the values of @graph can be moved: nothing but copies into inputs writes. */
gboolean perturbation_applies (const AdjGraph *graph);
/* Moves the floating tensors of @value, which is what node @id computed in float64; @like holds
 * them in the types that the graph has, @truth as they were before anything moved.  An element that
 * may be on either side of zero goes to the other one, for a ReLU asks on which it is.  @out
 * (transfer full). */
gboolean perturbation_move (AdjNodeId id,
                            const AdjValue *value,
                            const AdjValue *like,
                            const AdjValue *truth,
                            AdjValue *out);
/* An argument of a comparison: a tensor as it is in float64 and as it was moved, or a number. */
typedef struct
{
  const AdjTensorData *unmoved, *moved; /* (nullable) */
  double number;
} Compared;

/* (transfer full): @value, the answers of comparing @a and @b when both are moved, negated where
 * rounding may decide; an answer that the move itself changed becomes what it was. */
AdjTensorData *perturbation_flip (const AdjTensorData *value, const Compared *a, const Compared *b);
/* A number of [-1, 1) for each @element. */
double perturbation_draw (guint64 element);
/* (transfer full): @data, which is float64, each element moved by up to @step of it, of @least
 * where it is smaller. */
AdjTensorData *
perturbation_move_tensor (const AdjTensorData *data, double step, double least, guint64 seed);
/* L2 norm of @a - @b; NaN where they cannot be compared. */
double perturbation_distance (const AdjTensorData *a, const AdjTensorData *b);

G_END_DECLS
