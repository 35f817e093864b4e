/* SPDX-License-Identifier: MIT */
/* Shared by the tests of partitioners: running, printing, comparing. */

#include "partition-test.h"

#include <string.h>

#include "ir/adj-graph.h"
#include "support/adj-test.h"

const char *const partition_captures[] = {
  "mlp", "gpt2", "gpt2-inductor", "resnet-block", "llama", "lstm", "sac", "dropout", "unet", NULL,
};

AdjPartitionOptions
partition_options (AdjBundle *bundle)
{
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  options.num_fwd_outputs = adj_bundle_find_region (bundle, joint)->num_fwd_outputs;
  return options;
}

AdjPartition *
partition_run (const char *partitioner, AdjGraph *joint, const AdjPartitionOptions *options)
{
  g_autoptr (GError) error = NULL;
  AdjPartition *partition =
      adj_partition (adj_partitioner_find (partitioner, NULL), joint, options, &error);

  g_assert_no_error (error);
  return partition;
}

char *
partition_print_saved (const AdjPartition *partition)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < partition->n_saved; i++)
    if (partition->saved[i].kind != ADJ_SAVED_RNG_STATE)
      g_string_append_printf (
          text, "%s%s", text->len > 0 ? " " : "",
          adj_graph_get_node (partition->joint, partition->saved[i].node.index)->name);
  return g_string_free (text, FALSE);
}

char *
partition_print_decided (const AdjPartition *partition, AdjDecisionKind kind)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (partition->joint); i++)
    if (partition->nodes[i].kind == kind)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "",
                              adj_graph_get_node (partition->joint, i)->name);
  return g_string_free (text, FALSE);
}

AdjValue
partition_interpret (AdjGraph *graph, const AdjValue *inputs, guint n_inputs, const AdjValue *rng)
{
  g_autoptr (GError) error = NULL;
  AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = n_inputs, .rng = rng };
  AdjRunResult result = { 0 };
  AdjValue output;

  adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error);
  g_assert_no_error (error);
  output = adj_value_steal (&result.output);
  adj_run_result_clear (&result);
  return output;
}

static void
assert_same_tensor (const AdjValue *a, const AdjValue *b, const char *what)
{
  g_autoptr (AdjTensorData) x = adj_tensor_data_contiguous (a->data);
  g_autoptr (AdjTensorData) y = adj_tensor_data_contiguous (b->data);
  AdjTensorDifference difference;

  adj_tensor_compare (x, y, &difference);
  if (!difference.same_shape || !difference.same_dtype || difference.max_abs != 0 ||
      difference.n_class_mismatch != 0)
    g_error ("%s: %g", what, difference.max_abs);
  for (gint64 i = 0; i < adj_tensor_data_get_numel (x); i++)
    {
      double p = adj_tensor_data_get_double (x, i), q = adj_tensor_data_get_double (y, i);

      g_assert_cmpmem (&p, sizeof p, &q, sizeof q);
    }
}

void
partition_assert_same_bits (const AdjValue *a, const AdjValue *b, const char *what)
{
  g_assert_cmpint (a->kind, ==, b->kind);
  if (a->kind == ADJ_VALUE_DATA)
    assert_same_tensor (a, b, what);
  else if (!adj_value_is_container (a))
    g_assert_true (adj_value_equal (a, b));
  else
    {
      g_assert_cmpuint (a->n, ==, b->n);
      for (guint i = 0; i < a->n; i++)
        partition_assert_same_bits (&a->items[i], &b->items[i], what);
    }
}

void
partition_assert_equals_joint (const AdjPartition *partition,
                               const AdjValue *inputs,
                               guint n_inputs,
                               const AdjValue *rng)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) whole = adj_graph_compose (partition->forward, partition->backward,
                                                  partition->num_fwd_outputs, &error);
  g_auto (AdjValue) expected = ADJ_NONE;
  g_auto (AdjValue) got = ADJ_NONE;

  g_assert_no_error (error);
  expected = partition_interpret (partition->joint, inputs, n_inputs, rng);
  got = partition_interpret (whole, inputs, n_inputs, rng);
  g_assert_cmpuint (expected.n, ==, got.n);
  for (guint i = 0; i < got.n; i++)
    {
      g_autofree char *what = g_strdup_printf ("%s, output %u", partition->partitioner, i);

      partition_assert_same_bits (&got.items[i], &expected.items[i], what);
    }
}
