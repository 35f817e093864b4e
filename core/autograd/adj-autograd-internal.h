/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"

G_BEGIN_DECLS

/* Operations of compiled functions on tensors and their history. */

/* As adj_autograd_connect(), with further edges, when called in a backward, to the inputs of the
 * forward operation that this is the backward of. */
gboolean adj_autograd_connect_backward (AdjContext *cx,
                                        const AdjCustomGrad *custom,
                                        AdjTensor *const *inputs,
                                        guint n_inputs,
                                        AdjTensor *const *outputs,
                                        guint n_outputs);

/* For code that redoes t_() and the like on the caller's tensor: bumps the version as such a write
 * does, keeping the history of @tensor valid; the second function undoes that. */
void adj_tensor_count_turn (AdjTensor *tensor);
void adj_tensor_uncount_turn (AdjTensor *tensor);

/* Makes any later in-place write to @tensor an error, as for a view that a custom function made. */
void adj_tensor_forbid_write (AdjContext *cx, AdjTensor *tensor);

/* Whether the operation of @node is defined by the caller. */
gboolean adj_grad_node_is_custom (const AdjGradNode *node);

G_END_DECLS
