/* SPDX-License-Identifier: MIT */
/* Anomaly mode: finds the first NaN of a backward and names the forward call of the node. */

#include "autograd/autograd-private.h"
#include "ops/adj-op-id.h"

static void
print_forward (const AdjGradNode *node, GString *out)
{
  const AdjPlace *place = &node->place;

  if (place->stack_trace != NULL)
    g_string_append (out, place->stack_trace);
  else if (place->file != NULL)
    g_string_append_printf (out, "%s:%u", place->file, place->line);
  else
    g_string_append (out, "no place is known");
}

void
anomaly_explain (AdjContext *cx, const AdjGradNode *node)
{
  const AdjPlace before = *adj_context_get_place (cx);
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = NULL;

  if (!adj_context_take_error (cx, &error))
    return;
  text = g_string_new (error->message);
  g_string_append_printf (
      text, "\nError detected in %s. Traceback of forward call that caused the error:\n",
      node->name);
  print_forward (node, text);
  for (node = node->induced_by; node != NULL; node = node->induced_by)
    {
      g_string_append_printf (text,
                              "\nPrevious calculation was induced by %s. Traceback of forward call "
                              "that induced the previous calculation:\n",
                              node->name);
      print_forward (node, text);
    }
  adj_context_set_place (cx, NULL);
  adj_context_fail (cx, error->domain, error->code, "%s", text->str);
  adj_context_set_place (cx, &before);
}

/* A tensor has NaN if x != x anywhere.  Fake tensors have no values. */
static gboolean
has_nan (AdjContext *cx, AdjTensor *tensor)
{
  g_autoptr (AdjTensorData) data = NULL;
  AdjTensor *differs;
  gboolean enabled;

  if (adj_storage_is_fake (adj_tensor_get_storage (tensor)))
    return FALSE;
  enabled = adj_context_set_grad_enabled (cx, FALSE);
  differs = ADJ_APPLY (cx, ADJ_OP_ne_Tensor, ADJ_TENSOR (tensor), ADJ_TENSOR (tensor));
  if (differs != NULL)
    differs = ADJ_APPLY (cx, ADJ_OP_any, ADJ_TENSOR (differs));
  adj_context_set_grad_enabled (cx, enabled);
  if (differs != NULL)
    data = adj_tensor_snapshot (differs);
  return data != NULL && adj_tensor_data_get_double (data, 0) != 0;
}

gboolean
anomaly_check (AdjContext *cx,
               const Autograd *autograd,
               const AdjGradNode *node,
               AdjTensor *const *out)
{
  const AdjAutogradFlags flags = autograd->flags;
  gboolean found = FALSE;

  if ((flags & ADJ_AUTOGRAD_ANOMALY) == 0 || (flags & ADJ_AUTOGRAD_NO_NAN_CHECK) != 0)
    return TRUE;
  adj_scope_begin (cx);
  for (guint i = 0; i < node->n_edges && !found; i++)
    {
      found = out[i] != NULL && has_nan (cx, out[i]);
      if (found)
        adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                          "Function '%s' returned nan values in its %uth output.", node->name, i);
    }
  adj_scope_end (cx);
  return !adj_context_has_error (cx);
}
