/* SPDX-License-Identifier: MIT */
#include <adjoint.h>
#include <stdio.h>

int
main (void)
{
  g_autoptr (AdjContext) cx = adj_program_context_new ();
  AdjTensor *x = adj_full (cx, (gint64[]){ 3 }, 1, ADJ_FLOAT (2)), *y;

  adj_tensor_set_requires_grad (cx, x, TRUE);
  y = adj_sum (cx, adj_mul (cx, x, adj_sin (cx, x)));
  adj_backward (cx, &(AdjGradRoots){ .tensors = &y, .n = 1 }, NULL, 0, 0);
  printf ("y %.4f, dy %.4f\n", adj_item (cx, y),
          adj_item (cx, adj_sum (cx, adj_tensor_get_grad (x))));
  return adj_context_has_error (cx);
}
