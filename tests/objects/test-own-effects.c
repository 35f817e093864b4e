/* SPDX-License-Identifier: MIT */

/* An operator that a plugin brings, which a token orders and which changes the object that it takes
 * (captures/opaque-inputs.py): its graphs are PyTorch's, every pass keeps its order, and every
 * executor runs it on a copy of the object. */

#include <math.h>
#include <string.h>

#include "aot/adj-aot.h"
#include "autograd/adj-autograd.h"
#include "exec/adj-comparison.h"
#include "exec/adj-executor.h"
#include "exec/perturbation-private.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "objects/adj-extensions-internal.h"
#include "objects/number-classes.h"
#include "ops/adj-op-table.h"
#include "passes/adj-effects.h"
#include "rules/adj-operators.h"
#include "session/adj-pipeline.h"
#include "support/adj-test.h"

/* bump (counter, x) + bump (counter, x * 2) of ones and 2. */
#define SUM 10
#define COUNT_BEFORE 2
#define COUNT_AFTER 4

static AdjAotGraph *
trace (AdjGraph *dynamo)
{
  g_autoptr (GError) error = NULL;
  AdjAotGraph *aot = adj_aot_trace_graph (dynamo, NULL, NULL, &error);

  g_assert_no_error (error);
  return aot;
}

/* (transfer full): of @graph: a token where it takes one, then x and @counter. */
static AdjValue *
make_inputs (AdjGraph *graph, const AdjValue *counter)
{
  const gint64 size = 3;
  guint n = adj_graph_get_n_inputs (graph);
  AdjValue *inputs = g_new0 (AdjValue, n + 1);

  inputs[n - 2] = ADJ_DATA (
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &size, 1, (float[]){ 1, 1, 1 }, NULL));
  inputs[n - 1] = adj_value_copy (counter);
  return inputs;
}

static void
free_inputs (AdjGraph *graph, AdjValue *inputs)
{
  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    adj_value_clear (&inputs[i]);
  g_free (inputs);
}

/* Runs @graph by @executor, and asserts what came of it. */
static void
assert_runs (AdjGraph *graph, const char *executor, gboolean float64)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  const AdjValue counter = number_new_in (cx, &number_counter, COUNT_BEFORE);
  AdjValue *inputs = make_inputs (graph, &counter);
  const AdjRunRequest request = {
    .graph = graph, .inputs = inputs, .n_inputs = adj_graph_get_n_inputs (graph), .float64 = float64
  };
  g_autoptr (GError) error = NULL;
  AdjRunResult result;

  for (guint twice = 0; twice < 2; twice++)
    {
      adj_executor_run (adj_executor_find (executor, NULL), &request, &result, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpfloat (
          adj_tensor_data_get_double (result.output.items[result.output.n - 1].data, 0), ==, SUM);
      g_assert_cmpuint (result.n_objects, ==, 1);
      g_assert_cmpfloat (number_read (&ADJ_OBJECT (result.objects[0].before)), ==, COUNT_BEFORE);
      g_assert_cmpfloat (number_read (&ADJ_OBJECT (result.objects[0].after)), ==, COUNT_AFTER);
      g_assert_cmpfloat (number_read (&counter), ==, COUNT_BEFORE);
      adj_run_result_clear (&result);
    }
  free_inputs (graph, inputs);
}

static void
it_is_traced_as_in_pytorch (void)
{
  const AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS;
  g_autoptr (AdjExtensions) extensions = number_extensions_new ();
  g_autoptr (AdjGraph) dynamo = number_read_graph (extensions, "2.15-bumps-dynamo.txt");
  g_autoptr (AdjGraph) theirs = number_read_graph (extensions, "2.15-bumps-aot.txt");
  g_autoptr (AdjAotGraph) aot = trace (dynamo);
  g_autoptr (AdjAotGraph) again = trace (theirs);
  g_autofree char *a = adj_graph_print (adj_aot_graph_get_graph (aot), flags, NULL);
  g_autofree char *b = adj_graph_print (theirs, flags, NULL);
  g_autofree char *c = adj_graph_print (adj_aot_graph_get_graph (again), flags, NULL);
  g_autofree char *effects = adj_graph_print_effects (adj_aot_graph_get_graph (aot), FALSE);
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (a, ==, b);
  g_assert_cmpstr (strchr (c, '\n'), ==, strchr (b, '\n'));
  g_assert_cmpstr (effects, ==,
                   "torch.ops.mine.bump.default\n"
                   "torch.ops.mine.bump.default\n");
  adj_graph_verify_tokens (adj_aot_graph_get_graph (aot), &error);
  g_assert_no_error (error);
  adj_graph_verify_effects_kept (dynamo, adj_aot_graph_get_graph (aot), &error);
  g_assert_no_error (error);
}

