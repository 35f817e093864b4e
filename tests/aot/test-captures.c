/* SPDX-License-Identifier: MIT */
/* Traces captured forward parts and Dynamo graphs, and compares the joint graphs with PyTorch's
 * and the gradients with recorded ones. */

#include <string.h>

#include "aot/adj-aot.h"
#include "aot/compile.h"
#include "aot/modulo.h"
#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "formats/adj-format.h"
#include "interpreter/adj-numeric-internal.h"
#include "interpreter/adj-numeric.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"

/* The longest sums of these models have several hundred terms. */
#define SUM_LENGTH 512

typedef struct
{
  AdjBundle *bundle;
  const AdjBundleGraph *joint;
  const AdjRegion *region;
} Capture;

static void
capture_open (Capture *capture, const char *name)
{
  g_autofree char *file = g_strdup_printf ("graphs/%s.adjoint", name);
  g_autofree char *path = adj_test_data_path (file);
  g_autoptr (GError) error = NULL;

  capture->bundle = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  capture->joint = adj_bundle_find_graph (capture->bundle, "joint", &error);
  g_assert_no_error (error);
  capture->region = adj_bundle_find_region (capture->bundle, capture->joint);
}

/* Excludes writes to inputs, which stand after the backward. */
static gboolean
is_forward (const AdjGraph *joint, guint index)
{
  const AdjNode *node = adj_graph_get_node (joint, index);

  if (node->opcode == ADJ_OPCODE_OUTPUT || g_str_has_prefix (node->name, "tangents_"))
    return FALSE;
  return !adj_graph_is_backward (joint, index) || g_str_has_prefix (node->name, "copy_");
}

/* Copies the forward nodes and the first @n_outputs outputs of @joint, without tangents. */
static AdjGraph *
forward_part (const AdjGraph *joint, guint n_outputs)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new (adj_graph_get_name (joint), NULL, adj_op_find);
  guint n = adj_graph_get_n_nodes (joint);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, n);
  g_autofree AdjValue *kept = g_new0 (AdjValue, n_outputs);
  g_autoptr (GError) error = NULL;
  const AdjValue *outputs;
  AdjGraph *graph;

  for (guint i = 0; i < n; i++)
    {
      map[i] = ADJ_NO_NODE;
      if (is_forward (joint, i))
        adj_builder_copy (builder, joint, i, map);
    }
  outputs = &adj_graph_get_node (joint, adj_graph_get_output (joint).index)->args.items[0];
  for (guint i = 0; i < n_outputs; i++)
    {
      kept[i] = outputs->items[i];
      if (kept[i].kind == ADJ_VALUE_NODE)
        kept[i].node = map[kept[i].node.index];
    }
  adj_builder_output (builder,
                      &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n_outputs, .items = kept });
  graph = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  return graph;
}

static void
forward_becomes_joint (gconstpointer name)
{
  g_autoptr (AdjGraph) forward = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  Capture capture;
  guint n;

  capture_open (&capture, name);
  forward = forward_part (capture.joint->graph, (guint) capture.region->num_fwd_outputs);
  aot =
      adj_aot_trace_graph (forward, &(AdjAotOptions){ .keep_input_mutations = TRUE }, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (adj_aot_graph_is_joint (aot));
  n = modulo_count_differences (adj_aot_graph_get_graph (aot), capture.joint->graph);
  g_test_message ("%s: %u nodes differ", (const char *) name, n);
  g_assert_cmpuint (n, ==, 0);
  adj_bundle_unref (capture.bundle);
}

/* Expected numbers of nodes that only one of the two joint graphs of a captured Dynamo graph
 * has. */
typedef struct
{
  const char *name;
  guint n_known;
} DynamoCase;

static void
dynamo_becomes_joint (gconstpointer data)
{
  const DynamoCase *c = data;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *dynamo;
  Capture capture;
  guint n;

  capture_open (&capture, c->name);
  dynamo = adj_bundle_find_graph (capture.bundle, "dynamo", &error);
  g_assert_no_error (error);
  aot = adj_aot_trace_graph (dynamo->graph, &(AdjAotOptions){ .keep_input_mutations = TRUE }, NULL,
                             &error);
  g_assert_no_error (error);
  n = modulo_count_differences (adj_aot_graph_get_graph (aot), capture.joint->graph);
  g_test_message ("%s: %u of %u nodes differ", c->name, n,
                  adj_graph_get_n_nodes (capture.joint->graph));
  g_assert_cmpuint (n, ==, c->n_known);
  adj_bundle_unref (capture.bundle);
}

/* -- the joint graph cut, compiled and called under eager autograd -- */

/* The recorded inputs as leaves; those with a recorded gradient require one. */
static AdjValue *
make_inputs (AdjContext *cx, const Capture *capture, const AdjRecordedCall *call, guint n)
{
  const AdjValue *gradients = call->outputs + capture->region->num_fwd_outputs;
  AdjValue *values = g_new0 (AdjValue, call->n_inputs + 1);

  for (guint i = 0; i < call->n_inputs; i++)
    {
      values[i] = call->inputs[i];
      if (values[i].kind != ADJ_VALUE_DATA)
        continue;
      values[i] = ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (values[i].data)));
      if (i < n && gradients[i].kind == ADJ_VALUE_DATA)
        g_assert_true (adj_tensor_set_requires_grad (cx, values[i].tensor, TRUE));
    }
  return values;
}

