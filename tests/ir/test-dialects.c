/* SPDX-License-Identifier: MIT */

/* Graph text as the releases of PyTorch print it (ir/SPEC.md §5). */

#include <string.h>

#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"

static AdjGraph *
parse (const char *text, AdjDiags *diags)
{
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_graph_parse (text, -1, adj_op_find, diags, &error);

  g_assert_no_error (error);
  g_assert_nonnull (graph);

  return graph;
}

/* Parses a module with this body and the parameters x and y. */
static AdjGraph *
parse_body (const char *body, AdjDiags *diags)
{
  g_autofree char *text =
      g_strconcat ("class m(torch.nn.Module):\n    def forward(self, x, y):\n", body, NULL);

  return parse (text, diags);
}

/* The graph prints as text that parses to the same graph; the text is @text if given. */
static void
assert_prints_back (const AdjGraph *graph, const char *text)
{
  g_autofree char *printed = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  g_autoptr (AdjGraph) back = parse (printed, NULL);
  g_autofree char *again = adj_graph_print (back, ADJ_PRINT_DEFAULT, NULL);
  g_autofree char *line = g_strconcat (text ? text : "", "\n", NULL);

  g_assert_cmpstr (again, ==, printed);
  if (text)
    g_assert_cmpstr (printed, ==, line);
}

static const AdjNode *
find (const AdjGraph *graph, const char *name)
{
  AdjNodeId id = adj_graph_find_node (graph, name);

  g_assert_true (adj_node_id_is_valid (id));

  return adj_graph_get_node (graph, id.index);
}

/* Expects the text of the extra @key of @node; %NULL: absent. */
static void
assert_extra (const AdjNode *node, const char *key, const char *expected)
{
  const AdjValue *extra = node->meta.extra;
  g_autoptr (GString) found = g_string_new (NULL);

  for (guint i = 0; extra && i + 1 < extra->n; i += 2)
    if (g_str_equal (extra->items[i].text, key))
      adj_value_print (&extra->items[i + 1], NULL, found);
  g_assert_cmpstr (found->str, ==, expected ? expected : "");
}

/* The same small graphs printed by releases from 2.1 on; `nodes` is the number of nodes counted
 * by PyTorch.  2.6 prints in Adjoint's form. */
static void
test_dialects (void)
{
  g_autofree char *list =
      g_test_build_filename (G_TEST_DIST, "ir", "golden", "dialects", "nodes", NULL);
  g_autofree char *lines = adj_test_read_file (list, NULL);
  g_auto (GStrv) rows = g_strsplit (g_strchomp (lines), "\n", -1);
  guint n_found = 0, n_parsed = 0;

  for (guint i = 0; rows[i]; i++)
    {
      g_auto (GStrv) words = g_strsplit (rows[i], " ", 3);
      g_autofree char *path =
          g_test_build_filename (G_TEST_DIST, "ir", "golden", "dialects", words[0], NULL);
      g_autofree char *text = adj_test_read_file (path, NULL);
      g_autoptr (AdjDiags) diags = adj_diags_new ();
      g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, diags, NULL);
      g_autofree char *inputs = NULL;
      g_autofree char *calls = NULL;

      n_found++;
      if (!graph)
        {
          g_test_message ("%s: not parsed", words[0]);
          continue;
        }
      n_parsed++;
      for (guint k = 0; k < adj_diags_get_n (diags); k++)
        g_test_message ("%s: %s", words[0], adj_diags_get (diags, k)->message);
      g_assert_cmpuint (adj_diags_get_n (diags), ==, 0);
      inputs = g_strdup_printf ("%u", adj_graph_get_n_inputs (graph));
      calls = g_strdup_printf ("%u", adj_graph_get_n_calls (graph));
      g_assert_cmpstr (inputs, ==, words[1]);
      g_assert_cmpstr (calls, ==, words[2]);
      assert_prints_back (graph, g_str_has_suffix (words[0], "-2.6.txt") &&
                                         g_str_has_prefix (text, "class ") && !strchr (text, '\033')
                                     ? text
                                     : NULL);
    }
  g_test_message ("parsed %u of %u", n_parsed, n_found);
  g_assert_cmpuint (n_parsed, ==, n_found);
}

static AdjGraph *
parse_dialect (const char *name)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "ir", "golden", "dialects", name, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);

  return parse (text, NULL);
}

/* str(graph) and the code of the same graph parse to the same graph. */
static void
test_lines (void)
{
  static const char *const releases[] = { "2.6", "2.15" };

  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    {
      g_autofree char *lines = g_strdup_printf ("symbolic-lines-%s.txt", releases[i]);
      g_autofree char *code = g_strdup_printf ("symbolic-code-%s.txt", releases[i]);
      g_autoptr (AdjGraph) a = parse_dialect (lines);
      g_autoptr (AdjGraph) b = parse_dialect (code);

      g_assert_true (adj_graph_equal_structure (a, b));
    }
}

