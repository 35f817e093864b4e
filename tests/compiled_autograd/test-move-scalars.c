/* SPDX-License-Identifier: MIT */
/* CPU scalars are moved to the GPU if other inputs are there (compiled_autograd/SPEC.md §6.4). */

#include "compiled_autograd/compiled-private.h"
#include "ir/adj-graph.h"
#include "support/graphs.h"

#define GRAPH(device, last)                                                                        \
  "class CompiledAutograd(torch.nn.Module):\n"                                                     \
  "    def forward(self, inputs, sizes, scalars, hooks):\n"                                        \
  "        getitem: \"f32[3][1]" device "\" = inputs[0]\n"                                         \
  "        getitem_1: \"i64[][]cpu\" = inputs[1]\n"                                                \
  "        getitem_2: \"f32[][]cpu\" = inputs[2]\n"                                                \
  "        getitem_3: \"f32[2][1]cpu\" = inputs[3]\n"                                              \
  "        mul: \"f32[3][1]" device "\" = torch.ops.aten.mul.Tensor(getitem, getitem_1)\n"         \
  "        add: \"f32[2][1]cpu\" = torch.ops.aten.add.Tensor(getitem_3, 1)\n"                      \
  "        call_backward = torch__dynamo_external_utils_call_backward(mul, (), " last ")\n"        \
  "        return []\n"

static AdjGraph *
move (const char *text, GArray *moved)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (GError) error = NULL;
  AdjGraph *result = move_scalars (graph, moved, &error);

  g_assert_no_error (error);
  return result;
}

static AdjDeviceType
device_of (const AdjGraph *graph, const char *name)
{
  AdjNodeId id = adj_graph_find_node (graph, name);

  return adj_graph_get_node (graph, id.index)->val.meta->device.type;
}

/* Scalars that a custom function reads are not moved. */
static void
test_moved (void)
{
  g_autoptr (GArray) moved = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (AdjGraph) graph = move (GRAPH ("cuda:0", "getitem_2"), moved);

  g_assert_cmpuint (moved->len, ==, 1);
  g_assert_cmpuint (g_array_index (moved, guint, 0), ==, 1);
  g_assert_cmpint (device_of (graph, "getitem_1"), ==, ADJ_DEVICE_CUDA);
  g_assert_cmpint (device_of (graph, "getitem_2"), ==, ADJ_DEVICE_CPU);
  g_assert_cmpint (device_of (graph, "getitem_3"), ==, ADJ_DEVICE_CPU);
}

static void
test_no_gpu (void)
{
  g_autoptr (GArray) moved = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (AdjGraph) graph = move (GRAPH ("cpu", "mul"), moved);

  g_assert_cmpuint (moved->len, ==, 0);
  g_assert_cmpint (device_of (graph, "getitem_1"), ==, ADJ_DEVICE_CPU);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compiled-autograd/2.13/moved", test_moved);
  g_test_add_func ("/compiled-autograd/2.13/no-gpu", test_no_gpu);
  return g_test_run ();
}
