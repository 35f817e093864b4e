/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"

G_BEGIN_DECLS

/* What compiled functions do to tensors and their history. */

/* As adj_autograd_connect() does in a backward, of what the operation was made of that it is the
 * backward of, too. */
gboolean adj_autograd_connect_backward (AdjContext *cx,
                                        const AdjCustomGrad *custom,
                                        AdjTensor *const *inputs,
                                        guint n_inputs,
                                        AdjTensor *const *outputs,
                                        guint n_outputs);

/* For those who do t_() or its like again in the place of others: counts it as a write, before
 * which the history of @tensor stays what it was; after it, takes that back. */
void adj_tensor_count_turn (AdjTensor *tensor);
void adj_tensor_uncount_turn (AdjTensor *tensor);

/* From now on writing @tensor in place is an error, as for a view that a custom function made. */
void adj_tensor_forbid_write (AdjContext *cx, AdjTensor *tensor);

/* Whether @node is of an operation that the caller defined. */
gboolean adj_grad_node_is_custom (const AdjGradNode *node);

G_END_DECLS
