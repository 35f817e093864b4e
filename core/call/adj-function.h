/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* An AdjFunction is something that can be called with values: a graph interpreted under a context,
 * a C function, a compiled function.  Counted, immutable. */

typedef struct
{
  const char *name;
  /* @result (out) (transfer full).  %FALSE: the context is in error. */
  gboolean (*call) (
      AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result);
  void (*finalize) (AdjFunction *function); /* (nullable) */
} AdjFunctionClass;

struct _AdjFunction
{
  const AdjFunctionClass *klass;
  gatomicrefcount ref_count;
};

/* (transfer full): an instance of @size bytes, zeroed but for the header; @klass must outlive it.
 */
ADJ_PUBLIC AdjFunction *adj_function_new (const AdjFunctionClass *klass, gsize size);
ADJ_PUBLIC AdjFunction *adj_function_ref (AdjFunction *function); /* (transfer full) */
ADJ_PUBLIC void adj_function_unref (AdjFunction *function);       /* not %NULL */
/* As the method.  @args: borrowed; @result: (out) (transfer full).  %FALSE: @cx is in error. */
ADJ_PUBLIC gboolean adj_function_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjFunction, adj_function_unref)

G_END_DECLS
