/* SPDX-License-Identifier: MIT */
/* The autograd state of a tensor: requires_grad, grad, the edge to its node, its view base and
 * version. */

#include "autograd/adj-autograd-internal.h"
#include "autograd/autograd-private.h"
#include "ops/adj-op-id.h"

static void
forget_retainer (Variable *variable)
{
  if (variable->retains && variable->node != NULL)
    variable->node->retainers[variable->output] = NULL;
  variable->retains = FALSE;
}

static void
variable_free (gpointer data)
{
  Variable *variable = data;

  forget_retainer (variable);
  if (variable->accumulator != NULL)
    accumulator_forget_leaf (variable->accumulator);
  variable_forget_base (variable);
  saved_unwatch (variable);
  g_clear_pointer (&variable->grad, adj_tensor_unref);
  g_clear_pointer (&variable->tensor_hooks, g_ptr_array_unref);
  g_clear_pointer (&variable->leaf_hooks, g_ptr_array_unref);
  g_clear_pointer (&variable->node, adj_grad_node_unref);
  g_free (variable);
}

static gboolean
variable_requires_grad (gconstpointer data)
{
  const Variable *variable = data;

  return variable->requires_grad || variable->node != NULL ||
         (variable->base != NULL && adj_tensor_get_requires_grad (variable->base));
}

static const AdjSlotClass slot_class = {
  .free = variable_free,
  .requires_grad = variable_requires_grad,
};

Variable *
variable_find (const AdjTensor *tensor)
{
  return adj_tensor_get_slot (tensor, ADJ_SLOT_AUTOGRAD);
}

Variable *
variable_get (AdjTensor *tensor)
{
  Variable *variable = variable_find (tensor);

  if (variable == NULL)
    {
      variable = g_new0 (Variable, 1);
      variable->tensor = tensor;
      adj_tensor_set_slot (tensor, ADJ_SLOT_AUTOGRAD, variable, &slot_class);
    }
  return variable;
}

static void
retain (Variable *variable)
{
  AdjGradNode *node = variable->node;

  if (node->retainers == NULL)
    node->retainers = g_new0 (AdjTensor *, node->n_inputs);
  node->retainers[variable->output] = variable->tensor;
  variable->retains = TRUE;
}

void
variable_set_history (AdjTensor *tensor, AdjGradNode *node, guint output)
{
  Variable *variable = variable_get (tensor);
  gboolean retained = variable->retains;
  AdjGradNode *old = variable->node;

  forget_retainer (variable);
  variable->node = node != NULL ? adj_grad_node_ref (node) : NULL;
  variable->output = output;
  if (node != NULL)
    node->inputs[output] = *adj_tensor_get_meta (tensor);
  if (retained && node != NULL)
    retain (variable);
  adj_grad_node_unref (old);
}

GradEdge
variable_get_edge (AdjContext *cx, AdjTensor *tensor)
{
  const Variable *variable = variable_find (tensor);
  GradEdge edge = { NULL, 0 };

  if (variable == NULL || adj_context_has_error (cx))
    return edge;
  if (!variable_refresh (cx, tensor))
    return edge;
  if (variable->node != NULL)
    {
      edge.node = adj_grad_node_ref (variable->node);
      edge.input = variable->output;
    }
  else if (adj_tensor_get_requires_grad (tensor))
    edge.node = accumulator_get (cx, tensor);
  return edge;
}

/* -- public -- */

gboolean
adj_tensor_set_requires_grad (AdjContext *cx, AdjTensor *tensor, gboolean requires_grad)
{
  const Variable *variable;
  AdjDType dtype;

  g_return_val_if_fail (cx != NULL && tensor != NULL, FALSE);

  if (adj_context_has_error (cx))
    return FALSE;
  variable = variable_find (tensor);
  dtype = adj_tensor_get_meta (tensor)->dtype;
  if (variable != NULL && variable->node != NULL && !requires_grad)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                      "you can only change requires_grad flags of leaf variables. If you want to "
                      "use a computed variable in a subgraph that doesn't require differentiation "
                      "use detach");
  else if (requires_grad && !adj_dtype_is_differentiable (dtype))
    adj_context_fail (
        cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
        "only tensors of floating point or complex dtype can require gradients, not %s",
        adj_dtype_info (dtype)->torch_name);
  else if (requires_grad || variable != NULL)
    variable_get (tensor)->requires_grad = requires_grad;
  return !adj_context_has_error (cx);
}

