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
} AdjBuiltin;

const AdjBuiltin *adj_builtin_find (const char *target); /* (nullable) */

G_END_DECLS
