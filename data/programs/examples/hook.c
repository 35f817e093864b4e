/* SPDX-License-Identifier: MIT */

/* Hooks that observe and change a backward: one clips the gradient of a tensor, one counts the
 * nodes that run, and one runs after a leaf has its gradient. */

#include <adjoint.h>
#include <stdio.h>
#include <wrappers/adj-wrappers.h>

static AdjTensor *
clip (AdjContext *cx, AdjTensor *grad, gpointer data)
{
  printf ("%s: clipped from %.1f\n", (char *) data, adj_item (cx, adj_amax (cx, grad, NULL, 0, 0)));
  return adj_clamp (cx, grad, ADJ_INT (-1), ADJ_INT (1));
}

static void
after_node (AdjContext *cx,
            AdjTensor **grads,
            guint n_grads,
            AdjTensor *const *results,
            guint n_results,
            gpointer data)
{
  printf ("%s gave %u gradients\n", adj_grad_node_get_name (data), n_grads);
}

static void
has_gradient (AdjContext *cx, AdjTensor *leaf, gpointer data)
{
  printf ("%s: gradient %.1f\n", (char *) data, adj_item (cx, adj_tensor_get_grad (leaf)));
}

int
main (void)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  AdjTensor *x = adj_full (cx, (gint64[]){ 1 }, 1, ADJ_FLOAT (3)), *y;
  AdjGradNode *made_y = NULL;
  g_autoptr (AdjHook) on_y = NULL, on_x = NULL, on_node = NULL;
  g_autoptr (GError) error = NULL;

  adj_tensor_set_requires_grad (cx, x, TRUE);
  y = adj_mul (cx, x, x);
  if (y != NULL)
    {
      made_y = adj_tensor_get_grad_node (y);
      on_y = adj_tensor_add_hook (cx, y, clip, "y");
      on_x = adj_tensor_add_leaf_hook (cx, x, has_gradient, "x");
      on_node = adj_grad_node_add_post_hook (made_y, after_node, made_y);
      adj_tensor_backward (cx, adj_sum (cx, adj_mul (cx, y, y)));
    }
  if (!adj_context_take_error (cx, &error))
    return 0;
  return fprintf (stderr, "%s\n", error->message), 1;
}
