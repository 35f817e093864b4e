/* SPDX-License-Identifier: MIT */

/* Identity and equality of objects, and what a run copies: a mutable object equals only itself,
 * whatever its state; objects of a value class in the same state are one value. */

#include <string.h>

#include "autograd/adj-autograd.h"
#include "exec/adj-executor.h"
#include "ir/adj-builder.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "ir/adj-opaque-internal.h"
#include "ir/adj-text.h"
#include "objects/adj-extensions-internal.h"
#include "objects/adj-object-table.h"
#include "objects/number-classes.h"
#include "ops/adj-op-table.h"
#include "passes/adj-pass.h"
#include "rules/adj-operators.h"
#include "session/adj-pipeline.h"
#include "support/adj-test.h"
#include "trace/adj-trace.h"

/* (transfer full): a counter of the built-in class. */
static AdjObject *
counter_new (gint64 count)
{
  g_auto (AdjValue) state = adj_object_state_new ("count", ADJ_INT (count), NULL);
  g_autoptr (GError) error = NULL;
  AdjObject *counter = adj_object_new (adj_object_class_find ("Adjoint::Counter"), &state, &error);

  g_assert_no_error (error);
  return counter;
}

/* -- which are one -- */

static void
references_are_like_and_values_are_the_same (void)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  const AdjValue two = number_new_in (cx, &number_counter, 2),
                 other_two = number_new_in (cx, &number_counter, 2),
                 three = number_new_in (cx, &number_counter, 3),
                 value = number_new_in (cx, &number_shift, 2),
                 other_value = number_new_in (cx, &number_shift, 2),
                 scale = number_new_in (cx, &number_scale, 2);
  g_autoptr (AdjOpaque) typed = adj_opaque_new_of_type ("__main__.Counter");
  g_autoptr (AdjOpaque) same_type = adj_opaque_new_of_type ("__main__.Counter");
  g_autoptr (AdjObject) told = adj_object_new_flat ("__main__.Counter", NULL, NULL);
  g_autoptr (AdjObject) told_again = adj_object_new_flat ("__main__.Counter", NULL, NULL);

  g_assert_true (adj_opaque_is_like (two.object, other_two.object));
  g_assert_false (adj_opaque_is_same (two.object, other_two.object));
  g_assert_false (adj_value_equal (&two, &other_two));
  g_assert_false (adj_opaque_is_like (two.object, three.object));
  g_assert_false (adj_opaque_is_like (two.object, scale.object));
  g_assert_true (adj_opaque_is_same (value.object, other_value.object));
  g_assert_true (adj_value_equal (&value, &other_value));
  g_assert_false (adj_value_equal (&value, &two));
  g_assert_true (adj_opaque_is_like (typed, same_type));
  g_assert_false (adj_opaque_is_same (typed, same_type));
  g_assert_true (adj_opaque_is_like (&told->parent, &told_again->parent));
  g_assert_false (adj_opaque_is_like (&told->parent, two.object));
  g_assert_false (adj_object_equal (told, told_again));
}

typedef struct
{
  AdjFunction parent;
  AdjObject *counters[3]; /* (unowned) */
} Counting;

/* Calls next () of each counter. */
static gboolean
counting_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjValue items[3];

  for (guint i = 0; i < 3; i++)
    {
      if (!adj_object_call (cx, ((Counting *) function)->counters[i], "next", NULL, 0, NULL,
                            &items[i]))
        return FALSE;
      adj_keep (items[i].tensor);
    }
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, 3);
  return TRUE;
}

/* (transfer full): a graph of three calls, the first and third of @one, the second of @other in
 * the same state. */
static AdjGraph *
trace_counters (AdjObject *one, AdjObject *other)
{
  static const AdjFunctionClass klass = { .name = "counting", .call = counting_call };
  g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (Counting));
  g_autoptr (GError) error = NULL;
  AdjGraph *graph;

  memcpy (((Counting *) function)->counters, (AdjObject *[]){ one, other, one },
          3 * sizeof (AdjObject *));
  graph = adj_trace (function, NULL, 0, &(AdjTraceOptions){ .name = "f" }, &error);
  g_assert_no_error (error);
  return graph;
}