/* Ambiguities of str(): texts and devices without quotes, parameters in the first line, the
 * older form of user counts, an invalid line. */
static void
test_odd_lines (void)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (AdjGraph) graph =
      parse ("a program says\n"
             "graph(%x, y):\n"
             "    %gelu : [#users=1] = call_function[target=torch._C._nn.gelu](args = (%x,), "
             "kwargs = {approximate: tanh})\n"
             "    %to : torch.Tensor [num_users=1] = call_method[target=to](args = (%gelu,), "
             "kwargs = {device: cuda:1, dtype: torch.float16})\n"
             "    %odd : [num_users=1] = call_function[target=f](args = (%to, <object at (1, >), "
             "kwargs = {})\n"
             "    return (to, {'k': y, 's': cpu})\n",
             diags);
  const AdjNode *gelu = find (graph, "gelu"), *to = find (graph, "to");

  g_assert_cmpuint (adj_graph_get_n_inputs (graph), ==, 2);
  g_assert_cmpint (gelu->kwargs.items[1].kind, ==, ADJ_VALUE_STRING);
  g_assert_cmpstr (gelu->kwargs.items[1].text, ==, "tanh");
  g_assert_cmpint (to->opcode, ==, ADJ_OPCODE_CALL_METHOD);
  g_assert_cmpint (to->kwargs.items[1].kind, ==, ADJ_VALUE_DEVICE);
  g_assert_cmpint (to->kwargs.items[1].device.index, ==, 1);
  g_assert_cmpint (to->kwargs.items[3].kind, ==, ADJ_VALUE_DTYPE);
  g_assert_cmpuint (adj_graph_get_n_calls (graph), ==, 3);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 1);
  assert_prints_back (graph, NULL);
}

/* A line that is not understood becomes the node that it names; names in its text are not read
 * as parameters. */
static void
test_unread_lines (void)
{
  static const char *const calls[] = { "g](args = (\005x,)", "g](args = (%lost,)", "g(" };

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autofree char *text =
          g_strdup_printf ("graph():\n"
                           "    %%own : [num_users=0] = placeholder[target=x]\n"
                           "    %%f : [num_users=1] = call_function[target=%s, kwargs = {})\n"
                           "    %%relu : [num_users=1] = call_function[target=torch.relu](args = "
                           "(%%f,), kwargs = {})\n"
                           "    return (relu, f)\n",
                           calls[i]);
      g_autoptr (AdjGraph) graph = parse (text, NULL);
      const AdjNode *output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);

      g_assert_cmpint (find (graph, "relu")->args.items[0].kind, ==, ADJ_VALUE_NODE);
      g_assert_cmpint (output->args.items[0].items[1].kind, ==, ADJ_VALUE_NODE);
      g_assert_cmpint (find (graph, "f")->opcode, ==, ADJ_OPCODE_RAW);
      assert_prints_back (graph, NULL);
    }
}

/* Annotations of newer releases beside the nodes. */
static void
test_dialect_meta (void)
{
  g_autoptr (AdjGraph) expanded = parse_dialect ("backward-expanded-2.15.txt");
  g_autoptr (AdjGraph) annotated = parse_dialect ("annotated-2.15.txt");
  g_autoptr (AdjGraph) meta = parse_dialect ("additional-meta-2.15.txt");
  g_autoptr (AdjGraph) shown = parse_dialect ("show-meta-2.15.txt");
  g_autoptr (AdjGraph) exported = parse_dialect ("exported-2.15.txt");
  g_autoptr (AdjGraph) earlier = parse_dialect ("exported-2.6.txt");
  const AdjNode *output = adj_graph_get_node (expanded, adj_graph_get_output (expanded).index);

  assert_extra (adj_graph_get_node (expanded, 3), "desc",
                "'TangentAOTInput(output=PlainAOTOutput(idx=0))'");
  assert_extra (adj_graph_get_node (expanded, 2), "desc", NULL);
  assert_extra (output, "desc",
                "['GradAOTOutput(grad_of=PlainAOTInput(idx=0))', "
                "'GradAOTOutput(grad_of=PlainAOTInput(idx=1))']");
  assert_extra (find (annotated, "sin"), "custom", "{'stage': 0, 'note': 'it\\'s \"quoted\"'}");
  assert_extra (find (annotated, "mul"), "custom", NULL);
  g_assert_cmpstr (find (meta, "t_1")->meta.partitioner_tag, ==, "is_backward");
  g_assert_true (find (meta, "mul_1")->meta.seq_nr == find (meta, "add")->meta.seq_nr - 2);
  g_assert_cmpstr (find (shown, "sin")->meta.original_aten, ==, "aten.sin.default");
  g_assert_cmpstr (find (shown, "sin")->meta.partitioner_tag, ==, "is_forward");
  g_assert_cmpstr (find (exported, "p_net_0_bias")->meta.parameter, ==, "net.0.bias");
  g_assert_cmpstr (find (earlier, "p_net_0_bias")->meta.parameter, ==, "net.0.bias");
  g_assert_null (find (earlier, "b_scale")->meta.parameter);
  g_assert_cmpint (adj_symbols_find (adj_graph_get_symbols (earlier), "s0")->max, ==, 64);
}

