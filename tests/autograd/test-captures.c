/* SPDX-License-Identifier: MIT */
/* Runs captured forward graphs under the tape: backward gives the gradients that PyTorch
 * recorded. */

#include <math.h>
#include <string.h>

#include "call/adj-mode.h"
#include "formats/adj-format.h"
#include "interpreter/adj-interpreter.h"
#include "interpreter/adj-numeric-internal.h"
#include "interpreter/adj-numeric.h"
#include "ir/adj-builder.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"
#include "support/tape.h"
#include "trace/adj-trace.h"

/* The longest sums of these models have several hundred terms. */
#define SUM_LENGTH 512

typedef struct
{
  AdjBundle *bundle;
  const AdjBundleGraph *joint;
  const AdjRecordedCall *call;
  guint n_forward; /* number of outputs of the forward part */
  guint n_primals;
  AdjGraph *forward;
} Capture;

/* Whether PyTorch inserted @node to save a result; our own trace inserts such nodes itself. */
static gboolean
is_detach (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
         g_str_equal (node->target, "torch.ops.aten.detach.default");
}

/* Copies the forward nodes and the first @n_outputs outputs of @joint. */
static AdjGraph *
forward_part (const AdjGraph *joint, guint n_outputs)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new (adj_graph_get_name (joint), NULL, adj_op_find);
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
      if (is_detach (node))
        {
          map[i] = map[node->args.items[0].node.index];
          continue;
        }
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

/* Makes the recorded inputs as tensors; those with a recorded gradient require one. */
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

/* Runs backward from the outputs that require a gradient with the recorded tangents, in order. */
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

/* -- forward and backward traced into one graph, as PyTorch's joint graph is made -- */

typedef struct
{
  AdjFunction parent_instance;
  const Capture *capture;
} JointFunction;

/* Marks the inputs that require a gradient according to the recording. */
static GPtrArray *
mark_differentiable (AdjContext *cx, const Capture *capture, const AdjValue *args)
{
  GPtrArray *inputs = g_ptr_array_new ();

  for (guint i = 0; i < capture->n_primals; i++)
    if (capture->call->outputs[capture->n_forward + i].kind == ADJ_VALUE_DATA)
      {
        adj_tensor_set_requires_grad (cx, args[i].tensor, TRUE);
        g_ptr_array_add (inputs, args[i].tensor);
      }
  return inputs;
}

static gboolean
differentiate (AdjContext *cx,
               const Capture *capture,
               const AdjValue *args,
               const AdjValue *outputs,
               const GPtrArray *inputs,
               AdjTensor **grads)
{
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();
  g_autoptr (GPtrArray) tangents = g_ptr_array_new ();
  AdjGradRoots roots;

  for (guint i = 0; i < outputs->n; i++)
    if (outputs->items[i].kind == ADJ_VALUE_TENSOR &&
        adj_tensor_get_requires_grad (outputs->items[i].tensor))
      {
        g_ptr_array_add (tangents, args[capture->n_primals + tensors->len].tensor);
        g_ptr_array_add (tensors, outputs->items[i].tensor);
      }
  roots = (AdjGradRoots){ (AdjTensor *const *) tensors->pdata, (AdjTensor *const *) tangents->pdata,
                          tensors->len };
  return adj_grad (cx, &roots, (AdjTensor *const *) inputs->pdata, inputs->len, 0, grads);
}

