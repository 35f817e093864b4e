/* SPDX-License-Identifier: MIT */

/* Differentiates a C function eagerly, then traces it and its gradient as one joint graph. */

#include <adjoint.h>
#include <stdio.h>
#include <wrappers/adj-wrappers.h>

/* sum (tanh (w · x)) */
static gboolean
score (AdjFunction *self, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjTensor *y = adj_sum (cx, adj_tanh (cx, adj_mul (cx, args[0].tensor, args[1].tensor)));

  *result = ADJ_TENSOR (adj_keep (y));
  return !adj_context_has_error (cx);
}

int
main (void)
{
  static const AdjFunctionClass score_class = { .name = "score", .call = score };
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (AdjFunction) function = adj_function_new (&score_class, sizeof (AdjFunction));
  AdjTensor *w = adj_from_array (cx, ADJ_DTYPE_F32, (gint64[]){ 2 }, 1, (float[]){ 0.5f, -1 });
  AdjTensor *x = adj_from_array (cx, ADJ_DTYPE_F32, (gint64[]){ 2 }, 1, (float[]){ 1, 2 });
  const AdjValue args[] = { ADJ_TENSOR (w), ADJ_TENSOR (x) };
  g_auto (AdjValue) y = ADJ_NONE;
  g_autoptr (AdjAotGraph) joint = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  AdjTensor *grad = NULL;

  adj_tensor_set_requires_grad (cx, w, TRUE);
  if (adj_function_call (function, cx, args, 2, &y))
    adj_grad (cx, &(AdjGradRoots){ .tensors = &y.tensor, .n = 1 }, &w, 1, 0, &grad);
  if (grad != NULL)
    {
      g_autoptr (AdjTensorData) data = adj_tensor_snapshot (grad);

      text = adj_tensor_data_print (data, 10);
      printf ("gradient of w: %s\n", text);
      g_clear_pointer (&text, g_free);
    }
  if (!adj_context_take_error (cx, &error))
    joint = adj_aot_trace (function, args, 2, NULL, NULL, &error);
  if (joint == NULL)
    return fprintf (stderr, "%s\n", error->message), 1;
  text = adj_graph_print (adj_aot_graph_get_graph (joint),
                          ADJ_PRINT_NO_COMMENTS | ADJ_PRINT_NO_METADATA, NULL);
  printf ("%s", text);
  return 0;
}
