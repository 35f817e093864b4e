/* SPDX-License-Identifier: MIT */

/* The mode that records: a call is made by the modes below, then it becomes a node. */

#include <string.h>

#include "ir/adj-value-internal.h"
#include "trace/tracer-private.h"

typedef struct
{
  AdjMode parent;
  AdjTracer *tracer; /* (unowned) */
} ProxyMode;

static AdjValue
get_result (const AdjOpResult *result)
{
  return result->is_none || result->tensor == NULL ? result->plain : ADJ_TENSOR (result->tensor);
}

/* with_effects (token, op, …) -> (token, results…): a list stays one result, none is None. */
static gboolean
add_ordered_call (AdjTracer *tracer,
                  const AdjOpCall *call,
                  const AdjValue *args,
                  const AdjValue *kwargs,
                  const AdjValue *result)
{
  gboolean spread = result->kind == ADJ_VALUE_TUPLE && !call->returns_list;
  guint n = spread ? result->n : 1;
  g_autofree AdjValue *ordered = g_new0 (AdjValue, args->n + 2);
  g_autofree AdjValue *results = g_new0 (AdjValue, n + 1);
  AdjValue all;

  if (!adj_tracer_take (tracer, &ADJ_TENSOR (call->token), &ordered[0]))
    return FALSE;
  ordered[1] = (AdjValue){ .kind = ADJ_VALUE_OP,
                           .n = strlen (call->schema->target),
                           .text = call->schema->target };
  memcpy (ordered + 2, args->items, args->n * sizeof *ordered);
  results[0] = ADJ_TENSOR (call->new_token);
  memcpy (results + 1, spread ? result->items : result, n * sizeof *results);
  all = ADJ_ITEMS (TUPLE, ordered, args->n + 2);
  all = adj_value_copy_to_arena (&all, tracer->arena);
  adj_tracer_add_call (tracer, "torch.ops.higher_order.with_effects", &all, kwargs,
                       &ADJ_ITEMS (TUPLE, results, n + 1));
  return TRUE;
}

static gboolean
proxy_call (AdjMode *mode, AdjOpCall *call)
{
  AdjTracer *tracer = ((ProxyMode *) mode)->tracer;
  AdjValue args, kwargs, single;
  AdjValue result = ADJ_NONE;
  g_autofree AdjValue *several = NULL;

  if (!adj_tracer_take_arguments (tracer, call, &args, &kwargs) ||
      !adj_mode_call_below (mode, call))
    return FALSE;

  if (call->returns_list || call->schema->n_returns > 1)
    {
      several = g_new (AdjValue, call->n_results);
      for (guint i = 0; i < call->n_results; i++)
        several[i] = get_result (&call->results[i]);
      result = ADJ_ITEMS (TUPLE, several, call->n_results);
    }
  else if (call->n_results == 1)
    result = single = get_result (&call->results[0]);
  if (call->token != NULL)
    return add_ordered_call (tracer, call, &args, &kwargs, &result);
  adj_tracer_add_call (tracer, call->schema->target, &args, &kwargs, &result);
  return TRUE;
}

static void
proxy_builtin (
    AdjMode *mode, const char *target, const AdjValue *args, guint n_args, const AdjValue *result)
{
  adj_tracer_note_builtin (((ProxyMode *) mode)->tracer, target, args, n_args, result);
}

static const AdjModeClass proxy_class = {
  .name = "proxy",
  .call = proxy_call,
  .builtin = proxy_builtin,
};

AdjMode *
adj_proxy_mode_new (AdjTracer *tracer)
{
  ProxyMode *mode = g_new0 (ProxyMode, 1);

  mode->parent.klass = &proxy_class;
  mode->tracer = tracer;
  return &mode->parent;
}
