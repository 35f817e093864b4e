/* SPDX-License-Identifier: MIT */
/* An LSTM layer as a single call gives the results of its decomposition into steps, in both
 * directions. */

#include "adjoint.h"
#include "support/graphs.h"

static void
assert_small (const AdjTensorData *difference)
{
  for (gint64 i = 0; i < adj_tensor_data_get_numel (difference); i++)
    g_assert_cmpfloat (ABS (adj_tensor_data_get_double (difference, i)), <, 1e-6);
}

static void
is_an_lstm (gconstpointer reverse)
{
  const gboolean reversed = GPOINTER_TO_INT (reverse);
  g_autofree char *text = g_strdup_printf (
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[4, 2, 3][6, 3, 1]cpu\", w: \"f32[8, 3][3, 1]cpu\", v: "
      "\"f32[8, 2][2, 1]cpu\", b: \"f32[8][1]cpu\", d: \"f32[8][1]cpu\", h: \"f32[1, 2, 2][4, 2, "
      "1]cpu\", c: \"f32[1, 2, 2][4, 2, 1]cpu\"):\n"
      "        layer = torch.ops.aten.mkldnn_rnn_layer.default(x, w, v, b, d, h, c, %s, [], 2, 2, "
      "1, True, False, False, False)\n"
      "        y = layer[0]\n"
      "        last = layer[1]\n"
      "        cell = layer[2]\n"
      "        turned = torch.ops.aten.flip.default(x, [0])\n"
      "        lstm = torch.ops.aten.lstm.input(%s, [h, c], [w, v, b, d], True, 1, 0.0, False, "
      "False, False)\n"
      "        states = lstm[0]\n"
      "        back = torch.ops.aten.flip.default(states, [0])\n"
      "        hidden = lstm[1]\n"
      "        kept = lstm[2]\n"
      "        sub = torch.ops.aten.sub.Tensor(y, %s)\n"
      "        sub_1 = torch.ops.aten.sub.Tensor(last, hidden)\n"
      "        sub_2 = torch.ops.aten.sub.Tensor(cell, kept)\n"
      "        return (sub, sub_1, sub_2)\n",
      reversed ? "True" : "False", reversed ? "turned" : "x", reversed ? "back" : "states");
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (GError) error = NULL;
  guint n;
  AdjValue *inputs = adj_session_random_inputs (graph, 1, &n, &error);
  AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = n };
  AdjRunResult result;

  g_assert_no_error (error);
  adj_executor_run (adj_executors_get (0), &request, &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (result.output.n, ==, 3);
  for (guint i = 0; i < result.output.n; i++)
    assert_small (result.output.items[i].data);
  adj_run_result_clear (&result);
  adj_session_free_inputs (inputs, n);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/ops/lstm-layer/forward", GINT_TO_POINTER (FALSE), is_an_lstm);
  g_test_add_data_func ("/ops/lstm-layer/reverse", GINT_TO_POINTER (TRUE), is_an_lstm);
  return g_test_run ();
}