static gboolean
joint_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const Capture *capture = ((JointFunction *) function)->capture;
  g_autoptr (GPtrArray) inputs = NULL;
  g_autofree AdjTensor **grads = NULL;
  g_autofree AdjValue *items = g_new0 (AdjValue, capture->call->n_outputs);
  g_auto (AdjValue) outputs = ADJ_NONE;
  gboolean done;
  guint k = 0;

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  adj_autograd_set_flags (cx, ADJ_AUTOGRAD_TWO_DETACHES);
  inputs = mark_differentiable (cx, capture, args);
  grads = g_new0 (AdjTensor *, inputs->len + 1);
  done = adj_interpret (cx, capture->forward, args, capture->n_primals, NULL, &outputs) &&
         differentiate (cx, capture, args, &outputs, inputs, grads);
  for (guint i = 0; i < capture->call->n_outputs && done; i++)
    if (i < capture->n_forward)
      items[i] = adj_value_copy (&outputs.items[i]);
    else if (capture->call->outputs[i].kind == ADJ_VALUE_DATA)
      items[i] = ADJ_TENSOR (adj_tensor_ref (grads[k++]));
  adj_context_pop_mode (cx);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, capture->call->n_outputs);
  return done;
}

static const AdjFunctionClass joint_class = { .name = "joint", .call = joint_call };

static void
compare_outputs (const Capture *capture, const AdjValue *outputs)
{
  g_assert_cmpuint (outputs->n, ==, capture->call->n_outputs);
  for (guint i = 0; i < outputs->n; i++)
    {
      const AdjValue *expected = &capture->call->outputs[i];
      g_autoptr (AdjTensorData) data = NULL;
      AdjTensorDifference difference;

      if (expected->kind != ADJ_VALUE_DATA)
        continue;
      data = adj_tensor_snapshot (outputs->items[i].tensor);
      adj_tensor_compare (data, expected->data, &difference);
      g_assert_true (difference.same_shape && difference.same_dtype);
      g_assert_cmpfloat (difference.rel_l2, <=,
                         adj_band_limit (ADJ_BAND_PRODUCT, ADJ_DTYPE_F32, SUM_LENGTH));
    }
}

/* Counts differing nodes except the output, which has another layout in the joint graph. */
static guint
count_changes (const AdjGraph *a, const AdjGraph *b)
{
  g_autoptr (AdjAlignment) alignment = adj_graph_align (a, b);
  const guint32 b_output = adj_graph_get_output (b).index;
  guint n = 0;

  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];

      if (change->kind == ADJ_CHANGE_NONE ||
          (change->kind == ADJ_CHANGE_CHANGED && change->b.index == b_output))
        continue;
      n++;
      g_test_message ("%s: %s (%s)",
                      change->kind == ADJ_CHANGE_ADDED     ? "only in PyTorch's"
                      : change->kind == ADJ_CHANGE_REMOVED ? "only in ours"
                                                           : "differs",
                      change->kind == ADJ_CHANGE_REMOVED
                          ? adj_graph_get_node (a, change->a.index)->name
                          : adj_graph_get_node (b, change->b.index)->name,
                      change->reason != NULL ? change->reason : "");
    }
  return n;
}

/* The traced graph gives the recorded outputs and gradients when it runs by itself.  It equals
 * PyTorch's node by node unless PyTorch changed the program further (decompositions, written
 * buffers, tags). */
static void
traces_as_one_graph (gconstpointer name)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjFunction) function = adj_function_new (&joint_class, sizeof (JointFunction));
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = NULL;
  Capture capture;
  g_autofree AdjValue *inputs = NULL;
  g_auto (AdjValue) outputs = ADJ_NONE;
  guint n_changes;

  capture_open (&capture, name);
  ((JointFunction *) function)->capture = &capture;
  graph = adj_trace (function, capture.call->inputs, capture.call->n_inputs,
                     &(AdjTraceOptions){ .like = capture.joint->graph }, &error);
  g_assert_no_error (error);
  g_test_message ("%u nodes, PyTorch's joint graph %u", adj_graph_get_n_nodes (graph),
                  adj_graph_get_n_nodes (capture.joint->graph));
  n_changes = count_changes (graph, capture.joint->graph);
  if (g_str_equal (name, "mlp") || g_str_equal (name, "gpt2"))
    g_assert_cmpuint (n_changes, ==, 0);
  inputs = g_new0 (AdjValue, capture.call->n_inputs);
  make_inputs (cx, &capture, inputs);
  adj_interpret (cx, graph, inputs, capture.call->n_inputs, NULL, &outputs);
  fail_if_error (cx, "joint");
  compare_outputs (&capture, &outputs);
  capture_close (&capture);
}

