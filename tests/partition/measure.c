/* SPDX-License-Identifier: MIT */
#include "partition-test.h"

/* @graph, which also returns its placeholders: so these live to the end. */
static AdjGraph *
pin (AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autoptr (AdjBuilder) builder = adj_builder_new ("pinned", adj_graph_get_symbols (graph));
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n);
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_autoptr (GError) error = NULL;
  const AdjValue *outputs = &adj_graph_get_node (graph, n - 1)->args.items[0];
  AdjValue all = { .kind = ADJ_VALUE_TUPLE };
  AdjGraph *whole;

  for (guint i = 0; i + 1 < n; i++)
    adj_builder_copy (builder, graph, i, map);
  for (guint i = 0; i < outputs->n; i++)
    {
      AdjValue item = outputs->items[i];

      if (item.kind == ADJ_VALUE_NODE)
        item = ADJ_NODE (map[item.node.index]);
      g_array_append_val (items, item);
    }
  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    {
      AdjValue item = ADJ_NODE (map[adj_graph_get_input (graph, i).index]);

      g_array_append_val (items, item);
    }
  all.n = items->len;
  all.items = (AdjValue *) (gpointer) items->data;
  adj_builder_output (builder, &all);
  whole = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  return whole;
}

guint64
partition_measure_peak (const AdjPartition *partition,
                        const AdjValue *inputs,
                        guint n_inputs,
                        const AdjValue *rng)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) whole = adj_graph_compose (partition->forward, partition->backward,
                                                  partition->num_fwd_outputs, &error);
  g_autoptr (AdjGraph) pinned = pin (whole);
  AdjRunRequest request = { .graph = pinned, .inputs = inputs, .n_inputs = n_inputs, .rng = rng };
  AdjRunResult result = { 0 };
  guint64 peak;

  g_assert_no_error (error);
  adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error);
  g_assert_no_error (error);
  peak = result.peak_bytes;
  for (guint i = 0; i < n_inputs; i++)
    if (inputs[i].kind == ADJ_VALUE_DATA)
      peak -= g_bytes_get_size (adj_tensor_data_get_bytes (inputs[i].data));
  adj_run_result_clear (&result);
  return peak;
}