static double
read_count (AdjObject *counter)
{
  g_auto (AdjValue) state = ADJ_NONE;

  g_assert_true (adj_object_flatten (counter, &state, NULL));
  return (double) adj_object_state_get (&state, "count")->integer;
}

static void
objects_in_one_state_are_two_attributes (void)
{
  static const char *const executors[] = { "interpreter", "planned", "fast" };
  g_autoptr (AdjObject) one = counter_new (5), other = counter_new (5);
  g_autoptr (AdjGraph) graph = trace_counters (one, other);
  const AdjRunRequest request = { .graph = graph };

  g_assert_cmpuint (adj_graph_get_n_attrs (graph), ==, 2);
  for (guint i = 0; i < G_N_ELEMENTS (executors); i++)
    {
      g_autoptr (GError) error = NULL;
      AdjRunResult result;

      adj_executor_run (adj_executor_find (executors[i], NULL), &request, &result, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (result.n_objects, ==, 2);
      g_assert_cmpfloat (read_count (result.objects[0].after), ==, 7);
      g_assert_cmpfloat (read_count (result.objects[1].after), ==, 6);
      g_assert_cmpfloat (read_count (one), ==, 5);
      g_assert_cmpfloat (read_count (other), ==, 5);
      adj_run_result_clear (&result);
    }
}

/* Graphs of the same program are structurally equal if their objects are in the same state. */
static void
graphs_are_compared_by_the_states (void)
{
  g_autoptr (AdjObject) one = counter_new (5), other = counter_new (5), six = counter_new (6);
  g_autoptr (AdjGraph) a = trace_counters (one, other);
  g_autoptr (AdjGraph) b = trace_counters (other, one);
  g_autoptr (AdjGraph) c = trace_counters (one, six);

  g_assert_true (adj_graph_equal_structure (a, b));
  g_assert_false (adj_graph_equal_structure (a, c));
}

/* Calls with equal value objects are merged. */
static void
values_are_merged (void)
{
  static const char text[] =
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[3][1]cpu\"):\n"
      "        a: \"f32[3][1]cpu\" = torch.ops.mine.shift.default(x, Shift(2.0))\n"
      "        b: \"f32[3][1]cpu\" = torch.ops.mine.shift.default(x, Shift(2.0))\n"
      "        c: \"f32[3][1]cpu\" = torch.ops.mine.shift.default(x, Shift(3.0))\n"
      "        d: \"f32[3][1]cpu\" = a + b\n"
      "        e: \"f32[3][1]cpu\" = d + c\n"
      "        return (e,)\n";
  g_autoptr (AdjExtensions) extensions = number_extensions_new ();
  g_autoptr (AdjExtender) extender = adj_extender_new (extensions, NULL);
  g_autoptr (AdjGraph) plain = adj_graph_parse (text, -1, adj_op_find, NULL, NULL);
  g_autoptr (AdjGraph) graph = adj_extender_take_graph (extender, plain, NULL);
  g_autoptr (GError) error = NULL;
  AdjPassResult result;

  adj_pass_run (adj_pass_find ("cse", NULL), NULL, graph, &result, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_calls (result.graph), ==, 4);
  adj_pass_result_clear (&result);
}

/* Reads of an object are not merged across a call that changes it. */
static void
reads_stay_on_their_side (void)
{
  static const char text[] =
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[3][1]cpu\", counter):\n"
      "        a: \"f32[3][1]cpu\" = torch.ops.mine.count.default(x, counter)\n"
      "        b: \"f32[3][1]cpu\" = torch.ops.mine.count.default(x, counter)\n"
      "        %s\n"
      "        d: \"f32[3][1]cpu\" = torch.ops.mine.count.default(x, counter)\n"
      "        e: \"f32[3][1]cpu\" = a + b\n"
      "        f: \"f32[3][1]cpu\" = e + d\n"
      "        return (f,)\n";
  static const struct
  {
    const char *between;
    guint n_calls;
  } cases[] = {
    { "c: \"f32[3][1]cpu\" = torch.ops.aten.neg.default(x)", 4 },
    { "c: \"f32[3][1]cpu\" = torch.ops.mine.bump.default(counter, x)", 5 },
    { "c = torch.ops.higher_order.call_torchbind(counter, 'add')", 5 },
    { "c = torch.ops.higher_order.with_effects(None, torch.ops.mine.bump.default, counter, x); "
      "t: \"f32[0][1]cpu\" = c[0]; k: \"f32[0][1]cpu\" = t + t",
      7 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *source = g_strdup_printf (text, cases[i].between);
      g_autoptr (AdjExtensions) extensions = number_extensions_new ();
      g_autoptr (AdjExtender) extender = adj_extender_new (extensions, NULL);
      g_autoptr (AdjGraph) plain = adj_graph_parse (source, -1, adj_op_find, NULL, NULL);
      g_autoptr (AdjGraph) graph = adj_extender_take_graph (extender, plain, NULL);
      g_autoptr (GError) error = NULL;
      AdjPassResult result;

      adj_pass_run (adj_pass_find ("cse", NULL), NULL, graph, &result, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (adj_graph_get_n_calls (result.graph), ==, cases[i].n_calls);
      adj_pass_result_clear (&result);
    }
}

/* -- copies -- */

/* An object that is passed twice is copied once.  For an object held by a called graph its
 * attribute is reported. */
static void
one_copy_stands_for_one_object (void)
{
  static const char text[] = "class G(torch.nn.Module):\n"
                             "    def forward(self, a, b):\n"
                             "        one = torch.ops.higher_order.call_torchbind(a, 'next')\n"
                             "        two = torch.ops.higher_order.call_torchbind(b, 'next')\n"
                             "        return (one, two)\n";
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, NULL);
  g_autoptr (AdjObject) counter = counter_new (5);
  const AdjValue inputs[] = { ADJ_OBJECT (counter), ADJ_OBJECT (counter) };
  const AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = 2 };
  g_autoptr (GError) error = NULL;
  AdjRunResult result;

  adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (result.n_objects, ==, 1);
  g_assert_cmpfloat (read_count (result.objects[0].after), ==, 7);
  g_assert_cmpfloat (read_count (counter), ==, 5);
  adj_run_result_clear (&result);
}

/* (transfer full): cond (flag, counts, leaves) whose branches hold @counter. */
static AdjGraph *
make_branches (AdjObject *counter)
{
  static const char branch_text[] = "class %s(torch.nn.Module):\n"
                                    "    def forward(self):\n"
                                    "        it = self.it\n"
                                    "        count = torch.ops.higher_order.call_torchbind(it, "
                                    "'next')\n"
                                    "        return (count,)\n";
  static const char *const names[] = { "true_graph_0", "false_graph_0" };
  g_autoptr (AdjBuilder) builder = adj_builder_new ("G", NULL, adj_op_find);
  AdjNodeId args[3];
  AdjValue items[4];
  g_autoptr (GError) error = NULL;
  AdjGraph *graph;

  args[0] = adj_builder_placeholder (builder, "flag", NULL);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *source = g_strdup_printf (branch_text, names[i]);
      g_autoptr (AdjGraph) parsed = adj_graph_parse (source, -1, adj_op_find, NULL, &error);
      g_autoptr (AdjBuilder) inner = adj_builder_new_like (parsed);
      g_autofree AdjNodeId *map = g_new0 (AdjNodeId, adj_graph_get_n_nodes (parsed));
      AdjGraph *branch;

      g_assert_no_error (error);
      adj_builder_add_attr (inner, "it", &ADJ_OBJECT (counter));
      for (guint k = 0; k < adj_graph_get_n_nodes (parsed); k++)
        adj_builder_copy (inner, parsed, k, map);
      branch = adj_builder_seal (inner, &error);
      g_assert_no_error (error);
      adj_builder_add_subgraph (builder, names[i], branch);
      adj_graph_unref (branch);
      args[i + 1] = adj_builder_add (builder, &(AdjNodeSpec){ .name = names[i],
                                                              .opcode = ADJ_OPCODE_GET_ATTR,
                                                              .target = names[i],
                                                              .origin = ADJ_NO_NODE });
    }
  for (guint i = 0; i < 3; i++)
    items[i] = ADJ_NODE (args[i]);
  items[3] = (AdjValue){ .kind = ADJ_VALUE_TUPLE };
  items[0] = ADJ_NODE (adj_builder_call (builder, "torch.ops.higher_order.cond", items, 4));
  adj_builder_output (builder, &items[0]);
  graph = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  return graph;
}

