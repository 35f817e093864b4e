/* SPDX-License-Identifier: MIT */

/* Print and leaf functions as current PyTorch leaves them in frontend graphs
 * (effects/capture.py): the joint graph equals PyTorch's, and both print and compute what
 * PyTorch did. */

#include <math.h>
#include <string.h>

#include "aot/adj-aot.h"
#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "interpreter/adj-effect-ops.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "passes/adj-effects.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"

static const char *const names[] = {
  "says",
  "says_backward",
  "says_what_is_written",
  "says_values",
  "leafed",
  "leafed_twice",
  "leafed_thrice",
  "leafed_in_a_hook",
  "leafed_integers",
  "leafed_without_a_gradient",
  "leafed_between_prints",
};

/* -- what was captured -- */

static char *
read_text (const char *name, const char *kind)
{
  g_autofree char *file = g_strdup_printf ("%s-%s.txt", name, kind);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "aot", "effects", file, NULL);

  return adj_test_read_file (path, NULL);
}

static AdjGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  return graph;
}

static AdjGraph *
read_graph (const char *name, const char *kind)
{
  g_autofree char *text = read_text (name, kind);

  return parse (text);
}

/* Reads the frontend graph without the bodies of its leaf functions. */
static AdjGraph *
read_without_bodies (const char *name)
{
  g_autofree char *text = read_text (name, "dynamo");
  const char *bodies = strstr (text, "class real_fn");
  gsize n = bodies != NULL ? (gsize) (bodies - text) : 0;

  g_assert_cmpuint (n, >, 0);
  while (text[n - 1] == ' ')
    n--;
  text[n] = 0;
  return parse (text);
}

static AdjAotGraph *
trace (AdjGraph *dynamo)
{
  const AdjAotOptions options = { .keep_input_mutations = TRUE, .detaches = ADJ_DETACHES_2_15 };
  g_autoptr (GError) error = NULL;
  AdjAotGraph *aot = adj_aot_trace_graph (dynamo, &options, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (adj_aot_graph_is_joint (aot));
  return aot;
}

/* Prints @graph without the line that names the class. */
static char *
print_body (const AdjGraph *graph)
{
  g_autofree char *text =
      adj_graph_print (graph, ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS, NULL);

  return g_strdup (strchr (text, '\n'));
}

static void
assert_joint_is_theirs (AdjGraph *dynamo, const char *name)
{
  g_autoptr (AdjGraph) theirs = read_graph (name, "joint");
  g_autoptr (AdjAotGraph) aot = trace (dynamo);
  g_autofree char *a = print_body (adj_aot_graph_get_graph (aot));
  g_autofree char *b = print_body (theirs);
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (a, ==, b);
  adj_graph_verify_effects_kept (dynamo, adj_aot_graph_get_graph (aot), &error);
  g_assert_no_error (error);
}

static void
the_joint_graph_is_the_same (gconstpointer name)
{
  g_autoptr (AdjGraph) dynamo = read_graph (name, "dynamo");

  assert_joint_is_theirs (dynamo, name);
}

static void
it_is_the_same_without_the_functions (gconstpointer name)
{
  g_autoptr (AdjGraph) dynamo = read_without_bodies (name);

  assert_joint_is_theirs (dynamo, name);
}

/* -- running -- */

static void
append (const char *text, gpointer data)
{
  g_string_append (data, text);
}

/* Makes input @index of capture.py: x, w or s. */
static AdjTensorData *
make_input (guint index)
{
  static const gint64 sizes[2][2] = { { 3, 4 }, { 4, 3 } };
  static const float two = 2;
  float values[12];

  if (index == 2)
    return adj_tensor_data_new_from_array (ADJ_DTYPE_F32, NULL, 0, &two, NULL);
  for (guint i = 0; i < 12; i++)
    values[i] = index == 0 ? (float) i / 8 - 0.5f : (float) i / 4 - 1;
  return adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes[index], 2, values, NULL);
}

static AdjValue
add_input (AdjContext *cx, guint index)
{
  g_autoptr (AdjTensorData) data = make_input (index);

  return ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (data)));
}

static AdjValue
add_one (AdjContext *cx)
{
  static const float one = 1;
  g_autoptr (AdjTensorData) data =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, NULL, 0, &one, NULL);

  return ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (data)));
}

/* Compares @tensor with line @line of the values written by capture.py: the loss, the gradients
 * of x and w. */