static void
every_executor_calls_a_copy (void)
{
  static const char *const executors[] = { "interpreter", "planned", "fast" };
  g_autoptr (AdjExtensions) extensions = number_extensions_new ();
  g_autoptr (AdjGraph) dynamo = number_read_graph (extensions, "2.15-bumps-dynamo.txt");
  g_autoptr (AdjGraph) theirs = number_read_graph (extensions, "2.15-bumps-aot.txt");
  g_autoptr (AdjAotGraph) aot = trace (dynamo);
  AdjGraph *const graphs[] = { dynamo, theirs, adj_aot_graph_get_graph (aot) };

  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    for (guint k = 0; k < G_N_ELEMENTS (executors); k++)
      {
        assert_runs (graphs[i], executors[k], FALSE);
        assert_runs (graphs[i], executors[k], TRUE);
      }
}

static void
every_pass_keeps_it (void)
{
  g_autoptr (AdjExtensions) extensions = number_extensions_new ();
  g_autoptr (AdjGraph) dynamo = number_read_graph (extensions, "2.15-bumps-dynamo.txt");
  g_autoptr (AdjAotGraph) aot = trace (dynamo);
  AdjGraph *const graphs[] = { dynamo, adj_aot_graph_get_graph (aot) };

  for (guint g = 0; g < G_N_ELEMENTS (graphs); g++)
    for (guint i = 0; i < adj_passes_get_n (); i++)
      {
        const AdjPass *pass = adj_passes_get (i);
        g_autoptr (GError) error = NULL;
        AdjPassResult result;

        if (g_str_equal (pass->name, "export"))
          continue;
        adj_pass_run (pass, NULL, graphs[g], &result, &error);
        g_assert_no_error (error);
        assert_runs (result.graph, "interpreter", FALSE);
        adj_pass_result_clear (&result);
      }
}

/* The frontend calls the packet, the pass its overload. */
static void
a_packet_has_the_effect_of_its_overload (void)
{
  static const char text[] = "class G(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[3][1]cpu\", counter):\n"
                             "        a = torch.ops.mine.bump(counter, x)\n"
                             "        return (a,)\n";
  g_autoptr (AdjExtensions) extensions = number_extensions_new ();
  g_autoptr (AdjExtender) extender = adj_extender_new (extensions, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) plain = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  g_autoptr (AdjGraph) graph = adj_extender_take_graph (extender, plain, &error);
  const AdjPass *joint = adj_pass_find ("joint", &error);
  g_autofree char *effects = NULL;
  AdjPassResult result;

  g_assert_no_error (error);
  adj_pass_run (joint, NULL, graph, &result, &error);
  g_assert_no_error (error);
  effects = adj_graph_print_effects (result.graph, FALSE);
  g_assert_cmpstr (effects, ==, "torch.ops.mine.bump.default\n");
  adj_pass_result_clear (&result);
}

/* Printed, parsed and given the plugin's operators again it is the same. */
static void
text_comes_back (void)
{
  const AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS;
  g_autoptr (AdjExtensions) extensions = number_extensions_new ();
  g_autoptr (AdjExtender) extender = adj_extender_new (extensions, NULL);
  g_autoptr (AdjGraph) dynamo = number_read_graph (extensions, "2.15-bumps-dynamo.txt");
  g_autoptr (AdjAotGraph) aot = trace (dynamo);
  g_autofree char *text = adj_graph_print (adj_aot_graph_get_graph (aot), flags, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) plain = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  g_autoptr (AdjGraph) again = NULL;
  g_autofree char *printed = NULL;

  g_assert_no_error (error);
  again = adj_extender_take_graph (extender, plain, &error);
  g_assert_no_error (error);
  printed = adj_graph_print (again, flags, NULL);
  g_assert_cmpstr (printed, ==, text);
  assert_runs (again, "interpreter", FALSE);
}

/* Neither is a node computed again with a state that is another one by now, nor does that change
 * what the run was given. */
