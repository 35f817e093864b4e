/* SPDX-License-Identifier: MIT */
/* Makes a bundle with one large tensor. */

#include "support/large-bundle.h"

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"

AdjBundle *
adj_test_large_bundle (gsize n_bytes)
{
  const gint64 size[] = { (gint64) n_bytes / 4 };
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (GBytes) zeros = g_bytes_new_take (g_malloc0 (n_bytes), n_bytes);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjTensorData) data = NULL;
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  g_autoptr (AdjGraph) graph =
      adj_graph_parse ("class G(torch.nn.Module):\n    def forward(self, x):\n        return x\n",
                       -1, adj_op_find, NULL, &error);
  AdjBundleGraph entry = { .id = "g", .graph = graph, .rank = -1 };
  AdjRecordedCall call = { .n_inputs = 1 };
  AdjValue input;

  g_assert_no_error (error);
  adj_shape_init_ints (&meta.shape, 1, size);
  data = adj_tensor_data_new (&meta, zeros, &error);
  g_assert_no_error (error);
  input = ADJ_DATA (data);
  call.inputs = &input;
  g_assert_true (adj_bundle_builder_add_graph (builder, &entry, NULL));
  g_assert_true (adj_bundle_builder_add_call (builder, &call, "g", NULL));
  return adj_bundle_builder_end (builder, NULL);
}
