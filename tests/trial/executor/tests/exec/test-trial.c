/* SPDX-License-Identifier: MIT */
/* The trial executor computes what the interpreter computes. */

#include "adjoint.h"
#include "support/graphs.h"

static void
computes (void)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph ("class GraphModule(torch.nn.Module):\n"
                                                     "    def forward(self, x: \"f32[2][1]cpu\"):\n"
                                                     "        neg = torch.ops.aten.neg.default(x)\n"
                                                     "        return (neg,)\n");
  const float numbers[] = { 1, 2 };
  const gint64 sizes[] = { 2 };
  g_autoptr (AdjTensorData) x =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes, 1, numbers, NULL);
  AdjValue input = ADJ_DATA (x);
  const AdjRunRequest request = { .graph = graph, .inputs = &input, .n_inputs = 1 };
  AdjRunResult result = { 0 };
  g_autoptr (GError) error = NULL;
  const AdjExecutor *executor = adj_executor_find ("trial", &error);

  g_assert_no_error (error);
  adj_executor_run (executor, &request, &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (adj_tensor_data_get_double (result.output.items[0].data, 1), ==, -2);
  adj_run_result_clear (&result);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/exec/trial/computes", computes);

  return g_test_run ();
}
