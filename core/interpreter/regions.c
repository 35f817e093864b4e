/* SPDX-License-Identifier: MIT */

/* Functions that take graphs as arguments, and what switches the state of a context. */

#include "interpreter/adj-interpreter.h"
#include "interpreter/builtins-private.h"

/* torch.ops.higher_order.wrap (body, *args) and its relatives. */
gboolean
adj_builtin_run_region (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjPlace place = *adj_context_get_place (cx);
  gboolean done;

  if (n_args == 0 || args[0].kind != ADJ_VALUE_GRAPH)
    return adj_builtin_fail (cx, "the first argument must be a graph");
  done = adj_interpret (cx, args[0].graph, args + 1, n_args - 1, NULL, out);
  adj_context_set_place (cx, &place);
  return done;
}

/* tag_activation_checkpoint (body, *args): what a trace makes of the body may be recomputed; run
 * without one, it is the body alone. */
gboolean
adj_builtin_run_tagged (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjRegionTag tag = { adj_context_next_region (cx), ADJ_RECOMPUTE_PREFER_RECOMPUTE };
  const AdjRegionTag before = adj_context_set_region (cx, tag);
  gboolean done = adj_builtin_run_region (cx, args, n_args, kwargs, out);

  adj_context_set_region (cx, before);
  return done;
}

/* wrap_with_set_grad_enabled (enabled, body, *args) */
gboolean
adj_builtin_run_with_grad (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  gboolean before, done;

  if (n_args < 2 || args[0].kind != ADJ_VALUE_BOOL)
    return adj_builtin_fail (cx, "a bool and a graph are needed");
  before = adj_context_set_grad_enabled (cx, args[0].boolean);
  done = adj_builtin_run_region (cx, args + 1, n_args - 1, kwargs, out);
  adj_context_set_grad_enabled (cx, before);
  return done;
}

/* wrap_activation_checkpoint (body, *args): a mode above checkpoints it. */
gboolean
adj_builtin_run_checkpointed (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjPlace place = *adj_context_get_place (cx);
  g_autoptr (AdjFunction) body = NULL;
  gboolean done;

  if (n_args == 0 || args[0].kind != ADJ_VALUE_GRAPH)
    return adj_builtin_fail (cx, "the first argument must be a graph");
  body = adj_graph_function_new ((AdjGraph *) args[0].graph);
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass->checkpoint != NULL)
      {
        done = mode->klass->checkpoint (mode, cx, body, args + 1, n_args - 1, out);
        adj_context_set_place (cx, &place);
        return done;
      }
  return adj_builtin_run_region (cx, args, n_args, kwargs, out);
}

/* torch.ops.higher_order.cond (predicate, true_graph, false_graph, operands): of a predicate that
 * is known. */
gboolean
adj_builtin_run_branch (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjPlace place = *adj_context_get_place (cx);
  gboolean done;

  if (n_args != 4 || args[1].kind != ADJ_VALUE_GRAPH || args[2].kind != ADJ_VALUE_GRAPH ||
      !adj_value_is_container (&args[3]))
    return adj_builtin_fail (cx, "cond takes a predicate, two graphs and a list");
  if (args[0].kind != ADJ_VALUE_BOOL)
    return adj_builtin_fail (cx, "cond of a predicate that depends on data is not known");
  done =
      adj_interpret (cx, args[args[0].boolean ? 1 : 2].graph, args[3].items, args[3].n, NULL, out);
  adj_context_set_place (cx, &place);
  return done;
}

gboolean
adj_builtin_set_grad_enabled (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  if (n_args != 1 || args[0].kind != ADJ_VALUE_BOOL)
    return adj_builtin_fail (cx, "set_grad_enabled takes a bool");
  adj_context_set_grad_enabled (cx, args[0].boolean);
  *out = ADJ_NONE;
  return TRUE;
}

gboolean
adj_builtin_seed (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  if (n_args != 1 || args[0].kind != ADJ_VALUE_INT)
    return adj_builtin_fail (cx, "manual_seed takes an integer");
  adj_generator_seed (adj_context_get_generator (cx), (guint64) args[0].integer);
  *out = ADJ_NONE;
  return TRUE;
}

gboolean
adj_builtin_ignore (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  *out = ADJ_NONE;
  return TRUE;
}

/* torch.amp.autocast_mode._enter_autocast (device, dtype, enabled, cache_enabled). */
gboolean
adj_builtin_enter_autocast (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  *out = ADJ_NONE;
  if (n_args > 2 && args[2].kind == ADJ_VALUE_BOOL && !args[2].boolean)
    return TRUE;
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "autocast regions cannot be run: the dtypes of what follows depend on them");
  return FALSE;
}
