/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* A Python callable that graphs mention beside the operators: getitem and arithmetic on sizes. */
typedef struct
{
  const char *target; /* "operator.getitem" */
  /* @out (transfer full).  %FALSE: the context is in error. */
  gboolean (*call) (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out);
  /* Instead of @call: @args (TUPLE) and @kwargs (DICT or NONE), for those that call operators. */
  gboolean (*call_with) (AdjContext *cx,
                         const AdjValue *args,
                         const AdjValue *kwargs,
                         AdjValue *out);
} AdjBuiltin;

/* rng-builtins.c */
gboolean adj_builtin_run_and_save_rng_state (AdjContext *cx,
                                             const AdjValue *args,
                                             const AdjValue *kwargs,
                                             AdjValue *out);
gboolean adj_builtin_run_with_rng_state (AdjContext *cx,
                                         const AdjValue *args,
                                         const AdjValue *kwargs,
                                         AdjValue *out);

const AdjBuiltin *adj_builtin_find (const char *target); /* (nullable) */

G_END_DECLS
