/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* Composite tensors: for a program one tensor with sizes, a dtype and a gradient; inside, several
 * inner tensors and a constant.  A class defines operators on the inner tensors, which may be
 * composite themselves.  A trace has only the innermost tensors. */

typedef struct _AdjCompositeCall AdjCompositeCall;

typedef struct
{
  const char *name;               /* "TwoTensor" */
  guint n_inner;                  /* at most ADJ_MAX_INNER */
  const char *const *inner_names; /* in the order in which they are inputs of a graph */

  /* Computes an operator with a tensor of the class among its arguments; calls go to the modes
   * below. @result (out): borrowed from the scope, as by adj_call(); for a written argument, that
   * argument. %FALSE: the context is in error. */
  gboolean (*call) (AdjCompositeCall *call, AdjValue *result);

  /* (nullable) Converts a gradient: while tracing to a form of its choice, at run time to the form
   * with the traced constant. Borrowed; %NULL: the context is in error. */
  AdjTensor *(*coerce_tangent) (AdjContext *cx, AdjTensor *tangent);
  AdjTensor *(*coerce_like) (AdjContext *cx, AdjTensor *tangent, const AdjValue *constant);
} AdjCompositeClass;

#define ADJ_MAX_INNER 8

/**
 * adj_composite_new:
 * @inner: (array length=n_inner)
 * @constant: (nullable): plain data that belongs to the value
 * @outer: (nullable): its metadata; %NULL: that of the first inner tensor
 *
 * Returns: (transfer none): in the innermost scope
 */
ADJ_PUBLIC AdjTensor *adj_composite_new (AdjContext *cx,
                                         const AdjCompositeClass *klass,
                                         AdjTensor *const *inner,
                                         const AdjValue *constant,
                                         const AdjTensorMeta *outer);

/* (transfer none) (nullable): of a composite tensor; %NULL for any other. */
ADJ_PUBLIC const AdjCompositeClass *adj_composite_get_class (const AdjTensor *tensor);
ADJ_PUBLIC AdjTensor *adj_composite_get_inner (const AdjTensor *tensor, guint index);
ADJ_PUBLIC const AdjValue *adj_composite_get_constant (const AdjTensor *tensor);

/* (transfer full): the mode; push it below the one that records gradients and above the one that
 * functionalizes. */
ADJ_PUBLIC AdjMode *adj_composite_mode_new (void);

/* -- for classes -- */

ADJ_PUBLIC AdjContext *
adj_composite_call_get_context (const AdjCompositeCall *call); /* (transfer none) */
/* The operator of @call. */
ADJ_PUBLIC const AdjOp *adj_composite_call_get_op (const AdjCompositeCall *call);
/* In schema order, none left out. */
ADJ_PUBLIC const AdjValue *adj_composite_call_get_args (const AdjCompositeCall *call);
ADJ_PUBLIC guint adj_composite_call_get_n_args (const AdjCompositeCall *call);
/* Calls the operator with inner tensor @index in place of each tensor of the class. */
ADJ_PUBLIC gboolean adj_composite_call_part (const AdjCompositeCall *call,
                                             guint index,
                                             AdjValue *result);
/* Combines results, one for each inner tensor: tensors become composite ones of the class with the
 * constant of the first argument, or are the argument that was written.  Views stay views. */
ADJ_PUBLIC gboolean adj_composite_call_join (const AdjCompositeCall *call,
                                             const AdjValue *parts,
                                             AdjValue *result);
/* Both of these, for all inner tensors. */
ADJ_PUBLIC gboolean adj_composite_call_each (AdjCompositeCall *call, AdjValue *result);

G_END_DECLS
