/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* Eager automatic differentiation: a mode that records what operators do to tensors that require a
 * gradient, and the engine that walks the record backwards.  Semantics are PyTorch's
 * but for autograd/SPEC.md §10.  All state is in the mode, the tensors and the nodes. */

/* One recorded operation: it turns the gradients of its results into those of its arguments. */
typedef struct _AdjGradNode AdjGradNode;

/* (transfer full): a context with CPU kernels, dense and composite tensors, and recording of
 * gradients: the usual start of a program. */
ADJ_PUBLIC AdjContext *adj_context_new_with_autograd (void);
/* (transfer full): the mode that records while the context's grad mode is on; push it above the
 * mode that computes. */
ADJ_PUBLIC AdjMode *adj_autograd_mode_new (void);

typedef enum
{
  /* Ready nodes of equal sequence number run in the order of PyTorch's binary heap; else in the
   * order in which they became ready. */
  ADJ_AUTOGRAD_TORCH_TIES = 1 << 0,
  /* A saved result is detached twice when packed and twice when unpacked, as in the joint graphs of
   * PyTorch 2.6. */
  ADJ_AUTOGRAD_TWO_DETACHES = 1 << 1,
  /* Errors of a backward include the place of the forward call; a gradient with NaN is an error. */
  ADJ_AUTOGRAD_ANOMALY = 1 << 2,
  /* With ANOMALY: NaN is no error. */
  ADJ_AUTOGRAD_NO_NAN_CHECK = 1 << 3,
  /* A saved result is detached when unpacked even if the backward is not recorded. */
  ADJ_AUTOGRAD_DETACH_ON_UNPACK = 1 << 4,
  /* A hook on a traced tensor is not called, but recorded as a call in the graph. */
  ADJ_AUTOGRAD_DEFER_HOOKS = 1 << 5,
  /* After a write through a view the gradient of the base is copied, its written part is cloned and
   * overwritten in place, as in the joint graphs of PyTorch; else the result is a new value. */
  ADJ_AUTOGRAD_COPY_WRITTEN = 1 << 6,
  /* With COPY_WRITTEN: the part is taken by as_strided, whatever the view was, as PyTorch's engine
   * does. */
  ADJ_AUTOGRAD_STRIDED_WRITTEN = 1 << 7,
} AdjAutogradFlags;

/* Returns the previous flags; 0 when the context has no autograd mode. */
ADJ_PUBLIC AdjAutogradFlags adj_autograd_set_flags (AdjContext *cx, AdjAutogradFlags flags);

/* -- what is saved for backward -- */

typedef struct
{
  /* Returns the packed form of @tensor (transfer full). Runs with grad mode off; must not write to
   * @tensor. */
  gpointer (*pack) (AdjContext *cx, AdjTensor *tensor, gpointer data);
  /* Returns the tensor that was packed, or one like it, borrowed; called at every backward.
   * %NULL: the context is in error. */
  AdjTensor *(*unpack) (AdjContext *cx, gpointer packed, gpointer data);
  GDestroyNotify free_packed; /* (nullable) */
  gpointer data;
  GDestroyNotify destroy; /* (nullable): frees @data when the last packed value is gone */
} AdjSavedHooks;

/* Until the pop, tensors are saved through @hooks only; %NULL: without hooks. */
ADJ_PUBLIC gboolean adj_autograd_push_saved_hooks (AdjContext *cx, const AdjSavedHooks *hooks);
ADJ_PUBLIC void adj_autograd_pop_saved_hooks (AdjContext *cx);

/* -- tensors -- */

/* Makes a leaf require a gradient, or not.  %FALSE: the context is in error (not a floating dtype,
 * or the result of a recorded operation). */
ADJ_PUBLIC gboolean adj_tensor_set_requires_grad (AdjContext *cx,
                                                  AdjTensor *tensor,
                                                  gboolean requires_grad);
/* (transfer none) (nullable): the accumulated gradient. */
ADJ_PUBLIC AdjTensor *adj_tensor_get_grad (const AdjTensor *tensor);
/* Replaces it; @grad (nullable) is kept.  Fails when size or dtype differ. */
ADJ_PUBLIC gboolean adj_tensor_set_grad (AdjContext *cx, AdjTensor *tensor, AdjTensor *grad);
/* Backward also leaves a gradient in this result of an operation. */
ADJ_PUBLIC gboolean adj_tensor_retain_grad (AdjContext *cx, AdjTensor *tensor);
/* (transfer none) (nullable): the tensor that @tensor is a view of; not itself a view. */
ADJ_PUBLIC AdjTensor *adj_tensor_get_base (const AdjTensor *tensor);
/* (transfer none) (nullable): the node that made @tensor; %NULL for a leaf. For a view whose base
 * was written since: the node before that. */
