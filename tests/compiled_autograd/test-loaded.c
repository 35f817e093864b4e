/* SPDX-License-Identifier: MIT */
/* Captured backwards read from a file: they run on lists of inputs, report which leaf
 * accumulates what, and replace a call of a hook of another process by its recorded result, or
 * refuse. */

#include <math.h>
#include <string.h>

#include "builtin-programs.h"
#include "compiled_autograd/capture.h"
#include "ir/adj-graph.h"
#include "session/adj-wanted-gradients.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static AdjBundle *
load (const char *name)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", name, NULL);

  return adj_test_load_bundle (path);
}

static AdjTensorData *
vector (guint n, const float *values)
{
  const gint64 size = n;
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  g_autoptr (GBytes) bytes = g_bytes_new (values, n * sizeof *values);

  adj_shape_init_ints (&meta.shape, n > 0 ? 1 : 0, &size);
  return adj_tensor_data_new (&meta, bytes, NULL);
}

static AdjTensorData *
scalar (float value)
{
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  g_autoptr (GBytes) bytes = g_bytes_new (&value, sizeof value);

  adj_shape_init_ints (&meta.shape, 0, NULL);
  return adj_tensor_data_new (&meta, bytes, NULL);
}

static void
assert_gradient (const AdjGraph *graph,
                 const AdjRunResult *result,
                 guint index,
                 const char *leaf,
                 guint n,
                 const double *values)
{
  const AdjRunGradient *gradient = &result->gradients[index];
  const AdjNode *node = adj_graph_get_node (graph, gradient->node.index);

  g_assert_cmpstr (adj_graph_get_node (graph, node->args.items[0].node.index)->name, ==, leaf);
  for (guint i = 0; i < n; i++)
    g_assert_cmpfloat (adj_tensor_data_get_double (gradient->grad, i), ==, values[i]);
}

/* z = x · y, summed: the gradient of x is y and that of y is x. */
static void
gradients_are_told (void)
{
  g_autoptr (AdjBundle) bundle = load ("c01.txt");
  AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
  AdjValue items[3] = { ADJ_DATA (scalar (1)), ADJ_DATA (vector (3, (const float[]){ 1, 2, 3 })),
                        ADJ_DATA (vector (3, (const float[]){ 4, 5, 6 })) };
  const AdjValue inputs[4] = { { .kind = ADJ_VALUE_LIST, .n = 3, .items = items },
                               { .kind = ADJ_VALUE_LIST },
                               { .kind = ADJ_VALUE_LIST },
                               { .kind = ADJ_VALUE_LIST } };
  AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = 4 };
  g_autoptr (GError) error = NULL;
  AdjRunResult result;

  adj_executor_run (adj_executors_get (0), &request, &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (result.n_gradients, ==, 2);
  assert_gradient (graph, &result, 0, "getitem_1", 3, (const double[]){ 4, 5, 6 });
  assert_gradient (graph, &result, 1, "getitem_2", 3, (const double[]){ 1, 2, 3 });
  adj_run_result_clear (&result);
  for (guint i = 0; i < G_N_ELEMENTS (items); i++)
    adj_value_clear (&items[i]);
}

