/* SPDX-License-Identifier: MIT */
/* Backward hooks of modules: two identities around a call see the gradients of its outputs and
 * of its inputs. */

#include "autograd/adj-custom.h"
#include "autograd/adj-module-hooks.h"
#include "autograd/autograd-private.h"

struct _AdjModuleHooks
{
  GPtrArray *pre, *post; /* (nullable): of AdjHook */
};

/* State of one call of a module, shared by the hooks of its two identities. */
typedef struct
{
  guint ref_count;
  GPtrArray *pre, *post; /* (owned) (nullable): the hooks at the time of the call */
  guint n_inputs, n_outputs;
  GArray *inputs, *outputs; /* guint: indices of the values that pass through the identity */
  gboolean watches_inputs;
  AdjTensor **grad_outputs; /* (nullable): of the outputs in the running backward, owned */
} ModuleCall;

AdjModuleHooks *
adj_module_hooks_new (void)
{
  return g_new0 (AdjModuleHooks, 1);
}

void
adj_module_hooks_free (AdjModuleHooks *hooks)
{
  g_return_if_fail (hooks != NULL);

  g_clear_pointer (&hooks->pre, g_ptr_array_unref);
  g_clear_pointer (&hooks->post, g_ptr_array_unref);
  g_free (hooks);
}

AdjHook *
adj_module_hooks_add (AdjModuleHooks *hooks, AdjModuleHookFunc hook, gpointer data)
{
  g_return_val_if_fail (hooks != NULL && hook != NULL, NULL);

  return hook_list_add (&hooks->post, G_CALLBACK (hook), data, 0);
}

AdjHook *
adj_module_hooks_add_pre (AdjModuleHooks *hooks, AdjModulePreHookFunc hook, gpointer data)
{
  g_return_val_if_fail (hooks != NULL && hook != NULL, NULL);

  return hook_list_add (&hooks->pre, G_CALLBACK (hook), data, 0);
}

/* -- one call -- */

static void
forget_grad_outputs (ModuleCall *call)
{
  for (guint i = 0; call->grad_outputs != NULL && i < call->n_outputs; i++)
    g_clear_pointer (&call->grad_outputs[i], adj_tensor_unref);
  g_clear_pointer (&call->grad_outputs, g_free);
}

static void
call_unref (gpointer data)
{
  ModuleCall *call = data;

  if (--call->ref_count > 0)
    return;
  forget_grad_outputs (call);
  g_clear_pointer (&call->pre, g_ptr_array_unref);
  g_clear_pointer (&call->post, g_ptr_array_unref);
  g_array_unref (call->inputs);
  g_array_unref (call->outputs);
  g_free (call);
}

static ModuleCall *
call_new (const AdjModuleHooks *hooks)
{
  ModuleCall *call = g_new0 (ModuleCall, 1);

  call->ref_count = 1;
  call->pre = hook_list_snapshot (hooks->pre);
  call->post = hook_list_snapshot (hooks->post);
  call->inputs = g_array_new (FALSE, FALSE, sizeof (guint));
  call->outputs = g_array_new (FALSE, FALSE, sizeof (guint));
  return call;
}

/* (transfer container): @grads at the indices @places of @n entries; the others %NULL. */
static AdjTensor **
spread (const GArray *places, guint n, AdjTensor *const *grads)
{
  AdjTensor **all = g_new0 (AdjTensor *, n + 1);

  for (guint i = 0; i < places->len; i++)
    all[g_array_index (places, guint, i)] = grads[i];
  return all;
}

/* -- running the hooks -- */

static gboolean
run_pre_hooks (ModuleCall *call, AdjContext *cx)
{
  const AdjPlace place = *adj_context_get_place (cx);

  for (guint i = 0; call->pre != NULL && i < call->pre->len; i++)
    {
      AdjHook *hook = g_ptr_array_index (call->pre, i);
      g_autofree AdjTensor **shown =
          g_memdup2 (call->grad_outputs, (call->n_outputs + 1) * sizeof (AdjTensor *));

      ((AdjModulePreHookFunc) hook->func) (cx, shown, call->n_outputs, hook->data);
      adj_context_set_place (cx, &place);
      for (guint k = 0; k < call->n_outputs; k++)
        if (!node_replace_grad (cx, hook, &call->grad_outputs[k], shown[k]))
          return FALSE;
    }
  return TRUE;
}

