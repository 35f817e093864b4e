/* SPDX-License-Identifier: MIT */
/* A captured training step with dropout: from the recorded state of PyTorch's generator it draws
 * the same numbers here. */

#include <math.h>

#include "call/adj-generator.h"
#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "ops/adj-ops.h"
#include "session/adj-session.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static const char *const roles[] = { "joint", "forward", "backward" };

static AdjComparison *
compare (AdjBundle *bundle, const char *role, const AdjValue *rng, GError **error)
{
  g_autoptr (GError) none = NULL;
  AdjSessionRun run = {
    .bundle = bundle,
    .graph = adj_bundle_find_graph (bundle, role, &none),
    .rng = rng,
  };

  g_assert_no_error (none);
  return adj_session_compare_recorded (&run, TRUE, NAN, NAN, NULL, error);
}

static guint
count_random (const AdjGraph *graph)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      n += node->op != NULL && (node->op->flags & ADJ_OP_RANDOM) != 0;
    }
  return n;
}

static void
draws_what_was_recorded (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("dropout");
  guint n_random = 0;

  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison = compare (bundle, roles[i], NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpint (comparison->first, ==, -1);
      g_assert_cmpint (comparison->verdict, !=, ADJ_VERDICT_DIFFERS);
      n_random += count_random (adj_bundle_find_graph (bundle, roles[i], NULL)->graph);
    }
  g_assert_cmpuint (n_random, >=, 2);
}

/* Returns @generator in the form of a recording; the caller owns the DATA. */
static AdjValue
record (const AdjGenerator *generator)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_U8, .device = ADJ_CPU, .has_strides = TRUE };
  const gint64 n = ADJ_GENERATOR_STATE_BYTES;
  guint8 *state = g_malloc0 (ADJ_GENERATOR_STATE_BYTES);
  g_autoptr (GBytes) bytes = g_bytes_new_take (state, ADJ_GENERATOR_STATE_BYTES);

  if (generator != NULL)
    adj_generator_get_state (generator, state);
  adj_shape_init_ints (&meta.shape, 1, &n);
  return ADJ_DATA (adj_tensor_data_new (&meta, bytes, NULL));
}

static void
another_state_differs (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("dropout");
  g_autoptr (AdjGenerator) generator = adj_generator_new (12);
  AdjValue pair[] = { { .kind = ADJ_VALUE_STRING, .n = 3, .text = "cpu" }, record (generator) };
  const AdjValue rng = { .kind = ADJ_VALUE_DICT, .n = 2, .items = pair };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = compare (bundle, "joint", &rng, &error);

  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, ==, ADJ_VERDICT_DIFFERS);
  adj_tensor_data_unref (pair[1].data);
}

static void
refuses_what_is_no_state (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("dropout");
  AdjValue pair[] = { { .kind = ADJ_VALUE_STRING, .n = 3, .text = "cpu" }, record (NULL) };
  const AdjValue rng = { .kind = ADJ_VALUE_DICT, .n = 2, .items = pair };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = compare (bundle, "joint", &rng, &error);

  g_assert_null (comparison);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  adj_tensor_data_unref (pair[1].data);
}

static AdjTensorData *
make_ones (gint64 n)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  g_autofree float *ones = g_new (float, n);
  g_autoptr (GBytes) bytes = NULL;

  for (gint64 i = 0; i < n; i++)
    ones[i] = 1;
  bytes = g_bytes_new (ones, n * sizeof *ones);
  adj_shape_init_ints (&meta.shape, 1, &n);
  return adj_tensor_data_new (&meta, bytes, NULL);
}

/* Each call of a called graph draws in its own dtype, whatever dtype the region returns. */
static void
draws_in_each_dtype (void)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[2048][1]cpu\"):\n"
      "        body = self.body\n"
      "        region = torch.ops.higher_order.tag_activation_checkpoint(body, x)\n"
      "        kept = region[0]\n"
      "        return (kept,)\n"
      "    class body(torch.nn.Module):\n"
      "        def forward(self, x: \"f32[2048][1]cpu\"):\n"
      "            rand: \"f32[2048][1]cpu\" = torch.ops.aten.rand.default([2048])\n"
      "            noisy: \"f32[2048][1]cpu\" = torch.ops.aten.mul.Tensor(rand, x)\n"
      "            rounded: \"bf16[2048][1]cpu\" = "
      "torch.ops.aten._to_copy.default(noisy, dtype = torch.bfloat16)\n"
      "            return (rounded,)\n");
  g_autoptr (AdjGenerator) generator = adj_generator_new (12);
  AdjValue pair[] = { { .kind = ADJ_VALUE_STRING, .n = 3, .text = "cpu" }, record (generator) };
  const AdjValue rng = { .kind = ADJ_VALUE_DICT, .n = 2, .items = pair };
  g_autoptr (AdjTensorData) x = make_ones (2048);
  g_autoptr (AdjComparison) comparison = NULL;
  g_autoptr (GError) error = NULL;
  AdjValue input = ADJ_DATA (x);
  AdjComparisonRequest request = { .graph = graph,
                                   .inputs = &input,
                                   .n_inputs = 1,
                                   .rng = &rng,
                                   .nodes = TRUE,
                                   .rtol = NAN,
                                   .atol = NAN };

  comparison = adj_comparison_run (&request, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, !=, ADJ_VERDICT_DIFFERS);
  adj_tensor_data_unref (pair[1].data);
}

