/* SPDX-License-Identifier: MIT */
/* The pass cse, against PyTorch's. */

#include <glib.h>

#include "adjoint.h"
#include "passes/adj-pass-internal.h"
#include "support/graphs.h"

/* What fx_graph_cse of PyTorch 2.6 keeps of the same graphs, except that a random operator
 * (randn_like), which it merges wrongly, is kept. */

#define HEAD                                                                                       \
  "class GraphModule(torch.nn.Module):\n"                                                          \
  "    def forward(self, x: \"f32[4, 4][4, 1]cpu\", y: \"f32[4, 4][4, 1]cpu\"):\n"

static AdjGraph *
run_cse (const char *body, AdjPassResult *result)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strconcat (HEAD, body, NULL);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);

  adj_pass_run (&adj_pass_cse, NULL, graph, result, &error);
  g_assert_no_error (error);
  return result->graph;
}

static void
check_left (const char *body, const char *names)
{
  AdjPassResult result;
  AdjGraph *graph = run_cse (body, &result);
  g_autoptr (GString) left = g_string_new (NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_CALL_FUNCTION)
      g_string_append_printf (left, "%s%s", left->len > 0 ? " " : "",
                              adj_graph_get_node (graph, i)->name);
  g_assert_cmpstr (left->str, ==, names);
  adj_pass_result_clear (&result);
}

static void
test_merges (void)
{
  AdjPassResult result;
  AdjGraph *graph = run_cse ("        sin = torch.ops.aten.sin.default(x)\n"
                             "        sin_1 = torch.ops.aten.sin.default(x)\n"
                             "        cos = torch.ops.aten.cos.default(sin_1)\n"
                             "        cos_1 = torch.ops.aten.cos.default(sin)\n"
                             "        mul = torch.ops.aten.mul.Tensor(cos, cos_1)\n"
                             "        return (mul,)\n",
                             &result);
  const AdjNode *mul = adj_graph_get_node (graph, adj_graph_find_node (graph, "mul").index);

  g_assert_cmpuint (adj_graph_get_n_calls (graph), ==, 3);
  g_assert_cmpuint (mul->n_inputs, ==, 1);
  g_assert_cmpstr (adj_graph_get_node (graph, mul->inputs[0].index)->name, ==, "cos");
  g_assert_cmpuint (result.n_notes, ==, 2);
  g_assert_cmpuint (result.notes[0].before.index, ==, 3);
  g_assert_cmpuint (result.notes[0].after.index, ==, 2);
  g_assert_cmpstr (result.notes[0].reason, ==, "the same call as sin");
  adj_pass_result_clear (&result);
}

static void
test_types_of_numbers (void)
{
  check_left ("        mul = torch.ops.aten.mul.Tensor(x, 1)\n"
              "        mul_1 = torch.ops.aten.mul.Tensor(x, 1.0)\n"
              "        mul_2 = torch.ops.aten.mul.Tensor(x, 1)\n"
              "        add = torch.ops.aten.add.Tensor(mul, mul_1)\n"
              "        add_1 = torch.ops.aten.add.Tensor(add, mul_2)\n"
              "        return (add_1,)\n",
              "mul mul_1 add add_1");
}

static void
test_outputs_stay (void)
{
  check_left ("        sin = torch.ops.aten.sin.default(x)\n"
              "        view = torch.ops.aten.view.default(sin, [16])\n"
              "        sin_1 = torch.ops.aten.sin.default(x)\n"
              "        view_1 = torch.ops.aten.view.default(sin_1, [16])\n"
              "        cos = torch.ops.aten.cos.default(view_1)\n"
              "        return (view, cos)\n",
              "sin view sin_1 view_1 cos");
}

/* Only the returned item is an output; the call that computed all items is not. */
static void
test_items (void)
{
  check_left ("        max_1 = torch.ops.aten.max.dim(x, 1)\n"
              "        getitem = max_1[0]\n"
              "        max_2 = torch.ops.aten.max.dim(x, 1)\n"
              "        getitem_1 = max_2[1]\n"
              "        max_3 = torch.ops.aten.max.dim(x, 1)\n"
              "        getitem_2 = max_3[1]\n"
              "        add = torch.ops.aten.add.Tensor(getitem_1, getitem_2)\n"
              "        return (getitem, add)\n",
              "max_1 getitem getitem_1 add");
}

static void
test_random_stays (void)
{
  check_left ("        randn_like = torch.ops.aten.randn_like.default(x)\n"
              "        randn_like_1 = torch.ops.aten.randn_like.default(x)\n"
              "        mul = torch.ops.aten.mul.Tensor(randn_like, randn_like_1)\n"
              "        return (mul,)\n",
              "randn_like randn_like_1 mul");
}

static void
test_writes_divide (void)
{
  check_left ("        sin = torch.ops.aten.sin.default(x)\n"
              "        copy_ = torch.ops.aten.copy_.default(x, y)\n"
              "        sin_1 = torch.ops.aten.sin.default(x)\n"
              "        mul = torch.ops.aten.mul.Tensor(sin, sin_1)\n"
              "        return (mul,)\n",
              "sin copy_ sin_1 mul");
}

/* Graphs captured by Dynamo: products inside and outside of autocast, sums before and after a
 * write, are not merged. */
static void
test_settings_part (void)
{
  check_left ("        enter = torch.amp.autocast_mode._enter_autocast('cpu', None, True, None)\n"
              "        narrow = x @ y\n"
              "        leave = torch.amp.autocast_mode._exit_autocast(enter)\n"
              "        wide = x @ y\n"
              "        again = x @ y\n"
              "        add_ = x.add_(1)\n"
              "        other = x @ y\n"
              "        y += 1;  iadd = y\n"
              "        last = x @ y\n"
              "        sum_1 = narrow + wide\n"
              "        sum_2 = again + other\n"
              "        sum_3 = sum_1 + sum_2\n"
              "        sum_4 = sum_3 + last\n"
              "        return (sum_4,)\n",
              "enter narrow leave wide other iadd last sum_1 sum_2 sum_3 sum_4");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/cse/merges", test_merges);
  g_test_add_func ("/passes/cse/int-is-not-float", test_types_of_numbers);
  g_test_add_func ("/passes/cse/outputs-stay", test_outputs_stay);
  g_test_add_func ("/passes/cse/items", test_items);
  g_test_add_func ("/passes/cse/settings-part", test_settings_part);
  g_test_add_func ("/passes/cse/random-stays", test_random_stays);
  g_test_add_func ("/passes/cse/writes-divide", test_writes_divide);
  return g_test_run ();
}