static void
absent_hooks_are_refused (void)
{
  g_autoptr (AdjBundle) bundle = load ("c09.txt");
  const AdjSessionRun run = { .bundle = bundle,
                              .graph = adj_bundle_get_graph (bundle, 0),
                              .random = TRUE };
  g_autoptr (GError) error = NULL;
  AdjRunResult result;

  g_assert_false (adj_session_run (&run, &result, NULL, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED);
  g_assert_nonnull (g_strstr_len (error->message, -1,
                                  "'call_hook' calls the tensor_pre_hook at SinBackward0 (NodeCall "
                                  "3), which only the process had that was captured"));
}

/* Error messages give the hooks the names that the capturing process recorded. */
static void
absent_hooks_are_named (void)
{
  const AdjPipelineOptions options = { .steps = "compiled-autograd" };
  g_auto (AdjPipelineResult) result = { NULL };
  g_autoptr (AdjBundle) bundle = NULL;
  AdjSessionRun run = { .random = TRUE };
  g_autoptr (GError) error = NULL;
  AdjRunResult ran;

  adj_program_record (adj_program_hooked (), &options, &result, &error);
  g_assert_no_error (error);
  bundle = adj_pipeline_result_to_bundle (&result, NULL, NULL);
  run.bundle = bundle;
  run.graph = adj_bundle_find_graph (bundle, "compiled_autograd", NULL);
  g_assert_false (adj_session_run (&run, &ran, NULL, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED);
  g_assert_nonnull (g_strstr_len (
      error->message, -1,
      "the tensor_pre_hook at TanhBackward (NodeCall 4), hook 'look at the hidden layer'"));
}

/* -- what was recorded stands in -- */

static AdjTensorData *
recorded_value (const char *node, gboolean float64, gpointer data)
{
  return g_str_equal (node, data) ? vector (3, (const float[]){ 10, 20, 30 }) : NULL;
}

/* Returns the file of @name with a recorded call: its inputs and the value of @node. */
static AdjBundle *
record (const char *name, const char *node)
{
  g_autoptr (AdjBundle) bundle = load (name);
  g_autoptr (AdjBundleBuilder) builder = adj_bundle_builder_new ();
  const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, 0);
  g_autoptr (GError) error = NULL;
  guint n;
  AdjValue *inputs = adj_session_random_inputs (graph->graph, 1, &n, &error);
  const AdjRecordedCall call = { .n_inputs = n, .inputs = inputs };

  g_assert_no_error (error);
  g_assert_true (adj_bundle_builder_add_graph (builder, graph, NULL));
  g_assert_true (adj_bundle_builder_add_call (builder, &call, graph->id, NULL));
  adj_bundle_builder_set_taps (builder, recorded_value, (gpointer) node, NULL);
  adj_session_free_inputs (inputs, n);
  return adj_bundle_builder_end (g_steal_pointer (&builder), NULL);
}

/* @node: whose value was recorded; @called: the call that it replaces. */
static void
check_recalled (const char *name, const char *node, const char *called)
{
  g_autoptr (AdjBundle) bundle = record (name, node);
  const AdjSessionRun run = { .bundle = bundle, .graph = adj_bundle_get_graph (bundle, 0) };
  AdjGraph *graph = run.graph->graph;
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify) adj_tensor_data_unref);
  g_autoptr (GError) error = NULL;
  AdjRunResult result;

  adj_session_run (&run, &result, values, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (result.n_recalled, ==, 1);
  g_assert_cmpstr (adj_graph_get_node (graph, result.recalled[0].index)->name, ==, called);
  g_assert_cmpfloat (adj_tensor_data_get_double (g_hash_table_lookup (values, node), 1), ==, 20);
  g_assert_nonnull (g_hash_table_lookup (values, "accumulate_grad_"));
  adj_run_result_clear (&result);
}

/* The nodes behind the hook are compared with their recorded values and do not differ. */
static void
comparisons_recall (void)
{
  g_autoptr (AdjBundle) bundle = record ("c25.txt", "call_hook");
  const AdjSessionRun run = { .bundle = bundle, .graph = adj_bundle_get_graph (bundle, 0) };
  g_autoptr (GError) error = NULL;
  AdjComparison *comparison = adj_session_compare_recorded (&run, TRUE, NAN, NAN, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (comparison->first, ==, -1);
  adj_comparison_free (comparison);
}

static void
recorded_values_stand_in (void)
{
  check_recalled ("c25.txt", "call_hook", "call_hook");
  check_recalled ("c12.txt", "getitem_3", "call_backward");
}

/* -- what PyTorch 2.15 captured (recorded/make.py) -- */

static AdjBundle *
load_recorded (const char *name)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "recorded", name, NULL);

  return adj_test_load_bundle (path);
}

