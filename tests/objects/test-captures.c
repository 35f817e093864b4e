/* SPDX-License-Identifier: MIT */

/* What PyTorch 2.6 and the newest release make of a queue and of packed parameters: it is read, the
 * same function is traced here to the same text, and the graph runs (captures/capture.py). */

#include <string.h>

#include "aot/adj-aot.h"
#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-text.h"
#include "objects/queue-program.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "trace/adj-trace.h"

static const char *const releases[] = { "2.6", "2.15" };

static AdjGraph *
read_capture (const char *release, const char *name)
{
  g_autofree char *file = g_strdup_printf ("%s-%s.txt", release, name);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "objects", "captures", file, NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = adj_test_read_file (path, NULL);
  AdjGraph *graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  return graph;
}

static void
assert_same (AdjGraph *ours, AdjGraph *theirs)
{
  const AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS;
  g_autofree char *a = adj_graph_print (ours, flags, NULL);
  g_autofree char *b = adj_graph_print (theirs, flags, NULL);

  g_assert_cmpstr (a, ==, b);
}

/* The results that eager gives, and the queue empty again. */
static void
assert_runs (AdjGraph *graph, guint n_tokens)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (AdjFunction) function = queue_function_new ();
  g_autoptr (AdjObject) queue = queue_new (), other = queue_new ();
  g_autoptr (AdjTensorData) data = queue_input_new ();
  AdjTensor *x = adj_scope_add (cx, adj_tensor_new_from_data (data));
  const AdjValue eager_inputs[] = { ADJ_OBJECT (other), ADJ_TENSOR (x) };
  const AdjValue inputs[] = { ADJ_NONE, ADJ_OBJECT (queue), ADJ_TENSOR (x) };
  g_auto (AdjValue) eager = ADJ_NONE, result = ADJ_NONE;

  g_assert_true (adj_function_call (function, cx, eager_inputs, 2, &eager));
  g_assert_true (adj_interpret (cx, graph, inputs + 1 - n_tokens, 2 + n_tokens, NULL, &result));
  for (guint i = 0; i < 2; i++)
    {
      g_auto (AdjValue) one = adj_object_store (eager.items[i].tensor);
      g_auto (AdjValue) two = adj_object_store (result.items[n_tokens + i].tensor);

      g_assert_true (adj_object_state_equal (&one, &two));
    }
  g_assert_true (adj_object_equal (queue, other));
}

static void
a_queue_is_traced_to_the_same_graph (void)
{
  static const char *const parameters[] = { "queue", "x" };
  const AdjTraceOptions options = { .name = "program", .parameters = parameters };

  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    {
      g_autoptr (AdjGraph) theirs = read_capture (releases[i], "queue");
      g_autoptr (AdjFunction) function = queue_function_new ();
      g_autoptr (AdjObject) queue = queue_new ();
      g_autoptr (AdjTensorData) x = queue_input_new ();
      const AdjValue inputs[] = { ADJ_OBJECT (queue), ADJ_DATA (x) };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjGraph) ours = adj_trace (function, inputs, 2, &options, &error);

      g_assert_no_error (error);
      assert_same (ours, theirs);
      assert_runs (theirs, 0);
    }
}

/* The function without the queue among its results, as an ahead-of-time trace takes it. */
static gboolean
without_queue_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  g_autoptr (AdjFunction) whole = queue_function_new ();
  g_auto (AdjValue) all = ADJ_NONE;

  if (!adj_function_call (whole, cx, args, n_args, &all))
    return FALSE;
  *result = adj_value_new_items (
      ADJ_VALUE_TUPLE,
      (AdjValue[]){ adj_value_copy (&all.items[0]), adj_value_copy (&all.items[1]) }, 2);
  return TRUE;
}

static void
its_tokens_are_the_same (void)
{
  static const AdjFunctionClass klass = { .name = "two", .call = without_queue_call };

  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    {
      g_autoptr (AdjGraph) theirs = read_capture (releases[i], "queue-tokens");
      g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (AdjFunction));
      g_autoptr (AdjObject) queue = queue_new ();
      g_autoptr (AdjTensorData) x = queue_input_new ();
      const AdjValue inputs[] = { ADJ_OBJECT (queue), ADJ_DATA (x) };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjAotGraph) aot = adj_aot_trace (function, inputs, 2, NULL, NULL, &error);

      g_assert_no_error (error);
      assert_same (adj_aot_graph_get_graph (aot), theirs);
      assert_runs (theirs, 1);
    }
}

/* Parameters that PyTorch packed are shown; nothing of them is run, and the node is named. */
static void
packed_parameters_are_shown_and_not_run (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    {
      g_autoptr (AdjGraph) graph = read_capture (releases[i], "packed");
      g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
      g_autoptr (AdjObject) packed =
          adj_object_new_flat ("quantized::LinearPackedParamsBase", NULL, NULL);
      g_autoptr (AdjTensorData) data = queue_input_new ();
      const AdjValue inputs[] = {
        ADJ_OBJECT (packed),
        ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (data))),
      };
      g_auto (AdjValue) result = ADJ_NONE;
      g_autoptr (GError) error = NULL;

      g_assert_cmpuint (adj_graph_get_n_calls (graph), ==, 2);
      g_assert_cmpstr (adj_graph_get_node (graph, 3)->args.items[1].text, ==, "bias");
      g_assert_false (adj_interpret (cx, graph, inputs, 2, NULL, &result));
      adj_context_take_error (cx, &error);
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, "linear_dynamic"));
    }
}

/* A class of torch._library.opaque_object: class and state are told, and the graph refuses to run
 * in a sentence (captures/opaque.py). */
static void
opaque_constants_are_shown_and_not_run (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "objects", "captures", "opaque.pt2", NULL);
  g_autoptr (AdjBundle) bundle = adj_test_load_bundle (path);
  const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, 0);
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, graph, 0);
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (AdjValue) state = ADJ_NONE;
  g_autoptr (GError) error = NULL;
  AdjRunResult result = { 0 };
  AdjObject *box;

  g_assert_nonnull (call);
  g_assert_cmpuint (call->n_inputs, ==, 2);
  g_assert_cmpint (call->inputs[0].kind, ==, ADJ_VALUE_OPAQUE_OBJECT);
  box = adj_object_from_opaque (call->inputs[0].object);
  g_assert_cmpstr (adj_object_get_name (box), ==, "__main__.Box");
  g_assert_false (adj_object_is_live (box));
  g_assert_true (adj_object_flatten (box, &state, &error));
  adj_value_print (&state, NULL, text);
  g_assert_cmpstr (text->str, ==,
                   "(('weight', 2.0), ('name', 'box'), ('steps', [1, 2, {'deep': True}]))");
  g_assert_false (adj_executor_run (
      adj_executors_get (0),
      &(AdjRunRequest){ .graph = graph->graph, .inputs = call->inputs, .n_inputs = 2 }, &result,
      NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "Adjoint has no such operator (node 'scale'"));
  adj_run_result_clear (&result);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/objects/captures/a-queue-is-traced-to-the-same-graph",
                   a_queue_is_traced_to_the_same_graph);
  g_test_add_func ("/objects/captures/its-tokens-are-the-same", its_tokens_are_the_same);
  g_test_add_func ("/objects/captures/packed-parameters-are-shown-and-not-run",
                   packed_parameters_are_shown_and_not_run);
  g_test_add_func ("/objects/captures/opaque-constants-are-shown-and-not-run",
                   opaque_constants_are_shown_and_not_run);
  return g_test_run ();
}
