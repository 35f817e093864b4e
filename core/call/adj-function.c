/* SPDX-License-Identifier: MIT */
/* AdjFunction: a counted C function with data, called with values. */

#include "call/adj-function.h"

AdjFunction *
adj_function_new (const AdjFunctionClass *klass, gsize size)
{
  AdjFunction *function;

  g_return_val_if_fail (klass != NULL && klass->call != NULL, NULL);
  g_return_val_if_fail (size >= sizeof (AdjFunction), NULL);

  function = g_malloc0 (size);
  function->klass = klass;
  g_atomic_ref_count_init (&function->ref_count);

  return function;
}

AdjFunction *
adj_function_ref (AdjFunction *function)
{
  g_return_val_if_fail (function != NULL, NULL);

  g_atomic_ref_count_inc (&function->ref_count);

  return function;
}

void
adj_function_unref (AdjFunction *function)
{
  g_return_if_fail (function != NULL);

  if (!g_atomic_ref_count_dec (&function->ref_count))
    return;
  if (function->klass->finalize != NULL)
    function->klass->finalize (function);
  g_free (function);
}

gboolean
adj_function_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  g_return_val_if_fail (function != NULL && cx != NULL && result != NULL, FALSE);

  *result = ADJ_NONE;
  if (adj_context_has_error (cx))
    return FALSE;

  return function->klass->call (function, cx, args, n_args, result);
}
