/* SPDX-License-Identifier: MIT */
/* Attention of several heads that read one of the keys: as with a copy of the key for each head,
 * whose gradients are added. */

#include "adjoint.h"
#include "support/graphs.h"

#define FLASH "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu"
#define SHARED "\"f32[2, 2, 5, 3][30, 15, 3, 1]cpu\""
#define WHOLE "\"f32[2, 6, 130, 3][2340, 390, 3, 1]cpu\""

static const char *const text =
    "class G(torch.nn.Module):\n"
    "    def forward(self, q: " WHOLE ", g: " WHOLE ", k: " SHARED ", v: " SHARED "):\n"
    "        keys = torch.ops.aten.repeat_interleave.self_int(k, 3, 1)\n"
    "        values = torch.ops.aten.repeat_interleave.self_int(v, 3, 1)\n"
    "        a = " FLASH ".default(q, k, v, 0.0, True)\n"
    "        b = " FLASH ".default(q, keys, values, 0.0, True)\n"
    "        y = a[0]\n"
    "        z = b[0]\n"
    "        l = a[1]\n"
    "        m = b[1]\n"
    "        c = " FLASH "_backward.default(g, q, k, v, y, l, 0.0, True)\n"
    "        d = " FLASH "_backward.default(g, q, keys, values, z, m, 0.0, True)\n"
    "        q1 = c[0]\n"
    "        k1 = c[1]\n"
    "        v1 = c[2]\n"
    "        q2 = d[0]\n"
    "        k2 = d[1]\n"
    "        v2 = d[2]\n"
    "        view = torch.ops.aten.reshape.default(k2, [2, 2, 3, 5, 3])\n"
    "        view_1 = torch.ops.aten.reshape.default(v2, [2, 2, 3, 5, 3])\n"
    "        sum_1 = torch.ops.aten.sum.dim_IntList(view, [2])\n"
    "        sum_2 = torch.ops.aten.sum.dim_IntList(view_1, [2])\n"
    "        sub = torch.ops.aten.sub.Tensor(y, z)\n"
    "        sub_1 = torch.ops.aten.sub.Tensor(l, m)\n"
    "        sub_2 = torch.ops.aten.sub.Tensor(q1, q2)\n"
    "        sub_3 = torch.ops.aten.sub.Tensor(k1, sum_1)\n"
    "        sub_4 = torch.ops.aten.sub.Tensor(v1, sum_2)\n"
    "        return (sub, sub_1, sub_2, sub_3, sub_4)\n";

static void
test_is_a_copy_each (void)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (GError) error = NULL;
  guint n;
  AdjValue *inputs = adj_session_random_inputs (graph, 1, &n, &error);
  AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = n };
  AdjRunResult result;

  g_assert_no_error (error);
  adj_executor_run (adj_executors_get (0), &request, &result, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < result.output.n; i++)
    {
      const AdjTensorData *difference = result.output.items[i].data;
      const double bound = i < 3 ? 0 : 1e-4; /* keys and values: summed in another order */

      for (gint64 k = 0; k < adj_tensor_data_get_numel (difference); k++)
        g_assert_cmpfloat (ABS (adj_tensor_data_get_double (difference, k)), <=, bound);
    }
  adj_run_result_clear (&result);
  adj_session_free_inputs (inputs, n);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/shared-keys/is-a-copy-each", test_is_a_copy_each);
  return g_test_run ();
}
