/* SPDX-License-Identifier: MIT */
/* Hooks whose body is a function of the gradient and of further values: traces enter it. */

#include "autograd/autograd-private.h"
#include "call/adj-function.h"
#include "call/adj-mode.h"
#include "ir/adj-graph.h"

typedef struct
{
  AdjFunction *body;  /* (owned) */
  Autograd *autograd; /* (unowned) (nullable): lists this hook; %NULL: it is freed */
  char *name;         /* (owned) */
  AdjGraph *outer;    /* (owned) (nullable): the graph that registered the hook */
  AdjNodeId outer_id; /* the node in @outer */
  AdjValue more;      /* (owned): LIST of further arguments; NONE: released */
} FunctionHook;

/* The member `more` may lead back to the tensor that holds the hook: freeing either the mode or
 * the hook breaks the cycle. */
static void
function_hook_free (gpointer data)
{
  FunctionHook *self = data;

  if (self->autograd != NULL)
    g_ptr_array_remove_fast (self->autograd->function_hooks, self);
  adj_function_unref (self->body);
  adj_value_clear (&self->more);
  g_clear_pointer (&self->outer, adj_graph_unref);
  g_free (self->name);
  g_free (self);
}

void
function_hooks_let_go (Autograd *autograd)
{
  while (autograd->function_hooks->len > 0)
    {
      FunctionHook *self = g_ptr_array_steal_index_fast (autograd->function_hooks,
                                                         autograd->function_hooks->len - 1);
      AdjValue more = self->more;

      self->autograd = NULL;
      self->more = ADJ_NONE;
      adj_value_clear (&more);
    }
}

/* The body returns the value itself or a tuple of it. */
static AdjTensor *
take_result (AdjContext *cx, const FunctionHook *self, const AdjValue *result)
{
  const AdjValue *value =
      adj_value_is_container (result) && result->n == 1 ? &result->items[0] : result;

  if (value->kind == ADJ_VALUE_TENSOR)
    return adj_scope_add (cx, adj_tensor_ref (value->tensor));
  if (value->kind != ADJ_VALUE_NONE)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                      "the hook %s gives %s, not a tensor or None", self->name,
                      adj_value_kind_name (value->kind));
  return NULL;
}

static AdjTensor *
call_body (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  const FunctionHook *self = data;
  const AdjPlace before = *adj_context_get_place (cx);
  g_autofree AdjValue *args = g_new0 (AdjValue, self->more.n + 1);
  g_auto (AdjValue) result = ADJ_NONE;
  AdjPlace place = before;
  AdjTensor *out = NULL;

  if (grad == NULL)
    return NULL;
  args[0] = ADJ_TENSOR (grad);
  for (guint i = 0; i < self->more.n; i++)
    args[i + 1] = self->more.items[i];
  place.hook = self->name;
  place.outer = self->outer;
  place.outer_id = self->outer_id;
  adj_context_set_place (cx, &place);
  if (adj_function_call (self->body, cx, args, self->more.n + 1, &result))
    out = take_result (cx, self, &result);
  adj_context_set_place (cx, &before);
  return out;
}

static FunctionHook *
function_hook_new (
    AdjContext *cx, AdjFunction *body, const char *name, const AdjValue *more, guint n_more)
{
  const AdjValue list = { .kind = ADJ_VALUE_LIST, .items = (AdjValue *) more, .n = n_more };
  const AdjPlace *place = adj_context_get_place (cx);
  FunctionHook *self = g_new0 (FunctionHook, 1);

  self->body = adj_function_ref (body);
  self->name = g_strdup (name);
  self->more = adj_value_copy (&list);
  self->outer = place->outer != NULL ? adj_graph_ref ((AdjGraph *) place->outer) : NULL;
  self->outer_id = place->outer_id;
  return self;
}

gboolean
function_hook_add (AdjMode *mode,
                   AdjContext *cx,
                   AdjTensor *tensor,
                   AdjFunction *body,
                   const char *name,
                   const AdjValue *more,
                   guint n_more)
{
  Autograd *autograd = (Autograd *) mode;
  FunctionHook *self;
  AdjHook *hook;

  if (!adj_tensor_get_requires_grad (tensor))
    return TRUE;
  self = function_hook_new (cx, body, name, more, n_more);
  hook = adj_tensor_add_hook (cx, tensor, call_body, self);
  if (hook == NULL)
    {
      function_hook_free (self);
      return FALSE;
    }
  hook->destroy = function_hook_free;
  hook->is_traced = TRUE;
  adj_hook_set_name (hook, name);
  self->autograd = autograd;
  g_ptr_array_add (autograd->function_hooks, self);
  adj_hook_unref (hook);
  return TRUE;
}