/* The joint graph of a checkpointed region as 2.15 prints it. */
static void
test_policies (void)
{
  g_autoptr (AdjGraph) graph = parse_body (
      "        # ac_graph_id: 2 - PREFER_RECOMPUTE File: /a/m.py:70 in f, code: x = g(x)\n"
      "        a = torch.relu(x)\n"
      "        b = torch.relu(a)\n"
      "\n"
      "        # recompute: MUST_SAVE Backward of forward node: File: /a/m.py:70 in f, code: x = "
      "g(x)\n"
      "        c = torch.relu(b)\n"
      "\n"
      "        # No stacktrace found for following nodes\n"
      "        d = torch.relu(c)\n"
      "        return (d,)\n"
      "\n"
      " # graph id: 140204384025680\n",
      NULL);

  g_assert_cmpint (find (graph, "b")->meta.recompute, ==, ADJ_RECOMPUTE_PREFER_RECOMPUTE);
  g_assert_cmpint (find (graph, "b")->meta.ac_graph_id, ==, 2);
  g_assert_cmpint (find (graph, "b")->meta.frames[0].line, ==, 70);
  g_assert_cmpint (find (graph, "c")->meta.recompute, ==, ADJ_RECOMPUTE_MUST_SAVE);
  g_assert_cmpint (find (graph, "c")->meta.ac_graph_id, ==, -1);
  g_assert_cmpstr (find (graph, "c")->meta.frames[0].code, ==, "x = g(x)");
  g_assert_cmpint (find (graph, "d")->meta.recompute, ==, ADJ_RECOMPUTE_NONE);
}

/* ir/SPEC.md §5.3: tree leaves whose names are not parameters, and functions that reorder. */
static void
test_unpackings (void)
{
  g_autoptr (AdjGraph) empty =
      parse ("class m(torch.nn.Module):\n"
             "    def forward(self):\n"
             "        a, b, = fx_pytree.tree_flatten_spec([], self._in_spec)\n"
             "        c = torch.add(a, b)\n"
             "        return pytree.tree_unflatten([c], self._out_spec)\n",
             NULL);
  g_autoptr (AdjGraph) bare = parse (
      "class m(torch.nn.Module):\n"
      "    def forward(self, primals, tangents):\n"
      "        primals_1: f32[4, 4], tangents_1: f32[4], = fx_pytree.tree_flatten_spec([primals, "
      "tangents], self._in_spec)\n"
      "        mm: f32[4, 4] = torch.ops.aten.mm.default(primals_1, primals_1)\n"
      "        return pytree.tree_unflatten([mm, tangents_1], self._out_spec)\n",
      NULL);
  g_autoptr (AdjGraph) shuffled = parse (
      "class m(torch.nn.Module):\n"
      "    def forward(self, x, y):\n"
      "        self_1, x_1, y_1, = pytree.tree_leaves((self, x, y,))\n"
      "        b, a, = self._in_shuffle_graph(self_1, x_1, y_1)\n"
      "        c = torch.sub(a, b)\n"
      "        return pytree.tree_unflatten(self._out_shuffle_graph(self_1, x_1, y_1, c, a), "
      "self._out_spec)\n",
      NULL);
  const AdjNode *output = adj_graph_get_node (shuffled, adj_graph_get_output (shuffled).index);

  g_assert_cmpuint (adj_graph_get_n_inputs (empty), ==, 2);
  g_assert_cmpuint (adj_graph_get_n_inputs (bare), ==, 2);
  g_assert_cmpuint (find (bare, "primals_1")->val.meta->shape.rank, ==, 2);
  g_assert_cmpuint (find (bare, "mm")->val.meta->shape.rank, ==, 2);
  g_assert_cmpuint (adj_graph_get_n_inputs (shuffled), ==, 2);
  g_assert_cmpstr (adj_graph_get_node (shuffled, 0)->name, ==, "b");
  g_assert_cmpuint (output->args.items[0].n, ==, 2);
  g_assert_cmpuint (output->n_inputs, ==, 2);
}

