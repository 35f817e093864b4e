/* SPDX-License-Identifier: MIT */

/* Opaque objects in .adjoint: class and state are read back; an unknown class is shown and never
 * called; damaged state is refused with its place. */

#include <string.h>

#include "autograd/adj-autograd.h"
#include "call/adj-object.h"
#include "exec/adj-executor.h"
#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "objects/adj-object-table.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "support/object-programs.h"
#include "trace/adj-trace.h"

/* -- there and back -- */

static AdjBundle *
save_and_load (AdjGraph *graph, const AdjValue *inputs, guint n, const char *path)
{
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  const AdjBundleGraph entry = { .id = "g", .role = "inference", .rank = -1, .graph = graph };
  const AdjRecordedCall call = { .inputs = inputs, .n_inputs = n };
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (GError) error = NULL;
  AdjBundle *again;

  adj_bundle_builder_add_graph (builder, &entry, &error);
  g_assert_no_error (error);
  adj_bundle_builder_add_call (builder, &call, "g", &error);
  g_assert_no_error (error);
  bundle = adj_bundle_builder_end (builder, NULL);
  adj_format_find ("adjoint", NULL)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
  again = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  return again;
}

static gboolean
data_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = leaf->kind == ADJ_VALUE_TENSOR ? adj_object_store (leaf->tensor) : adj_value_copy (leaf);
  return TRUE;
}

/* Runs @graph in the interpreter. */
static void
run (AdjGraph *graph, const AdjValue *inputs, guint n, AdjRunResult *result)
{
  const AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = n };
  g_autoptr (GError) error = NULL;

  adj_executor_run (adj_executor_find ("interpreter", NULL), &request, result, NULL, &error);
  g_assert_no_error (error);
}

/* Programs whose first inputs are objects behave the same after saving and loading; a run
 * changes neither its inputs nor the objects of the file. */
static void
objects_come_back (void)
{
  for (guint seed = 0; seed < 20; seed++)
    {
      g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
      g_autofree char *path = g_build_filename (folder->path, "x.adjoint", NULL);
      g_autoptr (ObjectProgram) program = object_program_new (seed, FALSE);
      g_autoptr (AdjFunction) function = object_program_function_new (program);
      g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
      AdjValue live[OBJECT_PROGRAM_N_INPUTS], inputs[OBJECT_PROGRAM_N_INPUTS];
      g_autoptr (AdjGraph) graph = NULL;
      g_autoptr (AdjBundle) bundle = NULL;
      g_autoptr (GError) error = NULL;
      const AdjRecordedCall *call;
      AdjRunResult before, after;

      object_program_make_inputs (program, cx, live);
      for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
        adj_value_map (&live[i], data_leaf, NULL, &inputs[i]);
      graph = adj_trace (function, inputs, G_N_ELEMENTS (inputs),
                         &(AdjTraceOptions){ .functionalize = TRUE }, &error);
      g_assert_no_error (error);
      bundle = save_and_load (graph, inputs, G_N_ELEMENTS (inputs), path);
      call = adj_bundle_get_call (bundle, 0);
      run (graph, inputs, G_N_ELEMENTS (inputs), &before);
      run (call->graph->graph, call->inputs, call->n_inputs, &after);
      g_assert_true (adj_object_state_equal (&before.output, &after.output));
      g_assert_cmpuint (before.n_objects, ==, after.n_objects);
      for (guint i = 0; i < before.n_objects; i++)
        {
          g_assert_true (adj_object_equal (before.objects[i].before, after.objects[i].before));
          g_assert_true (adj_object_equal (before.objects[i].after, after.objects[i].after));
        }
      adj_run_result_clear (&before);
      adj_run_result_clear (&after);
      for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
        adj_value_clear (&inputs[i]);
    }
}

/* -- attributes -- */

typedef struct
{
  AdjFunction parent;
  AdjObject *counter; /* (unowned) */
} Counting;

static gboolean
counting_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjValue next;

  if (!adj_object_call (cx, ((Counting *) function)->counter, "next", NULL, 0, NULL, &next))
    return FALSE;
  *result = ADJ_TENSOR (adj_keep (next.tensor));
  return TRUE;
}