static void
assert_values (const char *name, guint line, AdjTensor *tensor)
{
  g_autofree char *text = read_text (name, "values");
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_auto (GStrv) words = g_strsplit (lines[line], " ", -1);
  g_autoptr (AdjTensorData) data = adj_tensor_snapshot (tensor);
  double values[12] = { 0 };

  g_assert_cmpint (adj_tensor_data_get_numel (data), ==, g_strv_length (words));
  adj_tensor_data_read_doubles (data, values);
  for (guint i = 0; words[i] != NULL; i++)
    {
      double wanted = g_ascii_strtod (words[i], NULL);

      g_assert_cmpfloat (fabs (values[i] - wanted), <=, 2e-6 * MAX (fabs (wanted), 1));
    }
}

static void
it_runs_as_pytorch_did (gconstpointer name)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (AdjGraph) dynamo = read_graph (name, "dynamo");
  g_autoptr (GString) printed = g_string_new (NULL);
  g_autofree char *wanted = read_text (name, "printed");
  AdjValue inputs[3];
  g_auto (AdjValue) result = ADJ_NONE;

  adj_context_set_print (cx, append, printed);
  for (guint i = 0; i < 3; i++)
    inputs[i] = add_input (cx, i);
  g_assert_true (adj_tensor_set_requires_grad (cx, inputs[0].tensor, TRUE));
  g_assert_true (adj_tensor_set_requires_grad (cx, inputs[1].tensor, TRUE));
  g_assert_true (
      adj_interpret (cx, dynamo, inputs, adj_graph_get_n_inputs (dynamo), NULL, &result));
  g_assert_true (adj_tensor_backward (cx, result.items[0].tensor));
  g_assert_cmpstr (printed->str, ==, wanted);
  assert_values (name, 0, result.items[0].tensor);
  for (guint i = 0; i < 2; i++)
    assert_values (name, 1 + i, adj_tensor_get_grad (inputs[i].tensor));
}

/* (transfer none): the tokens, x, w, s and the tangent, each chosen by the role of its
 * placeholder. */
static void
make_joint_inputs (AdjContext *cx, AdjGraph *joint, AdjValue *inputs)
{
  guint next = 0;

  for (guint i = 0; i < adj_graph_get_n_inputs (joint); i++)
    {
      const AdjNode *node = adj_graph_get_node (joint, adj_graph_get_input (joint, i).index);
      const AdjShape *shape = &node->val.meta->shape;

      if (shape->rank == 1)
        inputs[i] = ADJ_NONE;
      else if (g_str_has_prefix (node->name, "tangents"))
        inputs[i] = add_one (cx);
      else
        inputs[i] = add_input (cx, next++);
    }
}

static void
assert_joint_runs (AdjGraph *joint, const char *name)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GString) printed = g_string_new (NULL);
  g_autofree char *wanted = read_text (name, "printed");
  AdjValue inputs[8];
  g_auto (AdjValue) result = ADJ_NONE;
  guint n_tokens;

  adj_context_set_print (cx, append, printed);
  make_joint_inputs (cx, joint, inputs);
  n_tokens = inputs[0].kind == ADJ_VALUE_NONE;
  g_assert_true (adj_interpret (cx, joint, inputs, adj_graph_get_n_inputs (joint), NULL, &result));
  g_assert_cmpstr (printed->str, ==, wanted);
  for (guint i = 0; i < 3; i++)
    assert_values (name, i, result.items[n_tokens + i].tensor);
}

static void
its_joint_graph_runs_as_pytorch_did (gconstpointer name)
{
  g_autoptr (AdjGraph) dynamo = read_graph (name, "dynamo");
  g_autoptr (AdjAotGraph) aot = trace (dynamo);
  g_autoptr (AdjGraph) theirs = read_graph (name, "joint");

  assert_joint_runs (adj_aot_graph_get_graph (aot), name);
  if (g_str_has_prefix (name, "says"))
    assert_joint_runs (theirs, name);
}

static void
assert_not_run (AdjGraph *graph, const char *why)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  AdjValue inputs[8];
  g_auto (AdjValue) result = ADJ_NONE;
  g_autoptr (GError) error = NULL;

  make_joint_inputs (cx, graph, inputs);
  g_assert_false (adj_interpret (cx, graph, inputs, adj_graph_get_n_inputs (graph), NULL, &result));
  adj_context_take_error (cx, &error);
  g_assert_cmpstr (error->message, ==, why);
}

