/* SPDX-License-Identifier: MIT */
/* Runs the hooks around one node, and checks their replacements of gradients. */

#include "autograd/autograd-private.h"
#include "ops/adj-op-id.h"

gboolean
node_check_replacement (AdjContext *cx, const AdjHook *hook, AdjTensor *old, AdjTensor *new)
{
  const AdjGradNode *node = engine_get_node (autograd_find (cx));
  const char *where = node != NULL ? node->name : "backward";
  const char *name = hook_get_name (hook);
  const AdjTensorMeta *a, *b;

  if (new == NULL || adj_context_has_error (cx))
    return !adj_context_has_error (cx);
  if (old == NULL)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "%s: hook '%s' can't replace a None gradient with a non-None value", where,
                        name);
      return FALSE;
    }
  a = adj_tensor_get_meta (old);
  b = adj_tensor_get_meta (new);
  if (!adj_shape_same_sizes (&a->shape, &b->shape, adj_context_get_symbols (cx)))
    {
      g_autoptr (GString) sizes = g_string_new ("was ");

      adj_shape_print_list (adj_context_get_symbols (cx), a->shape.size, a->shape.rank, sizes);
      g_string_append (sizes, " got ");
      adj_shape_print_list (adj_context_get_symbols (cx), b->shape.size, b->shape.rank, sizes);
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "%s: hook '%s' has changed the size of value (%s)", where, name,
                        sizes->str);
    }
  else if (a->dtype != b->dtype || !adj_device_equal (a->device, b->device))
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                      "%s: hook '%s' has changed the type of value (was %s got %s)", where, name,
                      adj_dtype_info (a->dtype)->torch_name, adj_dtype_info (b->dtype)->torch_name);
  return !adj_context_has_error (cx);
}

gboolean
node_replace_grad (AdjContext *cx, const AdjHook *hook, AdjTensor **slot, AdjTensor *new)
{
  AdjTensor *old = *slot;

  if (new == old || adj_context_has_error (cx))
    return !adj_context_has_error (cx);
  if (!node_check_replacement (cx, hook, old, new))
    return FALSE;
  *slot = adj_keep (new);
  if (old != NULL)
    adj_tensor_unref (old);
  return TRUE;
}

const GPtrArray *
grad_node_get_tensor_hooks (const AdjGradNode *node)
{
  const AdjTensor *leaf = accumulator_get_leaf (node);
  const Variable *variable = leaf != NULL ? variable_find (leaf) : NULL;

  if (leaf == NULL)
    return node->tensor_hooks;
  return variable != NULL ? variable->tensor_hooks : NULL;
}

static gboolean
defers (AdjContext *cx, const AdjHook *hook, AdjTensor *grad)
{
  return !hook->is_traced && grad != NULL &&
         (autograd_flags (cx) & ADJ_AUTOGRAD_DEFER_HOOKS) != 0 && tensor_is_traced (grad);
}

gboolean
node_run_tensor_hooks (AdjContext *cx, AdjGradNode *node, AdjTensor **grads)
{
  g_autoptr (GPtrArray) hooks = hook_list_snapshot (grad_node_get_tensor_hooks (node));
  const AdjPlace place = *adj_context_get_place (cx); /* hooks may change the place */

  for (guint i = 0; hooks != NULL && i < hooks->len; i++)
    {
      AdjHook *hook = g_ptr_array_index (hooks, i);
      AdjTensor *grad = grads[hook->input];
      AdjTensor *new = defers (cx, hook, grad)
                           ? hook_defer (cx, hook, grad)
                           : ((AdjTensorHookFunc) hook->func) (cx, grad, hook->data);

      adj_context_set_place (cx, &place);
      if (!node_replace_grad (cx, hook, &grads[hook->input],
                              new != NULL ? new : grads[hook->input]))
        return FALSE;
    }
  return !adj_context_has_error (cx);
}

gboolean
node_retain (AdjContext *cx, AdjTensor *tensor, AdjTensor *grad)
{
  AdjTensor *old = adj_tensor_get_grad (tensor);
  AdjTensor *new = old != NULL
                       ? ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (old), ADJ_TENSOR (grad))
                       : ADJ_APPLY (cx, ADJ_OP_clone, ADJ_TENSOR (grad));

  return new != NULL &&adj_tensor_set_grad (cx, tensor, new);
}

gboolean
node_run_retainers (AdjContext *cx, AdjGradNode *node, AdjTensor **grads)
{
  for (guint i = 0; i < node->n_inputs && node->retainers != NULL; i++)
    if (node->retainers[i] != NULL && grads[i] != NULL &&
        !node_retain (cx, node->retainers[i], grads[i]))
      return FALSE;
  return TRUE;
}

gboolean
node_run_hooks (AdjContext *cx,
                const GPtrArray *list,
                AdjTensor **grads,
                guint n_grads,
                AdjTensor *const *results,
                guint n_results)
{
  g_autoptr (GPtrArray) hooks = hook_list_snapshot (list);
  g_autofree AdjTensor **shown = NULL;
  const AdjPlace place = *adj_context_get_place (cx);

  if (hooks == NULL)
    return TRUE;
  shown = g_new0 (AdjTensor *, n_grads + 1);
  for (guint i = 0; i < hooks->len; i++)
    {
      AdjHook *hook = g_ptr_array_index (hooks, i);

      for (guint k = 0; k < n_grads; k++)
        shown[k] = grads[k];
      ((AdjNodeHookFunc) hook->func) (cx, shown, n_grads, results, n_results, hook->data);
      adj_context_set_place (cx, &place);
      for (guint k = 0; k < n_grads; k++)
        if (!node_replace_grad (cx, hook, &grads[k], shown[k]))
          return FALSE;
    }
  return !adj_context_has_error (cx);
}
