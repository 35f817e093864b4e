/* SPDX-License-Identifier: MIT */

/* What PyTorch 2.6 and the newest release make of a queue and of packed parameters: it is read, the
 * same function is traced here to the same text, and the graph runs (captures/capture.py). */

#include <math.h>
#include <string.h>

#include "aot/adj-aot.h"
#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "interpreter/adj-effect-ops.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ir/adj-text-internal.h"
#include "ir/adj-text.h"
#include "objects/adj-object-table.h"
#include "objects/queue-program.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "rules/adj-apply.h"
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

/* -- packed parameters -- */

#define LINEAR_DYNAMIC "torch.ops.quantized.linear_dynamic.default"

/* Numbers behind a bar of a line of packed-values.txt. */
typedef struct
{
  double *numbers;
  gint64 n;
} Part;

/* (transfer full) */
static Part *
read_parts (const char *line)
{
  g_auto (GStrv) texts = g_strsplit (line, "|", -1);
  Part *parts = g_new0 (Part, 8);

  g_assert_cmpuint (g_strv_length (texts), ==, 7);
  for (guint i = 0; i < 7; i++)
    {
      g_auto (GStrv) words = g_strsplit (g_strstrip (texts[i]), " ", -1);

      parts[i].numbers = g_new0 (double, g_strv_length (words) + 1);
      for (; words[parts[i].n] != NULL; parts[i].n++)
        parts[i].numbers[parts[i].n] = g_ascii_strtod (words[parts[i].n], NULL);
    }
  return parts;
}

static void
free_parts (Part *parts)
{
  for (guint i = 0; i < 7; i++)
    g_free (parts[i].numbers);
  g_free (parts);
}

/* (transfer full): DATA. */
static AdjValue
make_data (AdjContext *cx, const Part *part, AdjDType dtype, gint64 rows)
{
  const gint64 sizes[2] = { rows > 0 ? rows : part->n, rows > 0 ? part->n / rows : 1 };
  AdjTensor *made = adj_from_array (cx, ADJ_DTYPE_F64, sizes, rows > 0 ? 2 : 1, part->numbers);

  return adj_object_store (
      ADJ_APPLY (cx, ADJ_OP_prims_convert_element_type, ADJ_TENSOR (made), ADJ_DTYPE (dtype)));
}

/* Borrowed from the scope. */
static AdjObject *
make_packed (AdjContext *cx, const Part *parts)
{
  g_auto (AdjValue) state = adj_object_state_new (
      "weight", make_data (cx, &parts[1], ADJ_DTYPE_I8, (gint64) parts[0].numbers[0]), "scale",
      make_data (cx, &parts[2], ADJ_DTYPE_F64, 0), "zero_point",
      make_data (cx, &parts[3], ADJ_DTYPE_I64, 0), "bias",
      parts[4].n > 0 ? make_data (cx, &parts[4], ADJ_DTYPE_F32, 0) : ADJ_NONE, NULL);
  AdjObject *packed =
      adj_object_new_in (cx, adj_object_class_find ("quantized::LinearPackedParamsBase"), &state);
  g_autoptr (GError) error = NULL;

  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  return packed;
}

/* As PyTorch computes it, up to the last bit of the sum with the bias. */
static void
check_product (const char *line)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  Part *parts = read_parts (line);
  AdjObject *packed = make_packed (cx, parts);
  g_auto (AdjValue) x = make_data (cx, &parts[5], ADJ_DTYPE_F32, (gint64) parts[0].numbers[2]);
  const AdjValue args[3] = { ADJ_TENSOR (adj_object_load (cx, &x)), ADJ_OBJECT (packed),
                             ADJ_BOOL (parts[0].numbers[3] != 0) };
  g_auto (AdjValue) result = ADJ_NONE;
  g_autoptr (AdjTensorData) data = NULL;
  double most = 0;

  g_assert_true (adj_call_effect (cx, adj_effect_op_find (LINEAR_DYNAMIC), args, 3, NULL, &result));
  data = adj_tensor_snapshot (result.tensor);
  g_assert_cmpint (adj_tensor_data_get_numel (data), ==, parts[6].n);
  for (gint64 i = 0; i < parts[6].n; i++)
    most = MAX (most, fabs (parts[6].numbers[i]));
  for (gint64 i = 0; i < parts[6].n; i++)
    g_assert_cmpfloat (fabs (adj_tensor_data_get_double (data, i) - parts[6].numbers[i]), <=,
                       most * 0x1p-22);
  free_parts (parts);
}

