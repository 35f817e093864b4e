/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "call/adj-op.h"

G_BEGIN_DECLS

/* Known values of fake tensors (call/SPEC.md §4.2): literals of the program of at most one element,
 * and results computed only from those.  A write, through any alias, makes the value unknown. */

/* (transfer none) (nullable): a real tensor with the value of @tensor; itself when it is real. */
AdjTensor *adj_constant_get (AdjTensor *tensor);

/* The one element of @tensor as BOOL, INT or FLOAT.  %FALSE with the context in error, naming the
 * operator @why, if it has not exactly one element or the value is unknown. */
gboolean adj_constant_read (AdjContext *cx, AdjTensor *tensor, const char *why, AdjValue *out);

/* -- where the context lets data decide (adj_context_set_unbacked) -- */

/* Properties of a tensor for which one symbol is made until it is written. */
typedef enum
{
  ADJ_UNBACKED_ITEM,
  ADJ_UNBACKED_NONZERO, /* how many elements are not 0 */
  ADJ_N_UNBACKED,
} AdjUnbacked;

/* The symbol for property @what of @tensor, within these bounds.  %FALSE, without an error: the
 * context allows no unbacked symbols, or @tensor has data. */
gboolean adj_unbacked_get (
    AdjContext *cx, AdjTensor *tensor, AdjUnbacked what, gint64 min, gint64 max, AdjSize *out);

/* adj_constant_read(), but SIZE where the number or truth value is unknown. */
gboolean adj_unbacked_read (AdjContext *cx, AdjTensor *tensor, const char *why, AdjValue *out);

/* Gives the known value of @from to @to, which has the same elements. */
void adj_constant_share (AdjTensor *from, AdjTensor *to);

/* Sets the known values of the fake results of @call. */
void adj_constant_propagate (AdjOpCall *call);

G_END_DECLS