static void
run_backward (AdjContext *cx, const AdjValue *outputs, const AdjValue *tangents, guint n)
{
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();
  g_autoptr (GPtrArray) grads = g_ptr_array_new ();
  AdjGradRoots roots;

  for (guint i = 0; i < outputs->n; i++)
    if (outputs->items[i].kind == ADJ_VALUE_TENSOR &&
        adj_tensor_get_requires_grad (outputs->items[i].tensor))
      {
        g_assert_cmpuint (tensors->len, <, n);
        g_ptr_array_add (grads, tangents[tensors->len].tensor);
        g_ptr_array_add (tensors, outputs->items[i].tensor);
      }
  g_assert_cmpuint (tensors->len, ==, n);
  roots = (AdjGradRoots){ (AdjTensor *const *) tensors->pdata, (AdjTensor *const *) grads->pdata,
                          tensors->len };
  adj_backward (cx, &roots, NULL, 0, 0);
}

static void
fail_if_error (AdjContext *cx, const char *what)
{
  g_autoptr (GError) error = NULL;

  if (adj_context_take_error (cx, &error))
    g_error ("%s: %s", what, error->message);
}

static void
compare_gradients (const AdjValue *values, const AdjValue *expected, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (AdjTensorData) data = NULL;
      AdjTensorDifference difference;
      AdjTensor *grad;

      if (expected[i].kind != ADJ_VALUE_DATA)
        continue;
      grad = adj_tensor_get_grad (values[i].tensor);
      g_assert_nonnull (grad);
      data = adj_tensor_snapshot (grad);
      adj_tensor_compare (data, expected[i].data, &difference);
      g_assert_true (difference.same_shape && difference.same_dtype);
      g_assert_cmpfloat (difference.rel_l2, <=,
                         adj_band_limit (ADJ_BAND_PRODUCT, ADJ_DTYPE_F32, SUM_LENGTH));
    }
}

static void
compiled_gives_gradients (gconstpointer name)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjGraph) forward = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;
  g_autoptr (AdjFunction) function = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree AdjValue *values = NULL;
  g_auto (AdjValue) result = ADJ_NONE;
  const AdjRecordedCall *call;
  Capture capture;
  guint n;

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  capture_open (&capture, name);
  call = adj_bundle_find_call (capture.bundle, capture.joint, 0);
  g_assert_nonnull (call);
  forward = forward_part (capture.joint->graph, (guint) capture.region->num_fwd_outputs);
  aot =
      adj_aot_trace_graph (forward, &(AdjAotOptions){ .keep_input_mutations = TRUE }, NULL, &error);
  g_assert_no_error (error);
  function = compile_by_default (aot);
  n = adj_graph_get_n_inputs (forward);
  values = make_inputs (cx, &capture, call, n);
  adj_function_call (function, cx, values, n, &result);
  fail_if_error (cx, "forward");
  run_backward (cx, &result, values + n, call->n_inputs - n);
  fail_if_error (cx, "backward");
  compare_gradients (values, call->outputs + capture.region->num_fwd_outputs, n);
  adj_bundle_unref (capture.bundle);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = {
    "mlp",
    "gpt2",
    "sac",
    "lstm",
  };

  static const DynamoCase dynamo[] = {
    { "mlp", 0 },  { "gpt2", 0 },         { "sac", 0 },     { "lstm", 0 },
    { "unet", 0 }, { "resnet-block", 0 }, { "dropout", 0 }, { "llama", 0 },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (dynamo); i++)
    {
      g_autofree char *path = g_strdup_printf ("/aot/captures/%s/dynamo", dynamo[i].name);

      g_test_add_data_func (path, &dynamo[i], dynamo_becomes_joint);
    }

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strdup_printf ("/aot/captures/%s/forward", names[i]);

      g_autofree char *compiled = g_strdup_printf ("/aot/captures/%s/compiled", names[i]);

      g_test_add_data_func (path, names[i], forward_becomes_joint);
      g_test_add_data_func (compiled, names[i], compiled_gives_gradients);
    }
  return g_test_run ();
}
