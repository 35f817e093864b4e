/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"

G_BEGIN_DECLS

/* Operations that the caller defines: a forward, which runs with grad mode off, and its backward.
 * One AdjCustomCall passes from the one to the other. */

typedef struct _AdjCustomCall AdjCustomCall;

typedef struct
{
  const char *name; /* "MySin": its node is MySinBackward */
  /* @inputs: entries are %NULL for inputs that are not tensors.  @outputs: (out): borrowed from the
   * scope.  %FALSE: the context is in error. */
  gboolean (*forward) (AdjCustomCall *call,
                       AdjTensor *const *inputs,
                       guint n_inputs,
                       AdjTensor **outputs,
                       guint n_outputs);
  /* @grads: of the outputs; zeros where undefined, unless asked otherwise.  @grad_inputs: (out):
   * borrowed from the scope; %NULL: undefined. */
  gboolean (*backward) (AdjCustomCall *call,
                        AdjTensor *const *grads,
                        guint n_grads,
                        AdjTensor **grad_inputs,
                        guint n_inputs);
  gboolean once_differentiable; /* the backward is not recorded: a second one is an error */
} AdjCustomClass;

/**
 * adj_custom_apply:
 * @data: for both functions; @destroy (nullable) frees it with the node
 * @outputs: (array length=n_outputs) (out): borrowed from the scope
 *
 * Calls @klass's forward and, where grad mode is on and an input requires a gradient, connects the
 * outputs to the inputs.  An input that is returned as it is becomes a view of itself.
 *
 * Returns: %FALSE when the context is in error
 */
ADJ_PUBLIC gboolean adj_custom_apply (AdjContext *cx,
                                      const AdjCustomClass *klass,
                                      gpointer data,
                                      GDestroyNotify destroy,
                                      AdjTensor *const *inputs,
                                      guint n_inputs,
                                      AdjTensor **outputs,
                                      guint n_outputs);

ADJ_PUBLIC AdjContext *adj_custom_call_get_context (AdjCustomCall *call); /* (transfer none) */
ADJ_PUBLIC gpointer adj_custom_call_get_data (AdjCustomCall *call);       /* (transfer none) */
/* Whether the gradient of that input is needed. */
ADJ_PUBLIC gboolean adj_custom_call_needs_input_grad (const AdjCustomCall *call, guint input);

/* -- in the forward -- */

/* Saves inputs, outputs or %NULL for the backward; replaces what an earlier call saved. */
ADJ_PUBLIC void adj_custom_call_save (AdjCustomCall *call, AdjTensor *const *tensors, guint n);
/* @tensor, an input, was written in place and must be among the outputs. */
ADJ_PUBLIC void adj_custom_call_mark_dirty (AdjCustomCall *call, AdjTensor *tensor);
/* @tensor, an output, has no gradient. */
ADJ_PUBLIC void adj_custom_call_mark_non_differentiable (AdjCustomCall *call, AdjTensor *tensor);
/* %FALSE: undefined gradients stay %NULL. */
ADJ_PUBLIC void adj_custom_call_set_materialize_grads (AdjCustomCall *call, gboolean materialize);

/* -- in the backward -- */

/* (transfer none) (nullable): in the innermost scope.  %NULL if none was saved, or with the context
 * in error: it was modified since, or released. */
ADJ_PUBLIC AdjTensor *adj_custom_call_get_saved (AdjCustomCall *call, guint index);

G_END_DECLS