static AdjTensorData *
next_larger (AdjTensorData *data)
{
  gint64 n = adj_tensor_data_get_numel (data);
  g_autofree float *numbers = g_new (float, n);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjTensorData) dense = adj_tensor_data_contiguous (data);

  for (gint64 i = 0; i < n; i++)
    {
      float number = (float) adj_tensor_data_get_double (data, i);

      numbers[i] = number != 0 ? nextafterf (number, INFINITY) : 0;
    }
  bytes = g_bytes_new (numbers, n * sizeof *numbers);
  return adj_tensor_data_new (adj_tensor_data_get_meta (dense), bytes, NULL);
}

/* Values of nodes as PyTorch might have recorded them: the candidate's, one unit larger. */
typedef struct
{
  const AdjGraph *graph;
  AdjTensorData *values[8];
} Near;

static gboolean
keep_larger (AdjNodeId id, const AdjValue *value, gpointer data)
{
  Near *near = data;

  if (value->kind == ADJ_VALUE_DATA &&
      adj_tensor_data_get_meta (value->data)->dtype == ADJ_DTYPE_F32)
    near->values[id.index] = next_larger (value->data);
  return TRUE;
}

static AdjTensorData *
get_larger (AdjNodeId id, gboolean float64, gpointer data)
{
  const Near *near = data;
  const char *name = adj_graph_get_node (near->graph, id.index)->name;
  gboolean recorded = g_str_equal (name, "a") || g_str_equal (name, "kept");

  return recorded && !float64 ? near->values[id.index] : NULL;
}

/* Files have no strides, but PyTorch 2.15 draws a mask in the order of the memory. */
static void
draws_in_order_of_memory (void)
{
  g_autoptr (AdjGraph) graph =
      adj_test_parse_graph ("class G(torch.nn.Module):\n"
                            "    def forward(self, x: \"f32[2048][1]cpu\"):\n"
                            "        rows = torch.ops.aten.view.default(x, [64, 32])\n"
                            "        columns = torch.ops.aten.t.default(rows)\n"
                            "        a = torch.ops.aten.add.Tensor(columns, 0.5)\n"
                            "        both = torch.ops.aten.native_dropout.default(a, 0.5, True)\n"
                            "        kept = both[0]\n"
                            "        return (kept,)\n");
  g_autoptr (AdjGenerator) generator = adj_generator_new (12);
  AdjValue pair[] = { { .kind = ADJ_VALUE_STRING, .n = 3, .text = "cpu" }, record (generator) };
  const AdjValue rng = { .kind = ADJ_VALUE_DICT, .n = 2, .items = pair };
  Near near = { .graph = graph };
  g_autoptr (AdjTensorData) x = make_ones (2048);
  AdjValue input = ADJ_DATA (x);
  AdjRunRequest run = { .graph = graph,
                        .inputs = &input,
                        .n_inputs = 1,
                        .rng = &rng,
                        .random_source = ADJ_RANDOM_GENERATOR,
                        .tap = keep_larger,
                        .data = &near };
  AdjComparisonRequest request = { .graph = graph,
                                   .inputs = &input,
                                   .n_inputs = 1,
                                   .rng = &rng,
                                   .random_source = ADJ_RANDOM_GENERATOR,
                                   .expected_node = get_larger,
                                   .nodes = TRUE,
                                   .rtol = NAN,
                                   .atol = NAN,
                                   .data = &near };
  AdjRunResult result;
  g_autoptr (AdjComparison) comparison = NULL;
  g_autoptr (GError) error = NULL;

  adj_executor_run (adj_executor_find ("interpreter", NULL), &run, &result, NULL, &error);
  g_assert_no_error (error);
  adj_run_result_clear (&result);
  comparison = adj_comparison_run (&request, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, ==, ADJ_VERDICT_WITHIN);
  for (guint i = 0; i < G_N_ELEMENTS (near.values); i++)
    g_clear_pointer (&near.values[i], adj_tensor_data_unref);
  adj_tensor_data_unref (pair[1].data);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/exec/random/draws-what-was-recorded", draws_what_was_recorded);
  g_test_add_func ("/exec/random/another-state-differs", another_state_differs);
  g_test_add_func ("/exec/random/draws-in-each-dtype", draws_in_each_dtype);
  g_test_add_func ("/exec/random/draws-in-order-of-memory", draws_in_order_of_memory);
  g_test_add_func ("/exec/random/refuses-what-is-no-state", refuses_what_is_no_state);

  return g_test_run ();
}
