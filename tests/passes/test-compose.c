/* SPDX-License-Identifier: MIT */
/* The pass compose: joins forward and backward. */

#include <glib.h>
#include <string.h>

#include "adjoint.h"
#include "analysis/adj-aliases.h"
#include "support/graphs.h"

/* y = x·x·n with the size n saved too: saved tensors precede saved sizes, but backward takes
 * sizes first. */
#define FORWARD                                                                                    \
  "class GraphModule(torch.nn.Module):\n"                                                          \
  "    def forward(self, primals_1: \"Sym(s0)\", primals_2: \"f32[s0][1]cpu\"):\n"                 \
  "        mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(primals_2, primals_2)\n"             \
  "        mul_1: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(mul, primals_1)\n"                 \
  "        return (mul_1, primals_2, primals_1)\n"
#define BACKWARD                                                                                   \
  "class GraphModule(torch.nn.Module):\n"                                                          \
  "    def forward(self, primals_1: \"Sym(s0)\", primals_2: \"f32[s0][1]cpu\", "                   \
  "tangents_1: \"f32[s0][1]cpu\"):\n"                                                              \
  "        mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, primals_1)\n"            \
  "        mul_2: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(mul, primals_2)\n"                 \
  "        add: \"f32[s0][1]cpu\" = torch.ops.aten.add.Tensor(mul_2, mul_2)\n"                     \
  "        return (None, add)\n"

static void
test_computes_both (void)
{
  g_autoptr (AdjGraph) forward = adj_test_parse_graph (FORWARD);
  g_autoptr (AdjGraph) backward = adj_test_parse_graph (BACKWARD);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) whole = adj_graph_compose (forward, backward, 1, &error);
  const float values[] = { 1, 2, 3 }, tangents[] = { 1, 10, 100 };
  const gint64 n = 3;
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  g_autoptr (GBytes) x_bytes = g_bytes_new (values, sizeof values);
  g_autoptr (GBytes) t_bytes = g_bytes_new (tangents, sizeof tangents);
  g_autoptr (AdjTensorData) x = NULL;
  g_autoptr (AdjTensorData) t = NULL;
  AdjRunResult result = { 0 };

  g_assert_no_error (error);
  adj_shape_init_ints (&meta.shape, 1, &n);
  x = adj_tensor_data_new (&meta, x_bytes, &error);
  t = adj_tensor_data_new (&meta, t_bytes, &error);
  {
    AdjValue inputs[] = { ADJ_INT (3), ADJ_DATA (x), ADJ_DATA (t) };
    AdjRunRequest request = { .graph = whole, .inputs = inputs, .n_inputs = 3 };

    adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error);
  }
  g_assert_no_error (error);
  g_assert_cmpuint (result.output.n, ==, 3);
  g_assert_cmpfloat (adj_tensor_data_get_double (result.output.items[0].data, 2), ==, 27);
  g_assert_cmpint (result.output.items[1].kind, ==, ADJ_VALUE_NONE);
  g_assert_cmpfloat (adj_tensor_data_get_double (result.output.items[2].data, 2), ==, 1800);
  adj_run_result_clear (&result);
}

static void
test_refuses_misfits (void)
{
  g_autoptr (AdjGraph) forward = adj_test_parse_graph (FORWARD);
  g_autoptr (AdjGraph) backward = adj_test_parse_graph (BACKWARD);
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_graph_compose (forward, backward, 2, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "saves 1 values, the backward graph takes 2"));
}

/* Each graph numbers its storages: storage 2 of forward is the saved one, storage 2 of backward
 * is another; the handed-over tensor has a single storage. */
static void
test_keeps_storages_apart (void)
{
  g_autoptr (AdjGraph) forward = adj_test_parse_graph (
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, primals_1: \"f32[2][1]cpu\"):\n"
      "        sin: \"f32[2][1]cpu\" = torch.ops.aten.sin.default(primals_1)  # adj: {alias: 1}\n"
      "        cos: \"f32[2][1]cpu\" = torch.ops.aten.cos.default(primals_1)  # adj: {alias: 2}\n"
      "        return (sin, cos)\n");
  g_autoptr (AdjGraph) backward = adj_test_parse_graph (
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, cos: \"f32[2][1]cpu\", tangents_1: \"f32[2][1]cpu\"):\n"
      "        # adj: cos {alias: 0}\n"
      "        # adj: tangents_1 {alias: 1}\n"
      "        detach: \"f32[2][1]cpu\" = torch.ops.aten.detach.default(cos)  # adj: {alias: 0}\n"
      "        mul: \"f32[2][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, detach)  # adj: "
      "{alias: 2}\n"
      "        return (mul,)\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) whole = adj_graph_compose (forward, backward, 1, &error);
  const AdjAlias *aliases;

  g_assert_no_error (error);
  aliases = adj_graph_get_aliases (whole);
  for (guint i = 0; i < adj_graph_get_n_nodes (whole) - 1; i++)
    g_assert_cmpstr (adj_graph_get_node (whole, aliases[i].must)->name, ==,
                     g_str_equal (adj_graph_get_node (whole, i)->name, "detach")
                         ? "cos"
                         : adj_graph_get_node (whole, i)->name);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/compose/computes-both", test_computes_both);
  g_test_add_func ("/passes/compose/refuses-misfits", test_refuses_misfits);
  g_test_add_func ("/passes/compose/keeps-storages-apart", test_keeps_storages_apart);
  return g_test_run ();
}
