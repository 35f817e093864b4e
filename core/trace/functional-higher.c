/* SPDX-License-Identifier: MIT */
/* Calls other than operators under functionalization: higher-order operators, functions that a
 * trace keeps whole, methods of objects, and operators with side effects. */

#include "call/adj-effect-call.h"
#include "call/adj-higher-order.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-trace-wrapped.h"
#include "trace/functional-private.h"

/* A function for a higher-order operator, called with values; its calls go through the mode. */
typedef struct
{
  AdjFunction parent;
  AdjMode *mode;       /* (unowned): outlives it */
  AdjHigherCall *call; /* (unowned) */
  guint body;
} FunctionalBody;

static gboolean
wrap_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = leaf->kind == ADJ_VALUE_TENSOR ? ADJ_TENSOR (functional_wrap (leaf->tensor))
                                        : adj_value_copy (leaf);
  return TRUE;
}

static gboolean
is_plain (const AdjValue *leaf)
{
  return leaf->kind != ADJ_VALUE_TENSOR || functional_find (leaf->tensor) == NULL;
}

static gboolean
value_of_leaf (const AdjValue *leaf, AdjValue *out, gpointer cx)
{
  if (!is_plain (leaf) && !functional_sync (cx, leaf->tensor))
    return FALSE;
  *out =
      adj_value_copy (is_plain (leaf) ? leaf : &ADJ_TENSOR (functional_find (leaf->tensor)->value));
  return TRUE;
}

/* Fails if the function wrote to an input, since its caller passed only values. */
static gboolean
refuse_written (const FunctionalBody *self, const AdjValue *inputs, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      AdjFunctionalState observed;

      if (inputs[i].kind == ADJ_VALUE_TENSOR &&
          adj_functional_get_state (inputs[i].tensor, &observed) &&
          (observed.mutated || observed.metadata_changed || observed.storage_resized))
        return adj_higher_fail (self->call, ADJ_ERROR_UNSUPPORTED,
                                "%s modifies its input %u in place: clone it before",
                                self->call->op->body_names[self->body], i);
    }
  return TRUE;
}

typedef struct
{
  const FunctionalBody *self;
  const AdjValue *inputs;
  guint n;
} Outputs;

static gboolean
refuse_alias (const AdjValue *leaf, gpointer data)
{
  const Outputs *outputs = data;
  const AdjHigherCall *call = outputs->self->call;

  for (guint i = 0; i < outputs->n && !is_plain (leaf); i++)
    if (outputs->inputs[i].kind == ADJ_VALUE_TENSOR &&
        functional_find (leaf->tensor)->storage ==
            functional_find (outputs->inputs[i].tensor)->storage)
      return adj_higher_fail (call, ADJ_ERROR_UNSUPPORTED,
                              "%s returns its input %u or a view of it: clone it before",
                              call->op->body_names[outputs->self->body], i);
  return TRUE;
}

static gboolean
functional_body_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  FunctionalBody *self = (FunctionalBody *) function;
  AdjMode *entry = adj_context_set_entry (cx, self->mode);
  g_autofree AdjValue *inputs = g_new0 (AdjValue, n_args + 1);
  g_auto (AdjValue) outs = ADJ_NONE;
  gboolean done;

  for (guint i = 0; i < n_args; i++)
    adj_value_map (&args[i], wrap_leaf, NULL, &inputs[i]);
  done = adj_higher_call_body (self->call, self->body, inputs, n_args, &outs);
  adj_context_set_entry (cx, self->mode->below);
  done = done && refuse_written (self, inputs, n_args) &&
         adj_value_foreach (&outs, refuse_alias, &(Outputs){ self, inputs, n_args }) &&
         adj_value_map (&outs, value_of_leaf, cx, result);
  adj_context_set_entry (cx, entry);
  for (guint i = 0; i < n_args; i++)
    adj_value_clear (&inputs[i]);
  return done;
}

static const AdjFunctionClass functional_body_class = {
  .name = "functionalized body",
  .call = functional_body_call,
};