/* -- from what Dynamo captured -- */

/* Restores the generator state from before the recorded call, so that it draws PyTorch's
 * numbers. */
static void
restore_generator (AdjContext *cx, const AdjRecordedCall *call)
{
  const AdjValue *rng = call->rng;
  g_autoptr (GError) error = NULL;
  gsize n_bytes = 0;
  gconstpointer bytes;

  for (guint i = 0; rng != NULL && i + 1 < rng->n; i += 2)
    if (rng->items[i + 1].kind == ADJ_VALUE_DATA && g_str_equal (rng->items[i].text, "cpu"))
      {
        bytes = g_bytes_get_data (adj_tensor_data_get_bytes (rng->items[i + 1].data), &n_bytes);
        adj_generator_set_state (adj_context_get_generator (cx), bytes, n_bytes, &error);
        g_assert_no_error (error);
      }
}

static AdjTensor *
widen (AdjContext *cx, AdjTensorData *data, gboolean float64)
{
  g_autoptr (AdjTensorData) wide = NULL;

  if (!float64 || !adj_dtype_is_floating (adj_tensor_data_get_meta (data)->dtype))
    return adj_scope_add (cx, adj_tensor_new_from_data (data));
  wide = adj_tensor_data_cast_storage (data, ADJ_DTYPE_F64);
  return adj_scope_add (cx, adj_tensor_new_from_data (wide));
}

/* Runs backward from the outputs that have a recorded tangent. */
static void
run_dynamo_backward (AdjContext *cx,
                     const AdjRecordedCall *call,
                     const AdjValue *outputs,
                     gboolean float64)
{
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();
  g_autoptr (GPtrArray) tangents = g_ptr_array_new ();

  for (guint i = 0; i < call->n_outputs; i++)
    if (call->tangents[i].kind == ADJ_VALUE_DATA)
      {
        g_ptr_array_add (tensors, outputs->items[i].tensor);
        g_ptr_array_add (tangents, widen (cx, call->tangents[i].data, float64));
      }
  adj_backward (cx,
                &(AdjGradRoots){ (AdjTensor *const *) tensors->pdata,
                                 (AdjTensor *const *) tangents->pdata, tensors->len },
                NULL, 0, 0);
  fail_if_error (cx, "backward");
}

/* (transfer full) (array) (element-type nullable): the gradient of each input. */
static AdjTensorData **
dynamo_gradients (const AdjGraph *graph, const AdjRecordedCall *call, gboolean float64)
{
  g_autoptr (AdjContext) cx = tape_new ();
  g_autofree AdjValue *inputs = g_new0 (AdjValue, call->n_inputs);
  AdjTensorData **gradients = g_new0 (AdjTensorData *, call->n_inputs);
  g_auto (AdjValue) outputs = ADJ_NONE;

  if (float64)
    adj_context_push_mode (cx, adj_float64_mode_new ());
  for (guint i = 0; i < call->n_inputs; i++)
    {
      inputs[i] = call->inputs[i];
      if (inputs[i].kind != ADJ_VALUE_DATA)
        continue;
      inputs[i] = T (widen (cx, call->inputs[i].data, float64));
      if (call->gradients[i].kind == ADJ_VALUE_DATA)
        adj_tensor_set_requires_grad (cx, inputs[i].tensor, TRUE);
    }
  restore_generator (cx, call);
  adj_interpret (cx, graph, inputs, call->n_inputs, NULL, &outputs);
  fail_if_error (cx, "forward");
  run_dynamo_backward (cx, call, &outputs, float64);
  for (guint i = 0; i < call->n_inputs; i++)
    if (call->gradients[i].kind == ADJ_VALUE_DATA && adj_tensor_get_grad (inputs[i].tensor) != NULL)
      gradients[i] = adj_tensor_snapshot (adj_tensor_get_grad (inputs[i].tensor));
  return gradients;
}

