/* SPDX-License-Identifier: MIT */

/* Containers among arguments and results, and parameters that are passed in each call: a
 * compiled function takes and returns the same structure as the original. */

#include <string.h>

#include "aot/adj-aot.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-operators.h"

/* weight, {"x": (a, [b])} -> {"sums": [a + b, a + weight], "one": 1} */
static gboolean
nested_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const AdjValue *pair = &args[1].items[1];
  const AdjValue a = pair->items[0], b = pair->items[1].items[0];
  AdjTensor *sum = ADJ_APPLY (cx, ADJ_OP_add_Tensor, a, b);
  AdjTensor *moved = ADJ_APPLY (cx, ADJ_OP_add_Tensor, a, args[0]);
  AdjValue sums[2], entries[4];

  if (sum == NULL || moved == NULL)
    return FALSE;
  sums[0] = ADJ_TENSOR (adj_keep (sum));
  sums[1] = ADJ_TENSOR (adj_keep (moved));
  entries[0] = adj_value_new_string ("sums");
  entries[1] = adj_value_new_items (ADJ_VALUE_LIST, sums, 2);
  entries[2] = adj_value_new_string ("one");
  entries[3] = ADJ_INT (1);
  *result = adj_value_new_items (ADJ_VALUE_DICT, entries, 4);
  return TRUE;
}

static const AdjFunctionClass nested_class = { .name = "nested", .call = nested_call };

static AdjValue
make_tensor (AdjContext *cx, float value)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  AdjTensor *tensor;

  tensor = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));
  *(float *) adj_storage_write (adj_tensor_get_storage (tensor)) = value;
  return ADJ_TENSOR (adj_keep (tensor));
}

static AdjValue
make_argument (AdjContext *cx, float a, float b)
{
  AdjValue inner = make_tensor (cx, b);
  AdjValue pair[2] = { make_tensor (cx, a), adj_value_new_items (ADJ_VALUE_LIST, &inner, 1) };
  AdjValue entries[2] = { adj_value_new_string ("x"),
                          adj_value_new_items (ADJ_VALUE_TUPLE, pair, 2) };

  return adj_value_new_items (ADJ_VALUE_DICT, entries, 2);
}

static void
trees_come_back (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjFunction) function = adj_function_new (&nested_class, sizeof (AdjFunction));
  g_auto (AdjValue) weight = make_tensor (cx, 100);
  g_auto (AdjValue) example = make_argument (cx, 1, 2);
  g_auto (AdjValue) argument = make_argument (cx, 3, 5);
  const AdjAotOptions options = { .parameters = &weight, .n_parameters = 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = adj_aot_trace (function, &example, 1, &options, NULL, &error);
  g_autoptr (AdjFunction) graph = NULL;
  g_autoptr (AdjFunction) compiled = NULL;
  g_auto (AdjValue) result = ADJ_NONE;

  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_inputs (adj_aot_graph_get_graph (aot)), ==, 3);
  graph = adj_graph_function_new (adj_aot_graph_get_graph (aot));
  compiled = adj_aot_compile (aot, graph, NULL, NULL, 0);
  g_assert_true (adj_function_call (compiled, cx, &argument, 1, &result));
  g_assert_cmpint (result.kind, ==, ADJ_VALUE_DICT);
  g_assert_cmpstr (result.items[0].text, ==, "sums");
  g_assert_cmpint (result.items[1].kind, ==, ADJ_VALUE_LIST);
  g_assert_cmpfloat (adj_item (cx, result.items[1].items[0].tensor), ==, 8);
  g_assert_cmpfloat (adj_item (cx, result.items[1].items[1].tensor), ==, 103);
  g_assert_cmpint (result.items[3].integer, ==, 1);
}

/* An exported graph returns a flat tuple of results. */
static void
exports_give_tuples (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjFunction) function = adj_function_new (&nested_class, sizeof (AdjFunction));
  g_auto (AdjValue) weight = make_tensor (cx, 100);
  g_auto (AdjValue) example = make_argument (cx, 1, 2);
  const AdjAotOptions options = {
    .parameters = &weight,
    .n_parameters = 1,
    .export_joint = TRUE,
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = adj_aot_trace (function, &example, 1, &options, NULL, &error);

  g_assert_null (aot);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "the function gives a dict"));
  g_assert_nonnull (strstr (error->message, "[aot: output-not-tuple]"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/aot/flatten/trees-come-back", trees_come_back);
  g_test_add_func ("/aot/flatten/exports-give-tuples", exports_give_tuples);
  return g_test_run ();
}