static void
packed_products_are_the_same (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "objects", "captures", "packed-values.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) lines = g_strsplit (g_strchomp (text), "\n", -1);

  g_assert_cmpuint (g_strv_length (lines), ==, 16);
  for (guint i = 0; lines[i] != NULL; i++)
    check_product (lines[i]);
}

/* linear_dynamic (x, packed), packed.bias () */
static gboolean
packed_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const AdjValue given[2] = { args[1], args[0] };
  AdjValue both[2] = { ADJ_NONE }, bias;

  if (!adj_call_effect (cx, adj_effect_op_find (LINEAR_DYNAMIC), given, 2, NULL, &both[0]) ||
      !adj_object_call (cx, adj_object_from_opaque (args[0].object), "bias", NULL, 0, NULL, &bias))
    return FALSE;
  both[1] = adj_value_copy (&bias);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, both, 2);
  return TRUE;
}

/* What PyTorch packs of 0, 0.1 … 0.5, and ones. */
static const char *const capture_line = "2 3 1 0 | 0 10 20 30 40 50 | 0.1 | 0 | 1 1 | 1 1 1 | 0";

static void
packed_parameters_are_traced_to_the_same_graph (void)
{
  static const AdjFunctionClass klass = { .name = "linear", .call = packed_call };
  static const char *const parameters[] = { "packed", "x" };
  const AdjTraceOptions options = { .name = "linear", .parameters = parameters };

  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    {
      g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
      g_autoptr (AdjGraph) theirs = read_capture (releases[i], "packed");
      g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (AdjFunction));
      Part *parts = read_parts (capture_line);
      AdjObject *packed = make_packed (cx, parts);
      g_auto (AdjValue) x = make_data (cx, &parts[5], ADJ_DTYPE_F32, 1);
      const AdjValue inputs[] = { ADJ_OBJECT (packed), x };
      const AdjValue run[] = { ADJ_OBJECT (packed), ADJ_TENSOR (adj_object_load (cx, &x)) };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjGraph) ours = adj_trace (function, inputs, 2, &options, &error);
      g_auto (AdjValue) result = ADJ_NONE, eager = ADJ_NONE;

      g_assert_no_error (error);
      assert_same (ours, theirs);
      g_assert_true (adj_interpret (cx, theirs, run, 2, NULL, &result));
      g_assert_true (adj_function_call (function, cx, run, 2, &eager));
      for (guint k = 0; k < 2; k++)
        {
          g_auto (AdjValue) one = adj_object_store (result.items[k].tensor);
          g_auto (AdjValue) two = adj_object_store (eager.items[k].tensor);

          g_assert_true (adj_object_state_equal (&one, &two));
        }
      free_parts (parts);
    }
}

/* -- a layer that has them: an attribute of its graph -- */

typedef struct
{
  AdjFunction parent;
  AdjObject *packed; /* (unowned) */
} Layer;

static gboolean
layer_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const AdjValue given[3] = { args[0], ADJ_OBJECT (((Layer *) function)->packed), ADJ_BOOL (TRUE) };
  g_auto (AdjValue) product = ADJ_NONE;
  AdjTensor *y;

  if (!adj_call_effect (cx, adj_effect_op_find (LINEAR_DYNAMIC), given, 3, NULL, &product))
    return FALSE;
  y = ADJ_APPLY (cx, ADJ_OP_relu, product);
  *result = y != NULL ? ADJ_TENSOR (adj_keep (y)) : ADJ_NONE;
  return y != NULL;
}

/* 4 and 13, as both releases compute of ones. */
static void
assert_gives (AdjGraph *graph, const AdjValue *inputs, guint n, guint n_tokens)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_auto (AdjValue) result = ADJ_NONE;
  g_autoptr (AdjTensorData) data = NULL;

  g_assert_true (adj_interpret (cx, graph, inputs, n, NULL, &result));
  data = adj_tensor_snapshot (n_tokens > 0 ? result.items[n_tokens].tensor : result.tensor);
  g_assert_cmpfloat (adj_tensor_data_get_double (data, 0), ==, 4);
  g_assert_cmpfloat (adj_tensor_data_get_double (data, 1), ==, 13);
}