ADJ_PUBLIC AdjGradNode *adj_tensor_get_grad_node (const AdjTensor *tensor);
/* (transfer full) (nullable): the node that receives gradients of @tensor; for a leaf its
 * accumulator, which is freed with its last reference. */
ADJ_PUBLIC AdjGradNode *adj_tensor_get_grad_edge (AdjContext *cx, AdjTensor *tensor, guint *input);

/* -- nodes -- */

ADJ_PUBLIC AdjGradNode *adj_grad_node_ref (AdjGradNode *node);           /* (transfer full) */
ADJ_PUBLIC void adj_grad_node_unref (AdjGradNode *node);                 /* @node: (nullable) */
ADJ_PUBLIC const char *adj_grad_node_get_name (const AdjGradNode *node); /* "AddmmBackward" */
/* One edge for each argument: the destination of its gradient. */
ADJ_PUBLIC guint adj_grad_node_get_n_edges (const AdjGradNode *node);
/* (transfer none) (nullable): the node at the edge, and (@input, out) the index of the gradient
 * among that node's inputs; %NULL: the argument has no gradient. */
ADJ_PUBLIC AdjGradNode *adj_grad_node_get_edge (const AdjGradNode *node, guint edge, guint *input);

/* Number of tensors it saves for its backward, in the order of its arguments, then of its results;
 * 0 after they were released. */
ADJ_PUBLIC guint adj_grad_node_get_n_saved (const AdjGradNode *node);
/* Applies @hooks to saved tensor @index, which is packed immediately. Allowed once for each.
 * %FALSE: the context is in error. */
ADJ_PUBLIC gboolean adj_grad_node_set_saved_hooks (AdjContext *cx,
                                                   AdjGradNode *node,
                                                   guint index,
                                                   const AdjSavedHooks *hooks);

/**
 * AdjBackwardFunc:
 * @grads: (array length=n_grads): gradients of the outputs, %NULL where undefined
 * @grad_inputs: (array length=n_inputs) (out): borrowed from the innermost scope; %NULL: undefined
 *
 * The backward of an operation that the caller defines.  %FALSE: the context is in error.
 */
typedef gboolean (*AdjBackwardFunc) (AdjContext *cx,
                                     AdjTensor *const *grads,
                                     guint n_grads,
                                     AdjTensor **grad_inputs,
                                     guint n_inputs,
                                     gpointer data);

typedef struct
{
  const char *name;
  AdjBackwardFunc backward;
  gpointer data;
  GDestroyNotify destroy; /* (nullable) */
} AdjCustomGrad;

/* Makes fresh @outputs, computed with grad mode off, the results of one operation on @inputs. If no
 * input requires a gradient it only frees the data of @custom. */
ADJ_PUBLIC gboolean adj_autograd_connect (AdjContext *cx,
                                          const AdjCustomGrad *custom,
                                          AdjTensor *const *inputs,
                                          guint n_inputs,
                                          AdjTensor *const *outputs,
                                          guint n_outputs);

/* -- hooks, in the order in which they run around one node -- */

typedef struct _AdjHook AdjHook;

ADJ_PUBLIC AdjHook *adj_hook_ref (AdjHook *hook); /* (transfer full) */
/* Releases the handle. The hook stays until it is removed or its tensor or node is freed. */
ADJ_PUBLIC void adj_hook_unref (AdjHook *hook);
/* The hook does not run any more, from the next time its list is run; may be called again, even
 * after the tensor is freed. */
ADJ_PUBLIC void adj_hook_remove (AdjHook *hook);

/* The name of the hook in errors. */
ADJ_PUBLIC void adj_hook_set_name (AdjHook *hook, const char *name);

/* 1. Gets the gradient of a tensor (%NULL: undefined); returns %NULL to keep it, or a replacement
 * of the same size, dtype and device, borrowed. */
typedef AdjTensor *(*AdjTensorHookFunc) (AdjContext *cx, AdjTensor *grad, gpointer data);
/* 2. Before (@results %NULL) or 3. after a node is applied.  It may replace entries of @grads: the
 * gradients of the node's results before, those of its arguments after. */
typedef void (*AdjNodeHookFunc) (AdjContext *cx,
                                 AdjTensor **grads,
                                 guint n_grads,
                                 AdjTensor *const *results,
                                 guint n_results,
                                 gpointer data);