static void
compared_it_is_equal (void)
{
  g_autoptr (AdjExtensions) extensions = number_extensions_new ();
  g_autoptr (AdjGraph) theirs = number_read_graph (extensions, "2.15-bumps-aot.txt");
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  const AdjValue counter = number_new_in (cx, &number_counter, COUNT_BEFORE);
  AdjValue *inputs = make_inputs (theirs, &counter);
  AdjComparisonRequest request = { .graph = theirs,
                                   .inputs = inputs,
                                   .n_inputs = adj_graph_get_n_inputs (theirs),
                                   .executor = adj_executor_find ("planned", NULL),
                                   .nodes = TRUE,
                                   .rtol = NAN,
                                   .atol = NAN };
  g_autoptr (GError) error = NULL;
  AdjComparison *comparison = adj_comparison_run (&request, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (comparison->first, ==, -1);
  g_assert_cmpfloat (number_read (&counter), ==, COUNT_BEFORE);
  adj_comparison_free (comparison);
  free_inputs (theirs, inputs);
}

/* -- arguments that are none -- */

static void
other_objects_are_refused (void)
{
  static const char text[] = "class G(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[3][1]cpu\", counter):\n"
                             "        y: \"f32[3][1]cpu\" = torch.ops.mine.bump.default(%s, x)\n"
                             "        return (y,)\n";
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (AdjObject) told = adj_object_new_flat ("__main__.Counter", &number_counter, NULL);
  g_autoptr (AdjOpaque) unknown = adj_opaque_new_of_type ("__main__.Counter");
  const struct
  {
    const char *argument;
    AdjValue counter;
    const char *message;
  } cases[] = {
    { "counter", number_new_in (cx, &number_scale, 2),
      "mine::bump: argument 'counter' must be __main__.Counter, not an opaque object of the class "
      "__main__.Scale" },
    { "3", ADJ_NONE, "mine::bump: argument 'counter' must be __main__.Counter, not int" },
    { "x", ADJ_NONE, "mine::bump: argument 'counter' must be __main__.Counter, not Tensor" },
    { "None", ADJ_NONE, "mine::bump: argument 'counter' must be __main__.Counter, not None" },
    { "counter", ADJ_OBJECT (told),
      "mine::bump: the object of '__main__.Counter' is not here, only what is told of it" },
    { "counter", ADJ_OPAQUE (unknown),
      "mine::bump: the object of '__main__.Counter' is not here, only what is told of it" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *source = g_strdup_printf (text, cases[i].argument);
      g_autoptr (AdjExtensions) extensions = number_extensions_new ();
      g_autoptr (AdjExtender) extender = adj_extender_new (extensions, NULL);
      g_autoptr (AdjGraph) plain = adj_graph_parse (source, -1, adj_op_find, NULL, NULL);
      g_autoptr (AdjGraph) graph = adj_extender_take_graph (extender, plain, NULL);
      AdjValue *inputs = make_inputs (graph, &cases[i].counter);
      const AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = 2 };
      g_autoptr (GError) error = NULL;
      AdjRunResult result;

      g_assert_false (adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result,
                                        NULL, &error));
      g_assert_nonnull (error);
      g_assert_true (g_str_has_prefix (error->message, cases[i].message) ||
                     (g_test_message ("%s", error->message), FALSE));
      free_inputs (graph, inputs);
    }
}

/* What only names an operator of a plugin calls that: rounding is followed through it. */
static void
wrappers_call_what_they_name (void)
{
  static const struct
  {
    const char *call;
    gboolean applies;
  } cases[] = {
    { "out_dtype(torch.ops.mine.count.default, torch.float32, x, counter)", TRUE },
    { "run_and_save_rng_state(torch.ops.mine.count.default, x, counter)", TRUE },
    { "out_dtype(torch.ops.other.count.default, torch.float32, x, counter)", FALSE },
    { "out_dtype(torch.ops.aten.add_.Tensor, torch.float32, x, x)", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf ("class G(torch.nn.Module):\n"
                                               "    def forward(self, x, counter):\n"
                                               "        y = torch.ops.higher_order.%s\n"
                                               "        return (y,)\n",
                                               cases[i].call);
      g_autoptr (AdjExtensions) extensions = number_extensions_new ();
      g_autoptr (AdjExtender) extender = adj_extender_new (extensions, NULL);
      g_autoptr (AdjGraph) plain = adj_graph_parse (text, -1, adj_op_find, NULL, NULL);
      g_autoptr (AdjGraph) graph = adj_extender_take_graph (extender, plain, NULL);

      g_assert_cmpint (perturbation_applies (graph), ==, cases[i].applies);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/objects/own-effects/traced-as-in-pytorch", it_is_traced_as_in_pytorch);
  g_test_add_func ("/objects/own-effects/every-executor-calls-a-copy", every_executor_calls_a_copy);
  g_test_add_func ("/objects/own-effects/every-pass-keeps-it", every_pass_keeps_it);
  g_test_add_func ("/objects/own-effects/a-packet-has-the-effect-of-its-overload",
                   a_packet_has_the_effect_of_its_overload);
  g_test_add_func ("/objects/own-effects/text-comes-back", text_comes_back);
  g_test_add_func ("/objects/own-effects/compared-it-is-equal", compared_it_is_equal);
  g_test_add_func ("/objects/own-effects/other-objects-are-refused", other_objects_are_refused);
  g_test_add_func ("/objects/own-effects/wrappers-call-what-they-name",
                   wrappers_call_what_they_name);
  return g_test_run ();
}