static void
free_gradients (AdjTensorData **gradients, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&gradients[i], adj_tensor_data_unref);
  g_free (gradients);
}

/* Whether the distance of @ours from @truth is at most twice (three times if there are few
 * elements) that of @recorded, plus four roundings (exec/SPEC.md §2.4). */
static gboolean
is_as_near (const AdjTensorData *ours, const AdjTensorData *recorded, const AdjTensorData *truth)
{
  AdjTensorDifference own, peer;
  double limit;

  adj_tensor_compare (ours, truth, &own);
  adj_tensor_compare (recorded, truth, &peer);
  limit = (own.n < 1000 ? 3 : 2) * peer.rel_l2 + 4 * adj_dtype_unit_roundoff (ADJ_DTYPE_F32);
  g_test_message ("relative error %.3g, of what was recorded %.3g, limit %.3g", own.rel_l2,
                  peer.rel_l2, limit);
  return own.same_shape && peer.same_shape && own.n_class_mismatch == 0 && own.rel_l2 <= limit;
}

static gboolean
same_dtype (const AdjTensorData *a, const AdjTensorData *b)
{
  return adj_tensor_data_get_meta (a)->dtype == adj_tensor_data_get_meta (b)->dtype;
}

/* Runs the graph that Dynamo captured in eager mode: the gradients are as near to the float64
 * ones as PyTorch's. */
static void
gradients_from_dynamo (gconstpointer name)
{
  g_autofree char *file = g_strdup_printf ("graphs/%s.adjoint", (const char *) name);
  g_autofree char *path = adj_test_data_path (file);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  const AdjBundleGraph *dynamo;
  const AdjRecordedCall *call;
  AdjTensorData **ours, **truth;
  guint n = 0;

  g_assert_no_error (error);
  dynamo = adj_bundle_find_graph (bundle, "dynamo", &error);
  g_assert_no_error (error);
  call = adj_bundle_find_call (bundle, dynamo, 0);
  g_assert_nonnull (call);
  ours = dynamo_gradients (dynamo->graph, call, FALSE);
  truth = dynamo_gradients (dynamo->graph, call, TRUE);
  for (guint i = 0; i < call->n_inputs; i++)
    {
      if (call->gradients[i].kind != ADJ_VALUE_DATA)
        continue;
      n++;
      g_test_message ("gradient of input %u", i);
      g_assert_nonnull (ours[i]);
      g_assert_true (same_dtype (ours[i], call->gradients[i].data));
      g_assert_true (is_as_near (ours[i], call->gradients[i].data, truth[i]));
    }
  g_test_message ("%u gradients compared", n);
  g_assert_cmpuint (n, >, 0);
  free_gradients (ours, call->n_inputs);
  free_gradients (truth, call->n_inputs);
}

int
main (int argc, char **argv)
{
  static const char *const captured[] = {
    "mlp", "gpt2", "resnet-block", "llama", "lstm", "sac", "unet", "dropout", "gpt2-inductor",
  };
  static const char *const names[] = {
    "mlp", "gpt2", "resnet-block", "llama", "lstm", "sac", "gpt2-inductor",
  };

  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (captured); i++)
    {
      g_autofree char *path = g_strdup_printf ("/autograd/captures/%s-dynamo", captured[i]);

      g_test_add_data_func (path, captured[i], gradients_from_dynamo);
    }
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strdup_printf ("/autograd/captures/%s", names[i]);

      g_autofree char *joint = g_strdup_printf ("%s-traced", path);

      g_test_add_data_func (path, names[i], gradients_agree);
      g_test_add_data_func (joint, names[i], traces_as_one_graph);
    }
  return g_test_run ();
}