/* Between: after the gradient of a leaf was accumulated. */
typedef void (*AdjLeafHookFunc) (AdjContext *cx, AdjTensor *leaf, gpointer data);

/* Each returns a handle (transfer full) (nullable): %NULL with the context in error.  Releasing it
 * with adj_hook_unref() leaves the hook in place. */
ADJ_PUBLIC AdjHook *adj_tensor_add_hook (AdjContext *cx,
                                         AdjTensor *tensor,
                                         AdjTensorHookFunc hook,
                                         gpointer data) G_GNUC_WARN_UNUSED_RESULT;
ADJ_PUBLIC AdjHook *adj_tensor_add_leaf_hook (AdjContext *cx,
                                              AdjTensor *leaf,
                                              AdjLeafHookFunc hook,
                                              gpointer data) G_GNUC_WARN_UNUSED_RESULT;
ADJ_PUBLIC AdjHook *adj_grad_node_add_pre_hook (AdjGradNode *node,
                                                AdjNodeHookFunc hook,
                                                gpointer data) G_GNUC_WARN_UNUSED_RESULT;
ADJ_PUBLIC AdjHook *adj_grad_node_add_post_hook (AdjGradNode *node,
                                                 AdjNodeHookFunc hook,
                                                 gpointer data) G_GNUC_WARN_UNUSED_RESULT;

/* Gets the gradients of several tensors, %NULL where there is none. */
typedef void (*AdjMultiHookFunc) (AdjContext *cx,
                                  AdjTensor *const *grads,
                                  guint n_grads,
                                  gpointer data);
/* (transfer full) (nullable): called once in each backward: when the gradients of all tensors that
 * it reaches have arrived or, with @first_only, with the first of them. */
ADJ_PUBLIC AdjHook *adj_autograd_add_multi_hook (AdjContext *cx,
                                                 AdjTensor *const *tensors,
                                                 guint n,
                                                 gboolean first_only,
                                                 AdjMultiHookFunc hook,
                                                 gpointer data) G_GNUC_WARN_UNUSED_RESULT;

/* -- backward -- */

typedef enum
{
  ADJ_BACKWARD_RETAIN_GRAPH = 1 << 0,
  ADJ_BACKWARD_CREATE_GRAPH = 1 << 1, /* records the backward too; retains the graph */
  ADJ_BACKWARD_ALLOW_UNUSED = 1 << 2, /* adj_grad(): unreachable inputs give %NULL */
  ADJ_BACKWARD_OF_PROGRAM = 1 << 3,   /* a backward that the program runs in its forward */
} AdjBackwardFlags;

/* The roots to differentiate and their gradients. */
typedef struct
{
  AdjTensor *const *tensors;
  AdjTensor *const *grads; /* (nullable): entries too, for real tensors of one element: 1 */
  guint n;
} AdjGradRoots;

/**
 * adj_backward:
 * @inputs: (nullable) (array length=n_inputs): accumulate into these only
 *
 * Walks back from @roots: runs hooks, and accumulates gradients into the leaves.  Saved tensors are
 * released unless @flags say otherwise.
 *
 * Returns: %FALSE when the context is in error; what was accumulated until then stays
 */
ADJ_PUBLIC gboolean adj_backward (AdjContext *cx,
                                  const AdjGradRoots *roots,
                                  AdjTensor *const *inputs,
                                  guint n_inputs,
                                  AdjBackwardFlags flags);

/* As adj_backward() from @tensor alone, a loss: real, and of one element. */
ADJ_PUBLIC gboolean adj_tensor_backward (AdjContext *cx, AdjTensor *tensor);

/**
 * adj_grad:
 * @grads: (array length=n_inputs) (out): borrowed from the innermost scope; %NULL: undefined
 *
 * Computes the gradients of @inputs without accumulating into leaves.
 *
 * Returns: %FALSE when the context is in error: also for an input that @roots do not depend on,
 *   unless @flags allow it
 */
ADJ_PUBLIC gboolean adj_grad (AdjContext *cx,
                              const AdjGradRoots *roots,
                              AdjTensor *const *inputs,
                              guint n_inputs,
                              AdjBackwardFlags flags,
                              AdjTensor **grads);

/* During backward: @callback runs once when all nodes are done, in order. */
typedef void (*AdjBackwardDoneFunc) (AdjContext *cx, gpointer data);
ADJ_PUBLIC gboolean adj_autograd_queue_callback (AdjContext *cx,
                                                 AdjBackwardDoneFunc callback,
                                                 gpointer data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjGradNode, adj_grad_node_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjHook, adj_hook_unref)

G_END_DECLS