/* Several graphs, with program output before, between, inside and after them. */
static void
test_parses_all (void)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) graphs = adj_graph_parse_all ("step 1\n"
                                                   "class A(torch.nn.Module):\n"
                                                   "    def forward(self, x):\n"
                                                   "        y = torch.relu(x)\n"
                                                   "loss 0.5\n"
                                                   "        z = torch.relu(y)\n"
                                                   "        return (z,)\n"
                                                   "step 2\n"
                                                   "class Bad(torch.nn.Module):\n"
                                                   "    pass\n"
                                                   "\n"
                                                   "class B(torch.nn.Module):\n"
                                                   "    def __init__(self) -> None:\n"
                                                   "        super().__init__()\n"
                                                   "    def forward(self, x):\n"
                                                   "        return (x,)\n"
                                                   "bye\n",
                                                   -1, adj_op_find, diags, &error);
  g_autofree char *text = NULL;
  const AdjParsedGraph *parsed;

  g_assert_no_error (error);
  g_assert_cmpuint (graphs->len, ==, 2);
  parsed = &g_array_index (graphs, AdjParsedGraph, 0);
  g_assert_cmpuint (adj_graph_get_n_calls (parsed->graph), ==, 2);
  g_assert_cmpuint (parsed->line, ==, 2);
  parsed = &g_array_index (graphs, AdjParsedGraph, 1);
  g_assert_cmpstr (adj_graph_get_name (parsed->graph), ==, "B");
  g_assert_cmpuint (parsed->line, ==, 12);
  text = g_strndup (g_bytes_get_data (parsed->text, NULL), g_bytes_get_size (parsed->text));
  g_assert_true (g_str_has_suffix (text, "return (x,)"));
  /* Diagnostics for the line between the graphs and for the class without forward. */
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 2);
  g_assert_cmpuint (adj_diags_get (diags, 0)->span.line, ==, 5);
  g_assert_cmpuint (adj_diags_get (diags, 1)->span.line, ==, 9);
}

/* A class at each of the levels 0 to 65. */
static GString *
nest_classes (void)
{
  GString *text = g_string_new (NULL);

  for (guint depth = 0; depth <= 65; depth++)
    g_string_append_printf (text,
                            "%*sclass C%u(torch.nn.Module):\n"
                            "%*s    def forward(self, x):\n"
                            "%*s        return (x,)\n\n",
                            (int) depth * 4, "", depth, (int) depth * 4, "", (int) depth * 4, "");
  return text;
}

/* A graph with too many levels is left out whole: none of its classes is a graph of its own. */
static void
test_left_out_whole (void)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (GString) text = nest_classes ();
  g_autoptr (GArray) none = NULL;
  g_autoptr (GArray) graphs = NULL;
  g_autoptr (GError) error = NULL;

  none = adj_graph_parse_all (text->str, -1, adj_op_find, diags, &error);
  g_assert_null (none);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 1);
  g_assert_nonnull (strstr (adj_diags_get (diags, 0)->message, "the graph 'C0' is left out"));
  g_clear_error (&error);
  g_string_append (text, "class After(torch.nn.Module):\n"
                         "    def forward(self, x):\n"
                         "        return (x,)\n");
  graphs = adj_graph_parse_all (text->str, -1, adj_op_find, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (graphs->len, ==, 1);
  g_assert_cmpstr (adj_graph_get_name (g_array_index (graphs, AdjParsedGraph, 0).graph), ==,
                   "After");
}

/* So is what stands below a comment at the margin. */
static void
test_left_out_with_comment (void)
{
  static const char text[] = "class Outer(torch.nn.Module):\n"
                             "    def forward(self, x, =):\n"
                             "        return (x,)\n"
                             "\n"
                             "# a comment\n"
                             "    class inner(torch.nn.Module):\n"
                             "        def forward(self, x):\n"
                             "            return (x,)\n"
                             "\n"
                             "class After(torch.nn.Module):\n"
                             "    def forward(self, x):\n"
                             "        return (x,)\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) graphs = adj_graph_parse_all (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (graphs->len, ==, 1);
  g_assert_cmpstr (adj_graph_get_name (g_array_index (graphs, AdjParsedGraph, 0).graph), ==,
                   "After");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ir/dialects/all-releases", test_dialects);
  g_test_add_func ("/ir/dialects/lines", test_lines);
  g_test_add_func ("/ir/dialects/odd-lines", test_odd_lines);
  g_test_add_func ("/ir/dialects/unread-lines", test_unread_lines);
  g_test_add_func ("/ir/dialects/meta", test_dialect_meta);
  g_test_add_func ("/ir/dialects/policies", test_policies);
  g_test_add_func ("/ir/dialects/unpackings", test_unpackings);
  g_test_add_func ("/ir/dialects/several-in-a-text", test_parses_all);
  g_test_add_func ("/ir/dialects/left-out-whole", test_left_out_whole);
  g_test_add_func ("/ir/dialects/left-out-with-comment", test_left_out_with_comment);

  return g_test_run ();
}