static void
assert_computes_what_was_recorded (AdjBundle *bundle, const AdjBundleGraph *entry)
{
  const AdjSessionRun run = { .bundle = bundle, .graph = entry };
  g_autoptr (GError) error = NULL;
  AdjComparison *comparison = adj_session_compare_recorded (&run, FALSE, NAN, NAN, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (comparison->first, ==, -1);
  adj_comparison_free (comparison);
}

/* PyTorch since 2.7 writes no annotations; the metadata of inputs and of hook results come from
 * the recording. */
static void
recorded_looks_are_traced (void)
{
  g_autoptr (AdjBundle) bundle = load_recorded ("hooks.adjoint");
  const AdjBundleGraph *entry = adj_bundle_find_graph (bundle, "compiled_autograd", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      adj_wanted_gradients_apply (bundle, entry, ADJ_GRADIENTS_AS_KNOWN, NULL, &error);
  AdjPassResult result;
  guint n_puts = 0;

  g_assert_no_error (error);
  adj_pass_run (adj_pass_find ("decompose", NULL), NULL, graph, &result, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < adj_graph_get_n_nodes (result.graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (result.graph, i);

      g_assert_null (strstr (node->target, "compiled_autograd.ops"));
      n_puts += g_str_equal (node->target, "torch.ops.aten.index_put.default");
    }
  g_assert_cmpuint (n_puts, ==, 1);
  adj_pass_result_clear (&result);
  assert_computes_what_was_recorded (bundle, entry);
}

/* A residual block with hooks, in the order of its release: PyTorch's graph, node for node. */
static void
a_model_is_in_the_order_of_its_release (void)
{
  g_autoptr (AdjBundle) bundle = load_recorded ("residual.adjoint");
  const AdjBundleGraph *entry = adj_bundle_find_graph (bundle, "compiled_autograd", NULL);
  const AdjBundleGraph *replayed =
      adj_bundle_find_graph (bundle, "compiled_autograd_pre_reordering", NULL);
  g_autofree char *theirs = graph_describe (entry->graph), *ours = NULL;
  g_autoptr (GError) error = NULL;
  AdjPassResult result;

  adj_pass_run (adj_pass_find ("compiled-autograd", NULL), "2.15", replayed->graph, &result,
                &error);
  g_assert_no_error (error);
  ours = graph_describe (result.graph);
  g_assert_cmpstr (ours, ==, theirs);
  adj_pass_result_clear (&result);
  assert_computes_what_was_recorded (bundle, entry);
}

/* An LSTM, whose layer is one call, and a write into a view, which 2.15 writes as three calls:
 * recorded by both releases and compared node by node. */
static void
layers_compute_what_was_recorded (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = load_recorded (name);
  const AdjSessionRun run = { .bundle = bundle,
                              .graph = adj_bundle_find_graph (bundle, "compiled_autograd", NULL) };
  g_autoptr (GError) error = NULL;
  AdjComparison *comparison = adj_session_compare_recorded (&run, TRUE, NAN, NAN, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (comparison->first, ==, -1);
  g_assert_null (comparison->failure);
  g_assert_cmpuint (adj_comparison_count (comparison->nodes, comparison->n_nodes).equal, >, 20);
  adj_comparison_free (comparison);
}

/* 2.15 passes sizes as the second size of tensors without elements; a capture has them as
 * numbers. */
static void
the_largest_size_is_recorded (void)
{
  g_autoptr (AdjBundle) bundle = load_recorded ("slices.adjoint");

  assert_computes_what_was_recorded (bundle,
                                     adj_bundle_find_graph (bundle, "compiled_autograd", NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/compiled-autograd/loaded/gradients", gradients_are_told);
  g_test_add_func ("/compiled-autograd/loaded/absent", absent_hooks_are_refused);
  g_test_add_func ("/compiled-autograd/loaded/named", absent_hooks_are_named);
  g_test_add_func ("/compiled-autograd/loaded/compared", comparisons_recall);
  g_test_add_func ("/compiled-autograd/loaded/recorded", recorded_values_stand_in);
  g_test_add_func ("/compiled-autograd/loaded/recorded-looks-are-traced",
                   recorded_looks_are_traced);
  g_test_add_func ("/compiled-autograd/loaded/order-of-a-model",
                   a_model_is_in_the_order_of_its_release);
  g_test_add_func ("/compiled-autograd/loaded/largest-size", the_largest_size_is_recorded);
  g_test_add_data_func ("/compiled-autograd/loaded/layers-2.6", "layers-2.6.adjoint",
                        layers_compute_what_was_recorded);
  g_test_add_data_func ("/compiled-autograd/loaded/layers-2.15", "layers-2.15.adjoint",
                        layers_compute_what_was_recorded);
  return g_test_run ();
}