static gboolean
call_higher (AdjMode *mode, AdjHigherCall *call, AdjHigherCall *below)
{
  for (guint i = 0; i < call->op->n_bodies; i++)
    {
      FunctionalBody *body =
          (FunctionalBody *) adj_function_new (&functional_body_class, sizeof *body);

      body->mode = mode;
      body->call = call;
      body->body = i;
      below->bodies[i] = &body->parent;
    }
  return adj_mode_call_higher_below (mode, below) &&
         adj_value_map (&below->result, wrap_leaf, NULL, &call->result);
}

gboolean
functional_higher (AdjMode *mode, AdjHigherCall *call)
{
  AdjMode *entry = adj_context_set_entry (call->cx, mode->below);
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = call->n_args, .items = (AdjValue *) call->args };
  g_auto (AdjValue) values = ADJ_NONE;
  AdjHigherCall below = { .cx = call->cx, .op = call->op, .n_args = call->n_args };
  gboolean done = adj_value_map (&args, value_of_leaf, call->cx, &values);

  below.args = values.items;
  done = done && call_higher (mode, call, &below);
  adj_value_clear (&below.result);
  for (guint i = 0; i < ADJ_MAX_BODIES; i++)
    g_clear_pointer (&below.bodies[i], adj_function_unref);
  adj_context_set_entry (call->cx, entry);
  return done;
}

/* -- functions, methods, effects ---- */

/* The arguments of a call, replaced by the values below the mode. */
typedef struct
{
  AdjMode *entry;  /* previous entry */
  AdjValue args;   /* (owned) */
  AdjValue kwargs; /* (owned) */
} Values;

/* %FALSE: the context is in error; end_values() must be called even then. */
static gboolean
begin_values (Values *values,
              AdjMode *mode,
              AdjContext *cx,
              const AdjValue *args,
              guint n_args,
              const AdjValue *kwargs)
{
  AdjValue all = { .kind = ADJ_VALUE_TUPLE, .n = n_args, .items = (AdjValue *) args };

  *values = (Values){ adj_context_set_entry (cx, mode->below), ADJ_NONE, ADJ_NONE };
  return adj_value_map (&all, value_of_leaf, cx, &values->args) &&
         adj_value_map (kwargs, value_of_leaf, cx, &values->kwargs);
}

/* @below: (transfer full): the result of the call below, if @done */
static gboolean
end_values (Values *values, AdjContext *cx, gboolean done, AdjValue *below, AdjValue *result)
{
  done = done && adj_value_map (below, wrap_leaf, NULL, result);
  adj_value_clear (below);
  adj_value_clear (&values->args);
  adj_value_clear (&values->kwargs);
  adj_context_set_entry (cx, values->entry);
  return done;
}

/* @token: (nullable) */
static AdjTensor *
value_of_token (AdjTensor *token)
{
  const Functional *functional = token != NULL ? functional_find (token) : NULL;

  return functional != NULL ? functional->value : token;
}

gboolean
functional_wrapped (AdjMode *mode, AdjWrappedCall *call)
{
  AdjWrappedCall below = *call;
  Values values;
  gboolean done = begin_values (&values, mode, call->cx, call->args, call->n_args, call->kwargs);

  below.args = values.args.items;
  below.kwargs = &values.kwargs;
  done = done && adj_mode_call_wrapped_below (mode, &below);
  return end_values (&values, call->cx, done, &below.result, &call->result);
}

gboolean
functional_object (AdjMode *mode, AdjObjectCall *call)
{
  AdjObjectCall below = *call;
  Values values;
  gboolean done = begin_values (&values, mode, call->cx, call->args, call->n_args, call->kwargs);

  below.args = values.args.items;
  below.kwargs = &values.kwargs;
  below.token = value_of_token (call->token);
  done = done && adj_mode_call_object_below (mode, &below);
  return end_values (&values, call->cx, done, &below.result, &call->result);
}

gboolean
functional_effect (AdjMode *mode, AdjEffectCall *call)
{
  AdjEffectCall below = *call;
  Values values;
  gboolean done = begin_values (&values, mode, call->cx, call->args, call->n_args, call->kwargs);

  below.args = values.args.items;
  below.kwargs = &values.kwargs;
  below.token = value_of_token (call->token);
  done = done && adj_mode_call_effect_below (mode, &below);
  return end_values (&values, call->cx, done, &below.result, &call->result);
}
