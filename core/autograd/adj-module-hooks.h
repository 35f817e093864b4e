/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"
#include "call/adj-function.h"

G_BEGIN_DECLS

/* Backward hooks of a module, a function that is part of a program.  They get the gradients of all
 * its outputs and of all its inputs together (autograd/SPEC.md §5). */
typedef struct _AdjModuleHooks AdjModuleHooks;

/* Runs before the backward of the module. It may replace entries of @grad_outputs; an entry is
 * %NULL if the output is not a tensor or has no gradient. */
typedef void (*AdjModulePreHookFunc) (AdjContext *cx,
                                      AdjTensor **grad_outputs,
                                      guint n_outputs,
                                      gpointer data);
/* Runs after it; may replace entries of @grad_inputs. */
typedef void (*AdjModuleHookFunc) (AdjContext *cx,
                                   AdjTensor **grad_inputs,
                                   guint n_inputs,
                                   AdjTensor *const *grad_outputs,
                                   guint n_outputs,
                                   gpointer data);

ADJ_PUBLIC AdjModuleHooks *adj_module_hooks_new (void); /* (transfer full) */
/* Calls already made keep their hooks. */
ADJ_PUBLIC void adj_module_hooks_free (AdjModuleHooks *hooks);

/* Each returns a handle (transfer full). Adding or removing takes effect with the next call of the
 * module. */
ADJ_PUBLIC AdjHook *adj_module_hooks_add (AdjModuleHooks *hooks,
                                          AdjModuleHookFunc hook,
                                          gpointer data) G_GNUC_WARN_UNUSED_RESULT;
ADJ_PUBLIC AdjHook *adj_module_hooks_add_pre (AdjModuleHooks *hooks,
                                              AdjModulePreHookFunc hook,
                                              gpointer data) G_GNUC_WARN_UNUSED_RESULT;

/**
 * adj_module_hooks_call:
 * @module: the function that the hooks belong to
 * @args: (array length=n_args): its arguments; tensors inside containers are not seen by hooks
 * @result: (out) (transfer full): its result: a tensor, or a TUPLE or LIST with tensors
 *
 * Calls @module between two identities, through which the gradients of its outputs and of its
 * inputs pass.  Where no input requires a gradient the hooks run with those of the outputs, and
 * may not replace any.
 *
 * Returns: %FALSE when the context is in error
 */
ADJ_PUBLIC gboolean adj_module_hooks_call (AdjModuleHooks *hooks,
                                           AdjContext *cx,
                                           AdjFunction *module,
                                           const AdjValue *args,
                                           guint n_args,
                                           AdjValue *result);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjModuleHooks, adj_module_hooks_free)

G_END_DECLS
