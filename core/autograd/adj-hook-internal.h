/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"

G_BEGIN_DECLS

/* Moving hooks from a tensor to the one that replaces it. */

/* Removes and returns the tensor hooks of @node or, if that is %NULL, the tensor and leaf hooks of
 * the leaf @tensor; only hooks that a caller added and did not remove. (transfer full) (nullable)
 */
GPtrArray *adj_autograd_take_hooks (AdjTensor *tensor, AdjGradNode *node);
gboolean adj_grad_node_has_hooks (const AdjGradNode *node); /* on gradients that reach it */
gboolean adj_grad_node_is_of_leaf (const AdjGradNode *node, const AdjTensor *leaf);
/* Adds a hook to @tensor with the function of @hook. */
gboolean adj_tensor_add_hook_like (AdjContext *cx, AdjTensor *tensor, const AdjHook *hook);

G_END_DECLS
