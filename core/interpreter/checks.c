/* SPDX-License-Identifier: MIT */
/* torch._check and torch._check_is_size: conditions that hold from there on. */

#include "interpreter/builtins-private.h"
#include "tensor/adj-symbols-internal.h"

/* torch._check (condition, message): records that the condition holds. */
gboolean
adj_builtin_check (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  gboolean holds = TRUE;

  *out = ADJ_NONE;
  if (n_args < 1)
    return adj_builtin_fail (cx, "torch._check takes a condition");
  if (args[0].kind == ADJ_VALUE_SIZE)
    holds = adj_symbols_assume (adj_context_get_symbols (cx), args[0].size);
  else if (args[0].kind == ADJ_VALUE_BOOL)
    holds = args[0].boolean;
  return holds || adj_builtin_fail (cx, "torch._check: the condition does not hold");
}

gboolean
adj_builtin_check_is_size (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjSize size;

  *out = ADJ_NONE;
  if (n_args < 1 || !adj_value_get_size (&args[0], &size))
    return adj_builtin_fail (cx, "torch._check_is_size takes an integer");
  return adj_symbols_restrict (adj_context_get_symbols (cx), size, 0, G_MAXINT64) ||
         adj_builtin_fail (cx, "torch._check_is_size: the integer is negative");
}
