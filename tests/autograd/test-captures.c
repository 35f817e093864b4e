/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "autograd/tape.h"
#include "formats/adj-format.h"
#include "interpreter/adj-interpreter.h"
#include "interpreter/adj-numeric.h"
#include "ir/adj-builder.h"
#include "support/adj-test.h"

/* The forward part of each captured joint graph, run under the tape; backward () must give what
 * PyTorch recorded as the outputs of the backward part. */

/* The longest sums of these models have some hundred terms. */
#define SUM_LENGTH 512

typedef struct
{
  AdjBundle *bundle;
  const AdjBundleGraph *joint;
  const AdjRecordedCall *call;
  guint n_forward; /* outputs of the forward part */
  guint n_primals;
  AdjGraph *forward;
} Capture;

/* Nodes that are not of the backward; the first outputs. */
static AdjGraph *
forward_part (const AdjGraph *joint, guint n_outputs)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new (adj_graph_get_name (joint), NULL);
  guint n = adj_graph_get_n_nodes (joint);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, n);
  const AdjValue *outputs;
  g_autofree AdjValue *kept = g_new0 (AdjValue, n_outputs);
  g_autoptr (GError) error = NULL;
  AdjGraph *graph;

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (joint, i);

      map[i] = ADJ_NO_NODE;
      if (node->opcode != ADJ_OPCODE_OUTPUT && !adj_graph_is_backward (joint, i) &&
          !g_str_has_prefix (node->name, "tangents_"))
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
capture_open (Capture *capture, const char *name)
{
  g_autofree char *file = g_strdup_printf ("graphs/%s.adjoint", name);
  g_autofree char *path = adj_test_data_path (file);
  g_autoptr (GError) error = NULL;
  const AdjRegion *region;

  capture->bundle = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  capture->joint = adj_bundle_find_graph (capture->bundle, "joint", &error);
  g_assert_no_error (error);
  capture->call = adj_bundle_find_call (capture->bundle, capture->joint, 0);
  g_assert_nonnull (capture->call);
  region = adj_bundle_find_region (capture->bundle, capture->joint);
  capture->n_forward = (guint) region->num_fwd_outputs;
  capture->n_primals = capture->call->n_outputs - capture->n_forward;
  capture->forward = forward_part (capture->joint->graph, capture->n_forward);
}

static void
capture_close (Capture *capture)
{
  adj_graph_unref (capture->forward);
  adj_bundle_unref (capture->bundle);
}

/* The recorded inputs as tensors; those that have a recorded gradient require one. */
static void
make_inputs (AdjContext *cx, const Capture *capture, AdjValue *values)
{
  const AdjValue *gradients = capture->call->outputs + capture->n_forward;

  for (guint i = 0; i < capture->call->n_inputs; i++)
    {
      const AdjValue *value = &capture->call->inputs[i];

      values[i] = *value;
      if (value->kind != ADJ_VALUE_DATA)
        continue;
      values[i] = T (adj_scope_add (cx, adj_tensor_new_from_data (value->data)));
      if (i < capture->n_primals && gradients[i].kind == ADJ_VALUE_DATA)
        g_assert_true (adj_tensor_set_requires_grad (cx, values[i].tensor, TRUE));
    }
}

static void
fail_if_error (AdjContext *cx, const char *what)
{
  g_autoptr (GError) error = NULL;

  if (adj_context_take_error (cx, &error))
    g_error ("%s: %s", what, error->message);
}

/* Backward from the outputs that require a gradient with the recorded tangents, in order. */
static void
run_backward (AdjContext *cx, const Capture *capture, const AdjValue *outputs, AdjValue *inputs)
{
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();
  g_autoptr (GPtrArray) grads = g_ptr_array_new ();
  guint next = capture->n_primals;
  AdjGradRoots roots;

  for (guint i = 0; i < outputs->n; i++)
    {
      const AdjValue *output = &outputs->items[i];

      if (output->kind != ADJ_VALUE_TENSOR || !adj_tensor_get_requires_grad (output->tensor))
        continue;
      g_assert_cmpuint (next, <, capture->call->n_inputs);
      g_ptr_array_add (tensors, output->tensor);
      g_ptr_array_add (grads, inputs[next++].tensor);
    }
  g_assert_cmpuint (next, ==, capture->call->n_inputs);
  roots = (AdjGradRoots){ (AdjTensor *const *) tensors->pdata, (AdjTensor *const *) grads->pdata,
                          tensors->len };
  adj_backward (cx, &roots, NULL, 0, 0);
  fail_if_error (cx, "backward");
}

static guint
compare_gradients (const Capture *capture, const AdjValue *inputs)
{
  const AdjValue *expected = capture->call->outputs + capture->n_forward;
  guint n_wrong = 0, n = 0;
  double worst = 0;

  for (guint i = 0; i < capture->n_primals; i++)
    {
      AdjTensor *grad;
      g_autoptr (AdjTensorData) data = NULL;
      AdjTensorDifference difference;
      double limit;

      if (expected[i].kind != ADJ_VALUE_DATA)
        continue;
      n++;
      grad = adj_tensor_get_grad (inputs[i].tensor);
      if (grad == NULL)
        {
          g_test_message ("input %u has no gradient", i);
          n_wrong++;
          continue;
        }
      data = adj_tensor_snapshot (grad);
      adj_tensor_compare (data, expected[i].data, &difference);
      limit = adj_band_limit (ADJ_BAND_PRODUCT, ADJ_DTYPE_F32, SUM_LENGTH);
      worst = fmax (worst, difference.rel_l2);
      if (difference.same_shape && difference.same_dtype && difference.rel_l2 <= limit)
        continue;
      g_test_message ("gradient of input %u: relative error %g, limit %g", i, difference.rel_l2,
                      limit);
      n_wrong++;
    }
  g_test_message ("%u gradients compared, largest relative error %.3g", n, worst);
  g_assert_cmpuint (n, >, 0);
  return n_wrong;
}

static void
gradients_agree (gconstpointer name)
{
  g_autoptr (AdjContext) cx = tape_new ();
  Capture capture;
  g_autofree AdjValue *inputs = NULL;
  g_auto (AdjValue) outputs = ADJ_NONE;

  capture_open (&capture, name);
  inputs = g_new0 (AdjValue, capture.call->n_inputs);
  make_inputs (cx, &capture, inputs);
  adj_interpret (cx, capture.forward, inputs, capture.n_primals, NULL, &outputs);
  fail_if_error (cx, "forward");
  run_backward (cx, &capture, &outputs, inputs);
  g_assert_cmpuint (compare_gradients (&capture, inputs), ==, 0);
  capture_close (&capture);
}

int
main (int argc, char **argv)
{
  static const char *const names[] = {
    "mlp", "gpt2", "resnet-block", "llama", "lstm", "sac", "gpt2-inductor",
  };

  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strdup_printf ("/autograd/captures/%s", names[i]);

      g_test_add_data_func (path, names[i], gradients_agree);
    }
  return g_test_run ();
}
