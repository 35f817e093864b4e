/* SPDX-License-Identifier: MIT */

/* An operation with its own backward: exp, which saves its result. */

#include <adjoint.h>
#include <stdio.h>
#include <wrappers/adj-wrappers.h>

static gboolean
forward (AdjCustomCall *call,
         AdjTensor *const *inputs,
         guint n_inputs,
         AdjTensor **outputs,
         guint n_outputs)
{
  outputs[0] = adj_exp (adj_custom_call_get_context (call), inputs[0]);
  adj_custom_call_save (call, outputs, 1);
  return outputs[0] != NULL;
}

static gboolean
backward (AdjCustomCall *call,
          AdjTensor *const *grads,
          guint n_grads,
          AdjTensor **grad_inputs,
          guint n_inputs)
{
  AdjTensor *y = adj_custom_call_get_saved (call, 0);

  grad_inputs[0] = adj_mul (adj_custom_call_get_context (call), grads[0], y);
  return grad_inputs[0] != NULL;
}

int
main (void)
{
  static const AdjCustomClass my_exp = { .name = "MyExp",
                                         .forward = forward,
                                         .backward = backward };
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  AdjTensor *x = adj_full (cx, (gint64[]){ 2 }, 1, ADJ_FLOAT (1)), *y = NULL;
  g_autoptr (GError) error = NULL;

  adj_tensor_set_requires_grad (cx, x, TRUE);
  if (adj_custom_apply (cx, &my_exp, NULL, NULL, &x, 1, &y, 1))
    {
      printf ("made by %s\n", adj_grad_node_get_name (adj_tensor_get_grad_node (y)));
      if (adj_tensor_backward (cx, adj_sum (cx, y)))
        printf ("the gradient sums to %.4f\n",
                adj_item (cx, adj_sum (cx, adj_tensor_get_grad (x))));
    }
  if (!adj_context_take_error (cx, &error))
    return 0;
  fprintf (stderr, "%s\n", error->message);
  return 1;
}
