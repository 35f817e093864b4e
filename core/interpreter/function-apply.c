/* SPDX-License-Identifier: MIT */

/* autograd_function_apply (fwd, bwd, *args, …): a torch.autograd.Function whose forward and
 * backward are graphs. */

#include "call/adj-mode.h"
#include "interpreter/adj-interpreter.h"
#include "interpreter/builtins-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"

static gboolean
count_leaf (const AdjValue *leaf, gpointer data)
{
  ++*(guint *) data;
  return TRUE;
}

/* Counts the leaves of the first of the two results of @forward. */
static gboolean
count_outputs (AdjContext *cx, const AdjGraph *forward, guint *n)
{
  const AdjValue *returned =
      &adj_graph_get_node (forward, adj_graph_get_output (forward).index)->args.items[0];

  if ((returned->kind != ADJ_VALUE_TUPLE && returned->kind != ADJ_VALUE_LIST) || returned->n != 2)
    return adj_builtin_fail (cx, "the forward must give its output and what is saved of it");
  *n = 0;
  return adj_value_foreach (&returned->items[0], count_leaf, n);
}

/* Counts the arguments that are inputs of the function; the others are read by its forward only. */
static gboolean
count_inputs (AdjContext *cx, const AdjValue *mask, guint *n)
{
  *n = 0;
  if (!adj_value_is_container (mask))
    return adj_builtin_fail (cx, "args_tensor_mask must be a list");
  for (guint i = 0; i < mask->n; i++)
    *n += mask->items[i].kind == ADJ_VALUE_BOOL && mask->items[i].boolean;
  return TRUE;
}

static gboolean
check_words (AdjContext *cx, const AdjValue *kwargs)
{
  const AdjValue *written = adj_value_find_member (kwargs, "dirty_idx");

  return written == NULL || !adj_value_is_container (written) || written->n == 0 ||
         adj_builtin_fail (cx, "functions that write their inputs (dirty_idx) are not supported");
}

static gboolean
run_forward (AdjContext *cx, const AdjFunctionApply *apply, AdjValue *out)
{
  g_auto (AdjValue) given = ADJ_NONE;

  if (!adj_function_call (apply->forward, cx, apply->args, apply->n_args, &given))
    return FALSE;
  *out = adj_value_copy (&given.items[0]);
  return TRUE;
}

gboolean
adj_builtin_apply_function (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  g_autoptr (AdjFunction) forward = NULL;
  g_autoptr (AdjFunction) backward = NULL;
  g_autofree AdjValue *of_forward = g_new0 (AdjValue, MAX (n_args, 2));
  /* 2.15 has none: all arguments are inputs, and the functions take no context. */
  const AdjValue *mask = adj_value_find_member (kwargs, "args_tensor_mask");
  AdjFunctionApply apply = {
    .args = of_forward,
    .takes_context = mask != NULL,
    .n_inputs = n_args - MIN (n_args, 2),
    .non_differentiable = adj_value_find_member (kwargs, "non_differentiable_idx"),
  };

  if (n_args < 2 || args[0].kind != ADJ_VALUE_GRAPH || args[1].kind != ADJ_VALUE_GRAPH)
    return adj_builtin_fail (cx, "the first two arguments must be graphs");
  if (apply.takes_context)
    of_forward[apply.n_args++] = ADJ_NONE;
  for (guint i = 2; i < n_args; i++)
    of_forward[apply.n_args++] = args[i];
  if (!check_words (cx, kwargs) || !count_outputs (cx, args[0].graph, &apply.n_outputs) ||
      (mask != NULL && !count_inputs (cx, mask, &apply.n_inputs)))
    return FALSE;
  if (apply.n_inputs > n_args - 2)
    return adj_builtin_fail (cx, "args_tensor_mask has %u inputs, but %u arguments are given",
                             apply.n_inputs, n_args - 2);
  apply.forward = forward = adj_graph_function_new ((AdjGraph *) args[0].graph);
  apply.backward = backward = adj_graph_function_new ((AdjGraph *) args[1].graph);
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass->apply != NULL)
      return mode->klass->apply (mode, cx, &apply, out);
  return run_forward (cx, &apply, out);
}
