/* SPDX-License-Identifier: MIT */
/* The pass constant-fold. */

#include <glib.h>

#include "adjoint.h"
#include "passes/adj-pass-internal.h"
#include "support/graphs.h"

#define HEAD                                                                                       \
  "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[3, 3][3, 1]cpu\"):\n"

static AdjGraph *
fold (const char *body)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strconcat (HEAD, body, NULL);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  AdjPassResult result;
  AdjGraph *folded;

  adj_pass_run (&adj_pass_constant_fold, NULL, graph, &result, &error);
  g_assert_no_error (error);
  folded = adj_graph_ref (result.graph);
  adj_pass_result_clear (&result);
  return folded;
}

static const AdjNode *
find (const AdjGraph *graph, const char *name)
{
  AdjNodeId id = adj_graph_find_node (graph, name);

  return adj_node_id_is_valid (id) ? adj_graph_get_node (graph, id.index) : NULL;
}

/* The lower triangle of a mask, which depends only on its size. */
static void
test_mask (void)
{
  g_autoptr (AdjGraph) graph = fold (
      "        arange: \"i64[3][1]cpu\" = torch.ops.aten.arange.default(3)\n"
      "        unsqueeze: \"i64[1, 3][3, 1]cpu\" = torch.ops.aten.unsqueeze.default(arange, 0)\n"
      "        unsqueeze_1: \"i64[3, 1][1, 1]cpu\" = torch.ops.aten.unsqueeze.default(arange, 1)\n"
      "        le: \"b8[3, 3][3, 1]cpu\" = torch.ops.aten.le.Tensor(unsqueeze, unsqueeze_1)\n"
      "        mul: \"f32[3, 3][3, 1]cpu\" = torch.ops.aten.mul.Tensor(x, le)\n"
      "        return (mul,)\n");
  const AdjNode *le = find (graph, "le");
  const AdjValue *value;
  const guint8 *bytes;

  g_assert_true (le != NULL && le->opcode == ADJ_OPCODE_GET_ATTR);
  g_assert_cmpuint (le->origin.index, ==, 4);
  g_assert_null (find (graph, "arange"));
  g_assert_null (find (graph, "unsqueeze"));
  value = adj_graph_find_attr (graph, le->target);
  g_assert_cmpint (value->kind, ==, ADJ_VALUE_DATA);
  bytes = g_bytes_get_data (adj_tensor_data_get_bytes (value->data), NULL);
  for (guint i = 0; i < 9; i++)
    g_assert_cmpuint (bytes[i], ==, i % 3 <= i / 3);
}

static void
check_stays (const char *body, const char *name)
{
  g_autoptr (AdjGraph) graph = fold (body);

  const AdjNode *node = find (graph, name);

  g_assert_true (node != NULL && node->opcode == ADJ_OPCODE_CALL_FUNCTION);
}

static void
test_stays (void)
{
  check_stays ("        full: \"f32[3][1]cpu\" = torch.ops.aten.full.default([3], 2)\n"
               "        mul: \"f32[3, 3][3, 1]cpu\" = torch.ops.aten.mul.Tensor(x, full)\n"
               "        return (mul,)\n",
               "full");
  check_stays ("        rand: \"f32[3][1]cpu\" = torch.ops.aten.rand.default([3])\n"
               "        neg: \"f32[3][1]cpu\" = torch.ops.aten.neg.default(rand)\n"
               "        mul: \"f32[3, 3][3, 1]cpu\" = torch.ops.aten.mul.Tensor(x, neg)\n"
               "        return (mul,)\n",
               "neg");
  check_stays ("        full: \"f32[4096, 4096][4096, 1]cpu\" = torch.ops.aten.full.default([4096, "
               "4096], 2)\n"
               "        neg: \"f32[4096, 4096][4096, 1]cpu\" = torch.ops.aten.neg.default(full)\n"
               "        sum_1: \"f32[][]cpu\" = torch.ops.aten.sum.default(neg)\n"
               "        mul: \"f32[3, 3][3, 1]cpu\" = torch.ops.aten.mul.Tensor(x, sum_1)\n"
               "        return (mul,)\n",
               "neg");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/constant-fold/mask", test_mask);
  g_test_add_func ("/passes/constant-fold/stays", test_stays);
  return g_test_run ();
}
