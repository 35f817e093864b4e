/* SPDX-License-Identifier: MIT */

/* The mode that records: the modes below compute a call, then it becomes a node. */

#include <string.h>

#include "call/adj-constant.h"
#include "call/adj-higher-order.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op.h"
#include "call/adj-trace-wrapped.h"
#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"
#include "trace/tracer-private.h"

typedef struct
{
  AdjMode parent;
  AdjTracer *tracer; /* (unowned) (nullable): %NULL: calls are not recorded now */
} ProxyMode;

static AdjValue
get_result (const AdjOpResult *result)
{
  return result->is_none || result->tensor == NULL ? result->plain : ADJ_TENSOR (result->tensor);
}

/* with_effects (token, op, …) -> (token, results…): a list stays one result, and no result is None.
 */
gboolean
adj_tracer_add_ordered_call (AdjTracer *tracer,
                             const AdjTracedEffect *effect,
                             const AdjValue *args,
                             const AdjValue *kwargs,
                             const AdjValue *result)
{
  gboolean spread = result->kind == ADJ_VALUE_TUPLE && !effect->returns_list;
  guint n = spread ? result->n : 1;
  g_autofree AdjValue *ordered = g_new0 (AdjValue, args->n + 2);
  g_autofree AdjValue *results = g_new0 (AdjValue, n + 1);
  AdjValue all;

  if (!adj_tracer_take (tracer, &ADJ_TENSOR (effect->token), &ordered[0]))
    return FALSE;
  ordered[1] =
      (AdjValue){ .kind = ADJ_VALUE_OP, .n = strlen (effect->target), .text = effect->target };
  memcpy (ordered + 2, args->items, args->n * sizeof *ordered);
  results[0] = ADJ_TENSOR (effect->new_token);
  memcpy (results + 1, spread ? result->items : result, n * sizeof *results);
  all = ADJ_ITEMS (TUPLE, ordered, args->n + 2);
  all = adj_value_copy_to_arena (&all, tracer->arena);
  adj_tracer_add_call (tracer, ADJ_TARGET_WITH_EFFECTS, &all, kwargs,
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

  if (tracer == NULL)
    return adj_mode_call_below (mode, call);
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
    return adj_tracer_add_ordered_call (tracer,
                                        &(AdjTracedEffect){ call->token, call->new_token,
                                                            call->schema->target,
                                                            call->returns_list },
                                        &args, &kwargs, &result);
  adj_tracer_add_call (tracer, call->schema->target, &args, &kwargs, &result);
  return TRUE;
}

static void
proxy_builtin (
    AdjMode *mode, const char *target, const AdjValue *args, guint n_args, const AdjValue *result)
{
  AdjTracer *tracer = ((ProxyMode *) mode)->tracer;

  if (tracer != NULL)
    adj_tracer_note_builtin (tracer, target, args, n_args, result);
}

/* -- higher-order operators ---- */

/* A tensor on the same memory, to represent an input in the tracer of a function. */
static gboolean
take_input (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjTensor *tensor;

  *out = adj_value_copy (leaf);
  if (leaf->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  tensor =
      adj_tensor_new (adj_tensor_get_meta (leaf->tensor), adj_tensor_get_storage (leaf->tensor));
  adj_constant_share (leaf->tensor, tensor);
  adj_value_clear (out);
  *out = ADJ_TENSOR (tensor);
  return TRUE;
}

/* Calls function @body with @tracer recording. */
static gboolean
record_body (ProxyMode *self,
             AdjTracer *tracer,
             AdjHigherCall *call,
             guint body,
             const GArray *inputs,
             AdjValue *out)
{
  g_autoptr (GArray) own = adj_value_array_new ();
  AdjTracer *outer = self->tracer;
  gboolean done;

  for (guint i = 0; i < inputs->len; i++)
    {
      g_autofree char *stem = g_strdup_printf ("arg%u_1", i);
      AdjValue input;

      take_input (&g_array_index (inputs, AdjValue, i), &input, NULL);
      g_array_append_val (own, input);
      adj_tracer_add_placeholder (tracer, NULL, stem, NULL, ADJ_NO_NODE, &input);
    }
  self->tracer = tracer;
  done = adj_higher_call_body (call, body, (gconstpointer) own->data, own->len, out);
  self->tracer = outer;
  return done && adj_tracer_add_output (tracer, out);
}

/* (transfer full) (nullable): function @body as a graph; @out (transfer full): its result. */
static AdjGraph *
trace_body (ProxyMode *self, AdjHigherCall *call, guint body, const GArray *inputs, AdjValue *out)
{
  g_autoptr (AdjTracer) tracer =
      adj_tracer_new (call->cx, "GraphModule", self->tracer->items_when_read);
  g_autoptr (GError) error = NULL;
  AdjGraph *graph;

  if (!record_body (self, tracer, call, body, inputs, out))
    return NULL;
  graph = adj_tracer_seal (tracer, &error);
  if (graph == NULL)
    adj_higher_fail (call, error->code, "%s", error->message);
  return graph;
}

/* The arguments as the graph holds them; get_attr nodes come last. */
static gboolean
take_higher_arguments (AdjTracer *tracer,
                       const AdjHigherCall *call,
                       AdjGraph *const *graphs,
                       AdjValue *args)
{
  const AdjHigherOp *op = call->op;
  const AdjValue *identifier = op->identifier != 0 ? &call->args[op->identifier] : NULL;
  AdjValue *items = adj_arena_new0 (tracer->arena, AdjValue, call->n_args + 1);
  AdjValue nodes[ADJ_MAX_BODIES];

  for (guint i = 0; i < call->n_args; i++)
    if (!adj_tracer_take (tracer, &call->args[i], &items[i]))
      return FALSE;
  adj_tracer_add_subgraphs (
      tracer, op->graph_names, graphs, op->n_bodies,
      identifier != NULL && identifier->kind == ADJ_VALUE_STRING ? identifier->text : NULL, nodes);
  for (guint i = 0; i < op->n_bodies; i++)
    items[op->bodies[i]] = nodes[i];
  *args = ADJ_ITEMS (TUPLE, items, call->n_args);
  return TRUE;
}

/* Computes the result without recording, and adds the node of the call. */
static gboolean
record_higher (ProxyMode *self, AdjHigherCall *call, AdjGraph **graphs, AdjValue *outs)
{
  AdjTracer *tracer = self->tracer;
  g_autoptr (GArray) inputs = NULL;
  AdjValue args;
  gboolean done;

  self->tracer = NULL;
  inputs = adj_higher_list_inputs (call);
  self->tracer = tracer;
  if (inputs == NULL)
    return FALSE;
  for (guint i = 0; i < call->op->n_bodies; i++)
    {
      graphs[i] = trace_body (self, call, i, inputs, &outs[i]);
      if (graphs[i] == NULL)
        return FALSE;
    }
  if (!take_higher_arguments (tracer, call, graphs, &args))
    return FALSE;
  self->tracer = NULL;
  call->outs = outs;
  done = adj_mode_call_higher_below (&self->parent, call);
  call->outs = NULL;
  self->tracer = tracer;
  if (done)
    adj_tracer_add_call (tracer, call->op->target, &args, &ADJ_NONE, &call->result);
  return done;
}

static gboolean
proxy_higher (AdjMode *mode, AdjHigherCall *call)
{
  ProxyMode *self = (ProxyMode *) mode;
  AdjGraph *graphs[ADJ_MAX_BODIES] = { NULL };
  AdjValue outs[ADJ_MAX_BODIES] = { ADJ_NONE, ADJ_NONE };
  gboolean done;

  if (self->tracer == NULL)
    return adj_mode_call_higher_below (mode, call);
  done = record_higher (self, call, graphs, outs);
  for (guint i = 0; i < ADJ_MAX_BODIES; i++)
    {
      g_clear_pointer (&graphs[i], adj_graph_unref);
      adj_value_clear (&outs[i]);
    }
  return done;
}

static gboolean
proxy_wrapped (AdjMode *mode, AdjWrappedCall *call)
{
  AdjTracer *tracer = ((ProxyMode *) mode)->tracer;

  return tracer != NULL ? adj_tracer_record_wrapped (tracer, call)
                        : adj_mode_call_wrapped_below (mode, call);
}

static gboolean
proxy_object (AdjMode *mode, AdjObjectCall *call)
{
  AdjTracer *tracer = ((ProxyMode *) mode)->tracer;

  return tracer != NULL ? adj_tracer_record_object (tracer, mode, call)
                        : adj_mode_call_object_below (mode, call);
}

static gboolean
proxy_effect (AdjMode *mode, AdjEffectCall *call)
{
  AdjTracer *tracer = ((ProxyMode *) mode)->tracer;

  return tracer != NULL ? adj_tracer_record_effect (tracer, mode, call)
                        : adj_mode_call_effect_below (mode, call);
}

static const AdjModeClass proxy_class = {
  .name = "proxy",
  .traces = TRUE,
  .call = proxy_call,
  .builtin = proxy_builtin,
  .higher = proxy_higher,
  .wrapped = proxy_wrapped,
  .object = proxy_object,
  .effect = proxy_effect,
};

AdjMode *
adj_proxy_mode_new (AdjTracer *tracer)
{
  ProxyMode *mode = g_new0 (ProxyMode, 1);

  mode->parent.klass = &proxy_class;
  mode->tracer = tracer;
  return &mode->parent;
}
