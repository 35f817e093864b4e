/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-mode.h"

G_BEGIN_DECLS

/* Higher-order operators that are called for what they do (call/SPEC.md §10): print, leaf
 * functions. A call goes through the modes as one of an operator does: it is ordered by a token,
 * and a trace keeps it as one node. */

/* One operator. */
typedef struct
{
  const char *target; /* "torch.ops.higher_order.print" */
  const char *help;   /* one line */
  /* Does it.  %FALSE: the context is in error. */
  gboolean (*run) (AdjEffectCall *call);
  /* The result where there are no bytes.  %NULL: None. */
  gboolean (*infer) (AdjEffectCall *call);
  /* Its arguments begin with the function that it calls, and one that gives what looks so: there is
   * a gradient, which is the operator again, of other functions. */
  gboolean calls_function;
  gboolean pure; /* it calls pure methods of objects alone: its place among effects is only kept */
} AdjEffectOp;

struct _AdjEffectCall
{
  AdjContext *cx;
  const AdjEffectOp *op;
  const AdjValue *args; /* (unowned) */
  guint n_args;
  const AdjValue *kwargs; /* (unowned): DICT or NONE */
  AdjTensor *token;       /* (unowned) (nullable): that orders it */
  AdjTensor *new_token;   /* (unowned) (nullable): that it gives */
  AdjValue result;        /* (owned): NONE, or a TUPLE */
};

/**
 * adj_call_effect:
 * @kwargs: (nullable): DICT
 * @result: (out) (transfer full)
 *
 * Returns: %FALSE when the context is, or comes to be, in error
 */
ADJ_PUBLIC gboolean adj_call_effect (AdjContext *cx,
                                     const AdjEffectOp *op,
                                     const AdjValue *args,
                                     guint n_args,
                                     const AdjValue *kwargs,
                                     AdjValue *result);
/* The same, ordered after the call that gave @token (nullable).  @new_token (out): borrowed from
 * the innermost scope. */
ADJ_PUBLIC gboolean adj_call_effect_after (AdjContext *cx,
                                           AdjTensor *token,
                                           const AdjEffectOp *op,
                                           const AdjValue *args,
                                           guint n_args,
                                           const AdjValue *kwargs,
                                           AdjValue *result,
                                           AdjTensor **new_token);

/* -- for modes and operators; %FALSE: the context is in error -- */

/* Passes @call on. */
ADJ_PUBLIC gboolean adj_mode_call_effect_below (AdjMode *mode, AdjEffectCall *call);
/* Does it; or gives the result that there is where there are no bytes.  Operators that are called
 * on the way enter at @entry. */
ADJ_PUBLIC gboolean adj_effect_call_run (AdjEffectCall *call, AdjMode *entry);
ADJ_PUBLIC gboolean adj_effect_call_infer (AdjEffectCall *call, AdjMode *entry);
/* Sets the context's error, which begins with the name of the operator; returns %FALSE. */
ADJ_PUBLIC gboolean adj_effect_call_fail (const AdjEffectCall *call,
                                          AdjError code,
                                          const char *format,
                                          ...) G_GNUC_PRINTF (3, 4);

G_END_DECLS