/* @grads: of all inputs; replacements are borrowed from the scope. */
static gboolean
run_hooks (ModuleCall *call, AdjContext *cx, AdjTensor **grads)
{
  const AdjPlace place = *adj_context_get_place (cx);

  for (guint i = 0; call->post != NULL && i < call->post->len; i++)
    {
      AdjHook *hook = g_ptr_array_index (call->post, i);
      g_autofree AdjTensor **shown = g_memdup2 (grads, (call->n_inputs + 1) * sizeof (AdjTensor *));

      ((AdjModuleHookFunc) hook->func) (cx, shown, call->n_inputs, call->grad_outputs,
                                        call->n_outputs, hook->data);
      adj_context_set_place (cx, &place);
      for (guint k = 0; k < call->n_inputs; k++)
        {
          if (!call->watches_inputs && shown[k] != NULL)
            adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                              "hook '%s': Backward hook for Modules where no input requires "
                              "gradient should always return None or None for all gradients.",
                              hook_get_name (hook));
          if (!node_check_replacement (cx, hook, grads[k], shown[k]))
            return FALSE;
          grads[k] = shown[k];
        }
    }
  return TRUE;
}

/* Hook after the identity behind the module: @grads are the gradients of the outputs. */
static void
on_outputs (AdjContext *cx,
            AdjTensor **grads,
            guint n_grads,
            AdjTensor *const *results,
            guint n_results,
            gpointer data)
{
  ModuleCall *call = data;
  g_autofree AdjTensor **none = g_new0 (AdjTensor *, call->n_inputs + 1);

  forget_grad_outputs (call);
  call->grad_outputs = spread (call->outputs, call->n_outputs, results);
  for (guint i = 0; i < call->n_outputs; i++)
    call->grad_outputs[i] = adj_keep (call->grad_outputs[i]);
  if (!run_pre_hooks (call, cx))
    return;
  for (guint i = 0; i < n_grads; i++)
    grads[i] =
        adj_scope_add (cx, adj_keep (call->grad_outputs[g_array_index (call->outputs, guint, i)]));
  if (call->watches_inputs)
    return;
  run_hooks (call, cx, none);
  forget_grad_outputs (call);
}

/* Hook after the identity before the module. Gradients that arrived by other paths than through the
 * outputs are dropped. */
static void
on_inputs (AdjContext *cx,
           AdjTensor **grads,
           guint n_grads,
           AdjTensor *const *results,
           guint n_results,
           gpointer data)
{
  ModuleCall *call = data;
  g_autofree AdjTensor **all = NULL;

  if (call->grad_outputs == NULL)
    return;
  all = spread (call->inputs, call->n_inputs, grads);
  if (run_hooks (call, cx, all))
    for (guint i = 0; i < n_grads; i++)
      grads[i] = all[g_array_index (call->inputs, guint, i)];
  forget_grad_outputs (call);
}

/* -- the identities -- */

static gboolean
identity_forward (AdjCustomCall *call,
                  AdjTensor *const *inputs,
                  guint n_inputs,
                  AdjTensor **outputs,
                  guint n_outputs)
{
  for (guint i = 0; i < n_inputs; i++)
    {
      if (!adj_tensor_get_requires_grad (inputs[i]))
        adj_custom_call_mark_non_differentiable (call, inputs[i]);
      outputs[i] = inputs[i];
    }
  return TRUE;
}

static gboolean
identity_backward (AdjCustomCall *call,
                   AdjTensor *const *grads,
                   guint n_grads,
                   AdjTensor **grad_inputs,
                   guint n_inputs)
{
  for (guint i = 0; i < n_inputs; i++)
    grad_inputs[i] = grads[i];
  return TRUE;
}