static void
objects_of_called_graphs_are_told_of (void)
{
  static const char *const executors[] = { "interpreter", "planned" };
  g_autoptr (AdjObject) counter = counter_new (5);
  g_autoptr (AdjGraph) graph = make_branches (counter);
  const AdjValue flag = ADJ_BOOL (TRUE);
  const AdjRunRequest request = { .graph = graph, .inputs = &flag, .n_inputs = 1 };

  for (guint i = 0; i < G_N_ELEMENTS (executors); i++)
    {
      g_autoptr (GError) error = NULL;
      AdjRunResult result;

      adj_executor_run (adj_executor_find (executors[i], NULL), &request, &result, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (result.n_objects, ==, 1);
      g_assert_cmpuint (result.objects[0].node.index, ==, 1);
      g_assert_cmpstr (result.note, ==,
                       i == 0 ? NULL
                              : "run by the interpreter: 'count' calls an object, or an operator "
                                "with an effect");
      g_assert_cmpfloat (read_count (result.objects[0].after), ==, 6);
      g_assert_cmpfloat (read_count (counter), ==, 5);
      adj_run_result_clear (&result);
    }
}

/* In a float64 run the reported initial state of an object is widened like the final one. */
static void
widened_states_are_compared_as_such (void)
{
  static const char text[] = "class G(torch.nn.Module):\n"
                             "    def forward(self, queue):\n"
                             "        top = torch.ops.higher_order.call_torchbind(queue, 'top')\n"
                             "        return (top,)\n";
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, NULL);
  const gint64 size = 2;
  g_autoptr (AdjTensorData) data =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &size, 1, (float[]){ 1, 2 }, NULL);
  g_auto (AdjValue) state =
      adj_object_state_new ("init_tensor", ADJ_DATA (adj_tensor_data_ref (data)), NULL);
  g_autoptr (AdjObject) queue =
      adj_object_new (adj_object_class_find ("_TorchScriptTesting::_TensorQueue"), &state, NULL);
  const AdjValue input = ADJ_OBJECT (queue);
  const AdjRunRequest request = {
    .graph = graph, .inputs = &input, .n_inputs = 1, .float64 = TRUE
  };
  g_autoptr (GError) error = NULL;
  AdjRunResult result;

  adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (adj_object_equal (result.objects[0].before, result.objects[0].after));
  g_assert_false (adj_object_equal (queue, result.objects[0].after));
  adj_run_result_clear (&result);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/objects/copies/references-are-like-and-values-the-same",
                   references_are_like_and_values_are_the_same);
  g_test_add_func ("/objects/copies/objects-in-one-state-are-two-attributes",
                   objects_in_one_state_are_two_attributes);
  g_test_add_func ("/objects/copies/graphs-are-compared-by-the-states",
                   graphs_are_compared_by_the_states);
  g_test_add_func ("/objects/copies/values-are-merged", values_are_merged);
  g_test_add_func ("/objects/copies/reads-stay-on-their-side", reads_stay_on_their_side);
  g_test_add_func ("/objects/copies/one-copy-stands-for-one-object",
                   one_copy_stands_for_one_object);
  g_test_add_func ("/objects/copies/objects-of-called-graphs-are-told-of",
                   objects_of_called_graphs_are_told_of);
  g_test_add_func ("/objects/copies/widened-states-are-compared-as-such",
                   widened_states_are_compared_as_such);
  return g_test_run ();
}
