/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"

G_BEGIN_DECLS

/* Hooks that move: for who lets another tensor stand in for one that has hooks. */

/* Takes the tensor hooks off @node, or off the leaf @tensor when that is %NULL, with a leaf's own:
 * those alone that a caller put there and did not remove.  (transfer full) (nullable) */
GPtrArray *adj_autograd_take_hooks (AdjTensor *tensor, AdjGradNode *node);
gboolean adj_grad_node_has_hooks (const AdjGradNode *node); /* on gradients that reach it */
gboolean adj_grad_node_is_of_leaf (const AdjGradNode *node, const AdjTensor *leaf);
/* Puts a hook on @tensor that does what @hook does. */
gboolean adj_tensor_add_hook_like (AdjContext *cx, AdjTensor *tensor, const AdjHook *hook);

G_END_DECLS
