/* SPDX-License-Identifier: MIT */
/* AdjHook and the lists of hooks on tensors, leaves and nodes. */

#include "autograd/adj-hook-internal.h"
#include "autograd/autograd-private.h"

AdjHook *
adj_hook_ref (AdjHook *hook)
{
  g_return_val_if_fail (hook != NULL, NULL);

  hook->ref_count++;
  return hook;
}

void
adj_hook_unref (AdjHook *hook)
{
  if (hook == NULL || --hook->ref_count > 0)
    return;
  if (hook->destroy != NULL)
    hook->destroy (hook->data);
  g_free (hook->name);
  g_free (hook);
}

void
adj_hook_set_name (AdjHook *hook, const char *name)
{
  g_return_if_fail (hook != NULL);

  g_free (hook->name);
  hook->name = g_strdup (name);
}

void
adj_hook_remove (AdjHook *hook)
{
  g_return_if_fail (hook != NULL);

  hook->removed = TRUE;
}

const char *
hook_get_name (const AdjHook *hook)
{
  return hook->name != NULL ? hook->name : "<unknown>";
}

AdjHook *
hook_list_add (GPtrArray **list, GCallback func, gpointer data, guint input)
{
  AdjHook *hook = g_new0 (AdjHook, 1);

  hook->ref_count = 1;
  hook->func = func;
  hook->data = data;
  hook->input = input;
  if (*list == NULL)
    *list = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_hook_unref);
  g_ptr_array_add (*list, adj_hook_ref (hook));
  return hook;
}

GPtrArray *
hook_list_snapshot (const GPtrArray *list)
{
  GPtrArray *copy;

  if (list == NULL)
    return NULL;
  copy = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_hook_unref);
  for (guint i = 0; i < list->len; i++)
    {
      AdjHook *hook = g_ptr_array_index (list, i);

      if (!hook->removed)
        g_ptr_array_add (copy, adj_hook_ref (hook));
    }
  return copy;
}

AdjHook *
adj_tensor_add_hook (AdjContext *cx, AdjTensor *tensor, AdjTensorHookFunc hook, gpointer data)
{
  Variable *variable;

  g_return_val_if_fail (cx != NULL && tensor != NULL && hook != NULL, NULL);

  if (adj_context_has_error (cx))
    return NULL;
  if (!adj_tensor_get_requires_grad (tensor))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "cannot register a hook on a tensor that doesn't require gradient");
      return NULL;
    }
  if (!variable_refresh (cx, tensor))
    return NULL;
  variable = variable_get (tensor);
  if (variable->node != NULL)
    return hook_list_add (&variable->node->tensor_hooks, G_CALLBACK (hook), data, variable->output);
  return hook_list_add (&variable->tensor_hooks, G_CALLBACK (hook), data, 0);
}

AdjHook *
adj_tensor_add_leaf_hook (AdjContext *cx, AdjTensor *leaf, AdjLeafHookFunc hook, gpointer data)
{
  Variable *variable;
  AdjHook *handle;

  g_return_val_if_fail (cx != NULL && leaf != NULL && hook != NULL, NULL);

  if (adj_context_has_error (cx))
    return NULL;
  variable = variable_get (leaf);
  if (variable->node != NULL || !variable->requires_grad)
    {
      adj_context_fail (
          cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "post accumulate grad hooks cannot be registered on %s",
          variable->node != NULL ? "non-leaf tensors" : "a tensor that doesn't require gradient");
      return NULL;
    }
  handle = hook_list_add (&variable->leaf_hooks, G_CALLBACK (hook), data, 0);
  handle->of_leaf = TRUE;
  return handle;
}

AdjHook *
adj_grad_node_add_pre_hook (AdjGradNode *node, AdjNodeHookFunc hook, gpointer data)
{
  g_return_val_if_fail (node != NULL && hook != NULL, NULL);

  return hook_list_add (&node->pre_hooks, G_CALLBACK (hook), data, 0);
}

AdjHook *
adj_grad_node_add_post_hook (AdjGradNode *node, AdjNodeHookFunc hook, gpointer data)
{
  g_return_val_if_fail (node != NULL && hook != NULL, NULL);

  return hook_list_add (&node->post_hooks, G_CALLBACK (hook), data, 0);
}

/* -- from one tensor to another -- */

/* Hooks on several tensors are not taken: they count the gradients of a backward. */
static void
take_from (GPtrArray *list, GPtrArray *taken)
{
  for (guint i = list != NULL ? list->len : 0; i-- > 0;)
    {
      AdjHook *hook = g_ptr_array_index (list, i);

      if (hook->destroy != NULL)
        continue;
      if (!hook->removed)
        g_ptr_array_insert (taken, 0, adj_hook_ref (hook));
      g_ptr_array_remove_index (list, i);
    }
}

GPtrArray *
adj_autograd_take_hooks (AdjTensor *tensor, AdjGradNode *node)
{
  GPtrArray *taken;
  Variable *variable;

  g_return_val_if_fail (tensor != NULL, NULL);

  taken = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_hook_unref);
  variable = variable_find (tensor);
  if (node != NULL)
    take_from (node->tensor_hooks, taken);
  else if (variable != NULL)
    {
      take_from (variable->leaf_hooks, taken);
      take_from (variable->tensor_hooks, taken);
    }
  return taken;
}

gboolean
adj_grad_node_has_hooks (const AdjGradNode *node)
{
  g_return_val_if_fail (node != NULL, FALSE);

  for (guint i = 0; node->tensor_hooks != NULL && i < node->tensor_hooks->len; i++)
    if (!((const AdjHook *) g_ptr_array_index (node->tensor_hooks, i))->removed)
      return TRUE;
  return FALSE;
}

gboolean
adj_grad_node_is_of_leaf (const AdjGradNode *node, const AdjTensor *leaf)
{
  g_return_val_if_fail (node != NULL, FALSE);

  return leaf != NULL && accumulator_get_leaf (node) == leaf;
}

gboolean
adj_tensor_add_hook_like (AdjContext *cx, AdjTensor *tensor, const AdjHook *hook)
{
  AdjHook *handle;

  g_return_val_if_fail (hook != NULL, FALSE);

  handle = hook->of_leaf
               ? adj_tensor_add_leaf_hook (cx, tensor, (AdjLeafHookFunc) hook->func, hook->data)
               : adj_tensor_add_hook (cx, tensor, (AdjTensorHookFunc) hook->func, hook->data);
  if (handle == NULL)
    return FALSE;
  adj_hook_set_name (handle, hook->name);
  adj_hook_unref (handle);
  return TRUE;
}