static void
packed_attributes_are_traced_to_the_same_graph (void)
{
  static const AdjFunctionClass klass = { .name = "layer", .call = layer_call };
  static const char *const parameters[] = { "arg0" };
  const AdjTraceOptions options = { .name = "<lambda>", .parameters = parameters };
  static const double ones[] = { 1, 1, 1 };
  const Part of_x = { (double *) ones, 3 };
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (Layer));
  Part *parts = read_parts (capture_line);
  g_auto (AdjValue) x = make_data (cx, &of_x, ADJ_DTYPE_F32, 1);
  const AdjValue run[] = { ADJ_NONE, ADJ_TENSOR (adj_object_load (cx, &x)) };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) tokens = read_capture ("2.6", "packed-tokens");
  g_autoptr (AdjGraph) ours = NULL;
  g_autoptr (AdjAotGraph) aot = NULL;

  ((Layer *) function)->packed = make_packed (cx, parts);
  ours = adj_trace (function, &x, 1, &options, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    {
      g_autoptr (AdjGraph) theirs = read_capture (releases[i], "packed-attribute");

      assert_same (ours, theirs);
    }
  assert_gives (ours, &run[1], 1, 0);
  aot = adj_aot_trace (function, &x, 1, NULL, NULL, &error);
  g_assert_no_error (error);
  assert_same (adj_aot_graph_get_graph (aot), tokens);
  assert_gives (adj_aot_graph_get_graph (aot), run, 2, 1);
  free_parts (parts);
}

/* Of packed parameters that only a name is known of, nothing is run, and the node is named. */
static void
packed_parameters_without_a_state_are_not_run (void)
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

/* A constant object of a call that torch.export wrote is not among the constants of the archive:
 * its class is told. */
static void
lifted_objects_are_shown (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "objects", "captures", "lifted.pt2", NULL);
  g_autoptr (AdjBundle) bundle = adj_test_load_bundle (path);
  AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
  const AdjNode *scale = adj_graph_get_node (graph, adj_graph_find_node (graph, "scale").index);
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, adj_bundle_get_graph (bundle, 0), 0);

  g_assert_cmpuint (call->n_inputs, ==, 2);
  g_assert_cmpstr (adj_opaque_get_type (call->inputs[0].object), ==, "__main__.Counter");
  g_assert_cmpint (scale->args.items[1].kind, ==, ADJ_VALUE_OPAQUE_OBJECT);
  g_assert_cmpstr (adj_opaque_get_type (scale->args.items[1].object), ==, "__main__.Scale");
}

/* Members were read while PyTorch traced: they are numbers.  What is hoisted is an input, as an
 * object is that changes, and each says its class, by which a run is refused. */
static void
opaque_inputs_are_read (void)
{
  static const struct
  {
    const char *name;
    const char *const types[4];
  } cases[] = {
    { "opaque-dynamo", { NULL, "__main___Counter", "__main___Scale", "__main___Scale" } },
    { "opaque-aot", { NULL, NULL, NULL, NULL } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *file = g_strdup_printf ("2.15-%s.txt", cases[i].name);
      g_autofree char *path =
          g_test_build_filename (G_TEST_DIST, "objects", "captures", file, NULL);
      g_autoptr (AdjBundle) bundle = adj_test_load_bundle (path);
      AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
      g_autoptr (GError) error = NULL;
      guint n;

      g_assert_true (adj_graph_check_understood (graph, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (adj_graph_get_n_inputs (graph), ==, 4);
      for (guint k = 0; k < 4; k++)
        g_assert_cmpstr (adj_node_get_type_text (
                             adj_graph_get_node (graph, adj_graph_get_input (graph, k).index)),
                         ==, cases[i].types[k]);
      g_assert_null (adj_session_random_inputs (graph, 1, &n, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
      if (cases[i].types[1] != NULL)
        g_assert_nonnull (strstr (error->message, "an object of the class '__main___Counter', "
                                                  "which Adjoint does not have"));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/objects/captures/a-queue-is-traced-to-the-same-graph",
                   a_queue_is_traced_to_the_same_graph);
  g_test_add_func ("/objects/captures/its-tokens-are-the-same", its_tokens_are_the_same);
  g_test_add_func ("/objects/captures/packed-products-are-the-same", packed_products_are_the_same);
  g_test_add_func ("/objects/captures/packed-parameters-are-traced-to-the-same-graph",
                   packed_parameters_are_traced_to_the_same_graph);
  g_test_add_func ("/objects/captures/packed-attributes-are-traced-to-the-same-graph",
                   packed_attributes_are_traced_to_the_same_graph);
  g_test_add_func ("/objects/captures/packed-parameters-without-a-state-are-not-run",
                   packed_parameters_without_a_state_are_not_run);
  g_test_add_func ("/objects/captures/opaque-constants-are-shown-and-not-run",
                   opaque_constants_are_shown_and_not_run);
  g_test_add_func ("/objects/captures/lifted-objects-are-shown", lifted_objects_are_shown);
  g_test_add_func ("/objects/captures/opaque-inputs-are-read", opaque_inputs_are_read);
  return g_test_run ();
}
