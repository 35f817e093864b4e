/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "call/adj-op.h"

G_BEGIN_DECLS

/* Values that are known although a tensor is fake (call/SPEC.md §4.2): literals of the program of
 * at most one element, and what is computed of them alone.  A write ends that, through any alias.
 */

/* (transfer none) (nullable): a real tensor with the value of @tensor; itself when it is real. */
AdjTensor *adj_constant_get (AdjTensor *tensor);

/* The one element of @tensor as BOOL, INT or FLOAT.  %FALSE with the context in error, naming the
 * operator @why, when it has another number of them, or the value is not known. */
gboolean adj_constant_read (AdjContext *cx, AdjTensor *tensor, const char *why, AdjValue *out);

/* -- where the context lets data decide (adj_context_set_unbacked) -- */

/* Properties of a tensor that have one symbol until it is written. */
typedef enum
{
  ADJ_UNBACKED_ITEM,
  ADJ_UNBACKED_NONZERO, /* how many elements are not 0 */
  ADJ_N_UNBACKED,
} AdjUnbacked;

/* The symbol for that of @tensor, within these bounds.  %FALSE, without an error: the context does
 * not let data decide, or @tensor has data. */
gboolean adj_unbacked_get (
    AdjContext *cx, AdjTensor *tensor, AdjUnbacked what, gint64 min, gint64 max, AdjSize *out);

/* adj_constant_read(), or SIZE where the number or the truth value is not known. */
gboolean adj_unbacked_read (AdjContext *cx, AdjTensor *tensor, const char *why, AdjValue *out);

/* Makes the known value of @from known of @to, too, which has the same elements. */
void adj_constant_share (AdjTensor *from, AdjTensor *to);

/* Sets the known values of the fake results of @call. */
void adj_constant_propagate (AdjOpCall *call);

G_END_DECLS
