/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* Values that are known although a tensor is fake (graph-ir §10.2): literals of the program of at
 * most one element, and what is computed of them alone.  A write ends that, through any alias. */

/* (transfer none) (nullable): a real tensor with the value of @tensor; itself when it is real. */
AdjTensor *adj_constant_get (AdjTensor *tensor);

/* The one element of @tensor as BOOL, INT or FLOAT.  %FALSE with the context in error, naming the
 * operator @why, when it has another number of them, or the value is not known. */
gboolean adj_constant_read (AdjContext *cx, AdjTensor *tensor, const char *why, AdjValue *out);

/* What is known of @from is known of @to, which stands for the same value. */
void adj_constant_share (AdjTensor *from, AdjTensor *to);

/* After @call gave fake results: what is known of them. */
void adj_constant_propagate (AdjOpCall *call);

G_END_DECLS