static AdjGraph *
trace_counter (gint64 count)
{
  static const AdjFunctionClass klass = { .name = "counting", .call = counting_call };
  g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (Counting));
  g_auto (AdjValue) state = adj_object_state_new ("count", ADJ_INT (count), NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjObject) counter =
      adj_object_new (adj_object_class_find ("Adjoint::Counter"), &state, &error);
  AdjGraph *graph;

  g_assert_no_error (error);
  ((Counting *) function)->counter = counter;
  graph = adj_trace (function, NULL, 0, NULL, &error);
  g_assert_no_error (error);
  return graph;
}

static void
attributes_come_back_and_stay (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "x.adjoint", NULL);
  g_autoptr (AdjGraph) graph = trace_counter (6);
  g_autoptr (AdjBundle) bundle = save_and_load (graph, NULL, 0, path);

  for (guint i = 0; i < 2; i++)
    {
      AdjRunResult result;

      run (adj_bundle_get_graph (bundle, 0)->graph, NULL, 0, &result);
      g_assert_cmpfloat (adj_tensor_data_get_double (result.output.data, 0), ==, 7);
      g_assert_cmpuint (result.n_objects, ==, 1);
      adj_run_result_clear (&result);
    }
}

/* -- what is not ours -- */

static void
unknown_classes_are_shown_and_not_called (void)
{
  static const char *const text =
      "class G(torch.nn.Module):\n"
      "    def forward(self, q, x: \"f32[3][1]cpu\"):\n"
      "        # adj: q {val: Object('mine::Thing')}\n"
      "        call_torchbind = torch.ops.higher_order.call_torchbind(q, 'push', x)\n"
      "        return (call_torchbind,)\n";
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "x.adjoint", NULL);
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, NULL);
  g_auto (AdjValue) state = adj_object_state_new ("n", ADJ_INT (3), NULL);
  g_autoptr (AdjObject) thing = adj_object_new_flat ("mine::Thing", NULL, &state);
  const gint64 n = 3;
  g_autoptr (AdjTensorData) x =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &n, 1, (const float[]){ 1, 2, 3 }, NULL);
  const AdjValue inputs[] = { ADJ_OBJECT (thing), ADJ_DATA (x) };
  g_autoptr (AdjBundle) bundle = save_and_load (graph, inputs, 2, path);
  const AdjRecordedCall *call = adj_bundle_get_call (bundle, 0);
  AdjObject *again = adj_object_from_opaque (call->inputs[0].object);
  const AdjNode *node = adj_graph_get_node (call->graph->graph, 0);
  const AdjRunRequest request = { .graph = call->graph->graph,
                                  .inputs = call->inputs,
                                  .n_inputs = 2 };
  g_autoptr (GError) error = NULL;
  AdjRunResult result;

  g_assert_true (adj_object_equal (thing, again));
  g_assert_cmpstr (adj_opaque_get_type (node->val.object), ==, "mine::Thing");
  g_assert_false (
      adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_true (g_str_has_prefix (error->message,
                                   "mine::Thing.push: Adjoint has no such class, so "
                                   "that the object cannot be called"));
}

/* -- as written -- */

/* (nullable): a file in @folder with a graph whose input is @object. */
static AdjBundle *
load_object (const AdjTestFolder *folder, const char *object, GError **error)
{
  g_autofree char *manifest = g_build_filename (folder->path, "adjoint.json", NULL);
  g_autofree char *graphs = g_build_filename (folder->path, "graphs", NULL);
  g_autofree char *graph = g_build_filename (graphs, "g.json", NULL);
  g_autofree char *text = g_strdup_printf (
      "{\"graph\": {\"class\": \"G\", \"inputs\": [\"q\"],\n\"nodes\": [\n"
      "{\"name\": \"q\", \"op\": \"placeholder\", \"target\": \"q\", \"val\": {\"$object\": %s}},\n"
      "{\"name\": \"output\", \"op\": \"output\", \"target\": \"output\", \"args\": [{\"$n\": "
      "\"q\"}]}\n]}}\n",
      object);

  g_assert_cmpint (g_mkdir_with_parents (graphs, 0700), ==, 0);
  g_file_set_contents (manifest,
                       "{\"format\": \"adjoint\", \"version\": [1, 7], \"graphs\": [{\"id\": "
                       "\"g\"}]}",
                       -1, NULL);
  g_file_set_contents (graph, text, -1, NULL);
  return adj_bundle_load (folder->path, NULL, error);
}