AdjTensor *
adj_tensor_get_grad (const AdjTensor *tensor)
{
  const Variable *variable;

  g_return_val_if_fail (tensor != NULL, NULL);

  variable = variable_find (tensor);
  return variable != NULL ? variable->grad : NULL;
}

gboolean
adj_tensor_set_grad (AdjContext *cx, AdjTensor *tensor, AdjTensor *grad)
{
  const AdjTensorMeta *meta, *other;
  Variable *variable;

  g_return_val_if_fail (cx != NULL && tensor != NULL, FALSE);

  if (adj_context_has_error (cx))
    return FALSE;
  if (grad != NULL)
    {
      meta = adj_tensor_get_meta (tensor);
      other = adj_tensor_get_meta (grad);
      if (meta->dtype != other->dtype || !adj_device_equal (meta->device, other->device) ||
          !adj_shape_same_sizes (&meta->shape, &other->shape, adj_context_get_symbols (cx)))
        {
          g_autoptr (GString) text = g_string_new ("assigned grad is ");

          adj_tensor_meta_print (other, adj_context_get_symbols (cx), text);
          g_string_append (text, ", the tensor ");
          adj_tensor_meta_print (meta, adj_context_get_symbols (cx), text);
          adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s", text->str);
          return FALSE;
        }
      adj_tensor_ref (grad);
    }
  variable = variable_get (tensor);
  if (variable->grad != NULL)
    adj_tensor_unref (variable->grad);
  variable->grad = grad;
  return TRUE;
}

gboolean
adj_tensor_retain_grad (AdjContext *cx, AdjTensor *tensor)
{
  Variable *variable;

  g_return_val_if_fail (cx != NULL && tensor != NULL, FALSE);

  if (adj_context_has_error (cx))
    return FALSE;
  if (!adj_tensor_get_requires_grad (tensor))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "can't retain_grad on Tensor that has requires_grad=False");
      return FALSE;
    }
  if (!variable_refresh (cx, tensor))
    return FALSE;
  variable = variable_get (tensor);
  if (variable->node != NULL && !variable->retains)
    retain (variable);
  return TRUE;
}

AdjGradNode *
adj_tensor_get_grad_node (const AdjTensor *tensor)
{
  const Variable *variable;

  g_return_val_if_fail (tensor != NULL, NULL);

  variable = variable_find (tensor);
  return variable != NULL ? variable->node : NULL;
}

AdjGradNode *
adj_tensor_get_grad_edge (AdjContext *cx, AdjTensor *tensor, guint *input)
{
  GradEdge edge;

  g_return_val_if_fail (cx != NULL && tensor != NULL, NULL);

  edge = variable_get_edge (cx, tensor);
  if (input != NULL)
    *input = edge.input;
  return edge.node;
}

AdjTensor *
adj_tensor_get_base (const AdjTensor *tensor)
{
  const Variable *variable;

  g_return_val_if_fail (tensor != NULL, NULL);

  variable = variable_find (tensor);
  return variable != NULL ? variable->base : NULL;
}

void
adj_tensor_forbid_write (AdjContext *cx, AdjTensor *tensor)
{
  Variable *variable;
  AdjTensor *base;

  g_return_if_fail (cx != NULL && tensor != NULL);

  variable = variable_get (tensor);
  base = ADJ_APPLY (cx, ADJ_OP_detach, ADJ_TENSOR (tensor));
  if (base == NULL || variable->base != NULL)
    return;
  variable->base = adj_tensor_ref (base);
  variable->creation = VIEW_IN_CUSTOM;
  variable->version = adj_tensor_get_version (tensor);
}

void
adj_tensor_count_turn (AdjTensor *tensor)
{
  Variable *variable;
  guint32 version;

  g_return_if_fail (tensor != NULL);

  variable = variable_find (tensor);
  version = adj_tensor_get_version (tensor);
  adj_tensor_bump_version (tensor);
  if (variable != NULL && variable->version == version)
    variable->version++;
}

void
adj_tensor_uncount_turn (AdjTensor *tensor)
{
  Variable *variable;
  guint32 version;

  g_return_if_fail (tensor != NULL);

  variable = variable_find (tensor);
  version = adj_tensor_get_version (tensor);
  adj_tensor_unbump_version (tensor);
  if (variable != NULL && variable->version == version)
    variable->version--;
}
