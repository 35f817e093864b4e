/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-mode.h"
#include "ir/adj-opaque.h"

G_BEGIN_DECLS

/* trace_wrapped (call/SPEC.md §8): a call of a function that a trace keeps as one call instead
 * of looking into it; the backward hooks of a compiled function are such calls. */

/* A call on its way through the modes. */
struct _AdjWrappedCall
{
  AdjContext *cx;
  AdjOpaque *function;  /* (unowned) */
  const AdjValue *args; /* (unowned): TENSOR, NONE, or LISTs and TUPLEs of them */
  guint n_args;
  const AdjValue *kwargs; /* (unowned): DICT or NONE: further arguments of the function */
  AdjValue result;        /* (owned) */
};

/* The C function behind it: gives a new tensor like its argument, borrowed from the scope; %NULL:
 * the context is in error.  A trace does not see its effects, except on metadata of tensors that it
 * knows. */
typedef AdjTensor *(*AdjWrappedFunc) (AdjContext *cx, AdjTensor *grad, gpointer data);

/* (transfer full): @func as an object; @destroy: (nullable): of @data. */
ADJ_PUBLIC AdjOpaque *adj_wrapped_function_new (const char *name,
                                                AdjWrappedFunc func,
                                                gpointer data,
                                                GDestroyNotify destroy);

/**
 * adj_trace_wrapped:
 * @kwargs: (nullable)
 * @result: (out) (transfer full)
 *
 * Calls @function with grad mode off.  A trace does not call it, but records a node "trace_wrapped"
 * whose result has the metadata of the first argument, or of the second if that is None.  When it
 * is called, its result must have the same size, stride and dtype, and the metadata of its
 * arguments must not change.
 *
 * Returns: %FALSE when the context is in error
 */
ADJ_PUBLIC gboolean adj_trace_wrapped (AdjContext *cx,
                                       AdjOpaque *function,
                                       const AdjValue *args,
                                       guint n_args,
                                       const AdjValue *kwargs,
                                       AdjValue *result);

/* The same without changing grad mode: if a tensor requires a gradient, so does the result, but
 * computing it is an error. */
ADJ_PUBLIC gboolean adj_call_wrapped (AdjContext *cx,
                                      AdjOpaque *function,
                                      const AdjValue *args,
                                      guint n_args,
                                      const AdjValue *kwargs,
                                      AdjValue *result);

/* -- for modes; %FALSE: the context is in error -- */

/* Passes @call on. */
ADJ_PUBLIC gboolean adj_mode_call_wrapped_below (AdjMode *mode, AdjWrappedCall *call);
/* (nullable): the argument whose metadata the result has. */
ADJ_PUBLIC const AdjValue *adj_wrapped_call_get_grad (const AdjWrappedCall *call);
/* Calls the function and checks its result and that its arguments are unchanged. */
ADJ_PUBLIC gboolean adj_wrapped_call_run (AdjWrappedCall *call);

G_END_DECLS