static void
assert_unknown (AdjBundle *bundle, const char *says)
{
  const AdjNode *node = adj_graph_get_node (adj_bundle_get_graph (bundle, 0)->graph, 0);
  g_auto (AdjValue) state = ADJ_NONE;
  g_autoptr (GError) error = NULL;

  g_assert_false (adj_object_flatten (adj_object_from_opaque (node->val.object), &state, &error));
  g_assert_cmpstr (error->message, ==, says);
}

/* Why a state is missing is shown, and stays in a copy of the file. */
static void
reasons_come_back (void)
{
  static const struct
  {
    const char *object, *says;
  } rows[] = {
    { "{\"class\": \"mine::Thing\", \"no_state\": \"it is too large\"}",
      "mine::Thing.__obj_flatten__: the state of this object is not known: it is too large" },
    { "{\"class\": \"Adjoint::Counter\", \"no_state\": \"it is too large\"}",
      "Adjoint::Counter.__obj_flatten__: the state of this object is not known: it is too large" },
    { "{\"class\": \"mine::Thing\"}",
      "mine::Thing.__obj_flatten__: the state of this object is not known" },
    { "{\"class\": \"mine::Thing\", \"state\": {\"$tuple\": [{\"$tuple\": [\"odd\", {\"$val\": "
      "\"f32cpu\"}]}]}}",
      "mine::Thing.__obj_flatten__: the state of this object is not known: the file does not "
      "describe its value 'f32cpu'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
      g_autofree char *path = g_build_filename (folder->path, "copy.adjoint", NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjBundle) bundle = load_object (folder, rows[i].object, &error);
      g_autoptr (AdjBundle) copy = NULL;

      g_assert_no_error (error);
      assert_unknown (bundle, rows[i].says);
      adj_format_find ("adjoint", NULL)->save (bundle, path, NULL, NULL, &error);
      g_assert_no_error (error);
      copy = adj_test_load_bundle (path);
      assert_unknown (copy, rows[i].says);
    }
}

/* -- damage -- */

static void
load_damaged (const char *object, const char *says)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load_object (folder, object, &error);

  if (says == NULL)
    {
      g_assert_no_error (error);
      return;
    }
  if (bundle != NULL || strstr (error->message, says) == NULL)
    g_error ("%s: %s", object, error != NULL ? error->message : "was read");
}

static void
damaged_objects_are_refused_by_place (void)
{
  static const char form[] = "expected {\"class\": text, \"state\": value}";
  static const char pairs[] = "the state of an object is a tuple of names with plain values";

  load_damaged ("{\"class\": \"mine::Thing\"}", NULL);
  load_damaged ("7", form);
  load_damaged ("{}", form);
  load_damaged ("{\"class\": 7}", form);
  load_damaged ("{\"class\": \"\"}", form);
  load_damaged ("{\"class\": \"a::B\", \"state\": 7}", pairs);
  load_damaged ("{\"class\": \"a::B\", \"state\": {\"$tuple\": [7]}}", pairs);
  load_damaged ("{\"class\": \"a::B\", \"state\": {\"$tuple\": [{\"$tuple\": [\"n\"]}]}}", pairs);
  load_damaged ("{\"class\": \"a::B\", \"state\": {\"$tuple\": [{\"$tuple\": [\"n\", {\"$object\": "
                "{\"class\": \"a::B\"}}]}]}}",
                pairs);
  /* A state that the class rejects is kept, and its methods are not called. */
  load_damaged ("{\"class\": \"Adjoint::Counter\", \"state\": {\"$tuple\": [{\"$tuple\": "
                "[\"count\", \"many\"]}]}}",
                NULL);
  load_damaged ("{\"class\": \"Adjoint::LookupTable\", \"state\": {\"$tuple\": []}}", NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/objects/objects-come-back", objects_come_back);
  g_test_add_func ("/formats/objects/attributes-come-back-and-stay", attributes_come_back_and_stay);
  g_test_add_func ("/formats/objects/unknown-classes-are-shown-and-not-called",
                   unknown_classes_are_shown_and_not_called);
  g_test_add_func ("/formats/objects/reasons-come-back", reasons_come_back);
  g_test_add_func ("/formats/objects/damaged-objects-are-refused-by-place",
                   damaged_objects_are_refused_by_place);
  return g_test_run ();
}