static const AdjCustomClass identity_class = {
  .name = "BackwardHookFunction",
  .forward = identity_forward,
  .backward = identity_backward,
};

/* Passes the tensors of @values through an identity whose node has @hook; @places (out): their
 * indices. Does nothing when none of them requires a gradient. */
static gboolean
pass_through (ModuleCall *call,
              AdjContext *cx,
              AdjValue *values,
              guint n,
              GArray *places,
              AdjNodeHookFunc hook)
{
  g_autofree AdjTensor **before = g_new0 (AdjTensor *, n + 1);
  g_autofree AdjTensor **after = g_new0 (AdjTensor *, n + 1);
  AdjGradNode *node = NULL;
  gboolean any = FALSE;

  for (guint i = 0; i < n; i++)
    if (values[i].kind == ADJ_VALUE_TENSOR)
      {
        any |= adj_tensor_get_requires_grad (values[i].tensor);
        before[places->len] = values[i].tensor;
        g_array_append_val (places, i);
      }
  if (!any || !adj_context_get_grad_enabled (cx))
    {
      g_array_set_size (places, 0);
      return TRUE;
    }
  if (!adj_custom_apply (cx, &identity_class, NULL, NULL, before, places->len, after, places->len))
    return FALSE;
  for (guint i = 0; i < places->len; i++)
    {
      values[g_array_index (places, guint, i)].tensor = after[i];
      node = node != NULL ? node : adj_tensor_get_grad_node (after[i]);
    }
  if (node != NULL)
    {
      g_autoptr (AdjHook) handle = adj_grad_node_add_post_hook (node, hook, call);

      call->ref_count++;
      handle->destroy = call_unref;
    }
  return TRUE;
}

/* Calls @module on @args between the hooks on the inputs and outputs of its backward.  @result:
 * (out) (transfer full) */
static gboolean
call_module (
    ModuleCall *call, AdjContext *cx, AdjFunction *module, AdjValue *args, AdjValue *result)
{
  g_auto (AdjValue) made = ADJ_NONE;
  gboolean several;
  AdjValue lent, *items;
  guint n;

  if (!pass_through (call, cx, args, call->n_inputs, call->inputs, on_inputs))
    return FALSE;
  call->watches_inputs = call->inputs->len > 0;
  if (!adj_function_call (module, cx, args, call->n_inputs, &made))
    return FALSE;
  several = made.kind == ADJ_VALUE_TUPLE || made.kind == ADJ_VALUE_LIST;
  n = several ? made.n : 1;
  items = g_newa (AdjValue, n + 1);
  for (guint i = 0; i < n; i++)
    items[i] = several ? made.items[i] : made;
  call->n_outputs = n;
  if (!pass_through (call, cx, items, n, call->outputs, on_outputs))
    return FALSE;
  lent = several ? (AdjValue){ .kind = made.kind, .n = n, .items = items } : items[0];
  *result = adj_value_copy (&lent);
  return TRUE;
}

gboolean
adj_module_hooks_call (AdjModuleHooks *hooks,
                       AdjContext *cx,
                       AdjFunction *module,
                       const AdjValue *args,
                       guint n_args,
                       AdjValue *result)
{
  g_autofree AdjValue *through = NULL;
  ModuleCall *call;
  gboolean done;

  g_return_val_if_fail (hooks != NULL && cx != NULL && module != NULL && result != NULL, FALSE);

  *result = ADJ_NONE;
  through = g_memdup2 (args, n_args * sizeof *args);
  call = call_new (hooks);
  call->n_inputs = n_args;
  adj_scope_begin (cx);
  done = call->pre == NULL && call->post == NULL
             ? adj_function_call (module, cx, args, n_args, result)
             : call_module (call, cx, module, through, result);
  adj_scope_end (cx);
  call_unref (call);
  return done && !adj_context_has_error (cx);
}