static void
a_function_that_is_not_here_is_not_run (void)
{
  g_autoptr (AdjGraph) dynamo = read_without_bodies ("leafed");
  g_autoptr (AdjGraph) theirs = read_graph ("leafed", "joint");
  g_autoptr (AdjAotGraph) aot = trace (dynamo);

  assert_not_run (dynamo, "invoke_leaf_function calls a function of the process that the graph was "
                          "made in, which is not here (node 'invoke_leaf_function', "
                          "capture.py:94)");
  assert_not_run (adj_aot_graph_get_graph (aot),
                  "invoke_leaf_function calls a function of the process that the graph was made "
                  "in, which is not here (node 'with_effects', capture.py:94)");
  assert_not_run (theirs, "the file does not hold '_opaque_obj0' (node '_opaque_obj0', "
                          "capture.py:94)");
}

/* -- formats -- */

/* (transfer full): the output of the print operator for @format and @args, or its error. */
static char *
print_with (const char *format, const AdjValue *args, guint n)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GString) printed = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  AdjValue all[8] = { { .kind = ADJ_VALUE_STRING, .n = strlen (format), .text = format } };
  g_auto (AdjValue) result = ADJ_NONE;

  for (guint i = 0; i < n; i++)
    all[i + 1] = args[i];
  adj_context_set_print (cx, append, printed);
  if (adj_call_effect (cx, adj_effect_op_find ("torch.ops.higher_order.print"), all, n + 1, NULL,
                       &result))
    return g_strdup (printed->str);
  adj_context_take_error (cx, &error);
  return g_strdup (error->message);
}

static void
texts_are_formatted_as_in_python (void)
{
  static const char name[] = "ab";
  const AdjValue args[] = {
    ADJ_INT (-7), ADJ_FLOAT (1234.5), { .kind = ADJ_VALUE_STRING, .n = 2, .text = name }, ADJ_NONE
  };
  static const char *const cases[][2] = {
    { "{} {} {} {}", "-7 1234.5 ab None\n" },
    { "{1}{0}{0}", "1234.5-7-7\n" },
    { "{0:05d}|{0:^7}|{0:*<4}|{0:+}", "-0007|  -7   |-7**|-7\n" },
    { "{1:.2f}|{1:10.1e}|{1:g}|{1:.0%}", "1234.50|   1.2e+03|1234.5|123450%\n" },
    { "{2:>4}|{2:^5}|{2!r}|{2:.1}", "  ab| ab  |'ab'|a\n" },
    { "{{}}{{", "{}{\n" },
    { "{", "print: a brace has no other: '{'" },
    { "a } b", "print: a brace has no other: 'a } b'" },
    { "{4}", "print: the text to be printed has a field 4, of 4 arguments" },
    { "{x}", "print: the text to be printed names no argument: 'x'" },
    { "{0:q}", "print: a format is not understood: 'q'" },
    { "{2:d}", "print: a value cannot be formatted so: 'd'" },
    { "{1:d}", "print: a value cannot be formatted so: 'd'" },
    { "{3:3}", "print: a value cannot be formatted so: '3'" },
    { "{0!x}", "print: a conversion is not understood: 'x'" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = print_with (cases[i][0], args, 4);

      g_assert_cmpstr (text, ==, cases[i][1]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *joint = g_strdup_printf ("/aot/effects/%s/joint-graph", names[i]);
      g_autofree char *eager = g_strdup_printf ("/aot/effects/%s/eager", names[i]);
      g_autofree char *run = g_strdup_printf ("/aot/effects/%s/joint-run", names[i]);
      g_autofree char *bare = g_strdup_printf ("/aot/effects/%s/without-functions", names[i]);

      g_test_add_data_func (joint, names[i], the_joint_graph_is_the_same);
      g_test_add_data_func (eager, names[i], it_runs_as_pytorch_did);
      g_test_add_data_func (run, names[i], its_joint_graph_runs_as_pytorch_did);
      if (g_str_has_prefix (names[i], "leafed"))
        g_test_add_data_func (bare, names[i], it_is_the_same_without_the_functions);
    }
  g_test_add_func ("/aot/effects/a-function-that-is-not-here-is-not-run",
                   a_function_that_is_not_here_is_not_run);
  g_test_add_func ("/aot/effects/texts-are-formatted-as-in-python",
                   texts_are_formatted_as_in_python);
  return g_test_run ();
}
