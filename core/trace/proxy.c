/* SPDX-License-Identifier: MIT */

/* The mode that records: a call is made by the modes below, then it becomes a node. */

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
