/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"

G_BEGIN_DECLS

/* Moving hooks from a tensor to another one that replaces it. */

/* Removes and returns the tensor hooks of @node or, when that is %NULL, of the leaf @tensor with
 * its leaf hooks; only those of a caller that are not removed. (transfer full) (nullable) */
GPtrArray *adj_autograd_take_hooks (AdjTensor *tensor, AdjGradNode *node);
gboolean adj_grad_node_has_hooks (const AdjGradNode *node); /* on gradients that reach it */
gboolean adj_grad_node_is_of_leaf (const AdjGradNode *node, const AdjTensor *leaf);
/* Puts a hook on @tensor that does what @hook does. */
gboolean adj_tensor_add_hook_like (AdjContext *cx, AdjTensor *tensor, const AdjHook *hook);

G_END_DECLS
