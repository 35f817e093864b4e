/* SPDX-License-Identifier: MIT */
/* The worked example of a joint graph, read, printed and traced again. */

#include <string.h>

#include "adjoint.h"
#include "support/graphs.h"

/* The worked example of ir/SPEC.md §6: read, printed, traced again, and checked like a reader
 * would. Its form is that of structured traces in 2.6 (types with strides and device,
 * deletions). */

static const char text[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, primals_1: \"f32[s27, 3][3, 1]cpu\", s27: \"Sym(s27)\"):\n"
    "         # File: /home/u/net.py:12 in forward, code: y = x.relu().split(1, dim=1)  # three "
    "columns\n"
    "        relu: \"f32[s27, 3][3, 1]cpu\" = torch.ops.aten.relu.default(primals_1);  primals_1 = "
    "None\n"
    "        split = torch.ops.aten.split.Tensor(relu, 1, 1);  relu = None\n"
    "        getitem: \"f32[s27, 1][3, 1]cpu\" = split[0];  split = None\n"
    "        \n"
    "        # No stacktrace found for following nodes\n"
    "        full_default: \"f32[][]cpu\" = torch.ops.aten.full.default([], -inf, dtype = "
    "torch.float32, layout = torch.strided, device = device(type='cpu'), pin_memory = False)\n"
    "        mul: \"Sym(2*s27)\" = s27 * 2;  s27 = None\n"
    "        view: \"f32[s27][3]cpu\" = torch.ops.aten.select.int(getitem, 1, 0);  getitem = None\n"
    "        return (view, full_default, mul)\n"
    "        \n";

static AdjGraph *
parse (void)
{
  return adj_test_parse_graph (text);
}

static const AdjNode *
find (const AdjGraph *graph, const char *name)
{
  return adj_graph_get_node (graph, adj_graph_find_node (graph, name).index);
}

/* Placeholders, calls, output; node names differ from targets. */
static void
test_nodes (void)
{
  static const char *const targets[][2] = {
    { "primals_1", "primals_1" },
    { "s27", "s27" },
    { "relu", "torch.ops.aten.relu.default" },
    { "split", "torch.ops.aten.split.Tensor" },
    { "getitem", "operator.getitem" },
    { "full_default", "torch.ops.aten.full.default" },
    { "mul", "operator.mul" },
    { "view", "torch.ops.aten.select.int" },
    { "output", "output" },
  };
  g_autoptr (AdjGraph) graph = parse ();

  g_assert_cmpuint (adj_graph_get_n_nodes (graph), ==, G_N_ELEMENTS (targets));
  g_assert_cmpuint (adj_graph_get_n_inputs (graph), ==, 2);
  g_assert_cmpuint (adj_graph_get_n_calls (graph), ==, 6);
  for (guint i = 0; i < G_N_ELEMENTS (targets); i++)
    {
      g_assert_cmpstr (adj_graph_get_node (graph, i)->name, ==, targets[i][0]);
      g_assert_cmpstr (adj_graph_get_node (graph, i)->target, ==, targets[i][1]);
    }
}

static void
test_values (void)
{
  g_autoptr (AdjGraph) graph = parse ();
  const AdjNode *full = find (graph, "full_default");
  const AdjNode *mul = find (graph, "mul");
  g_autoptr (GString) size = g_string_new (NULL);

  g_assert_cmpint (find (graph, "split")->val.kind, ==, ADJ_VALUE_NONE);
  g_assert_cmpint (full->args.items[1].kind, ==, ADJ_VALUE_FLOAT);
  g_assert_cmpfloat (full->args.items[1].number, ==, -G_MAXDOUBLE * 2);
  g_assert_cmpuint (full->kwargs.n, ==, 8);
  g_assert_cmpint (mul->args.items[0].kind, ==, ADJ_VALUE_NODE);
  g_assert_cmpint (mul->args.items[1].integer, ==, 2);
  adj_size_print (adj_graph_get_symbols (graph), mul->val.size, size);
  g_assert_cmpstr (size->str, ==, "2*s27");
}

/* A # inside the quoted code does not start a comment. */
static void
test_comment (void)
{
  g_autoptr (AdjGraph) graph = parse ();
  const AdjNodeMeta *meta = &find (graph, "relu")->meta;

  g_assert_cmpuint (meta->n_frames, ==, 1);
  g_assert_cmpstr (meta->frames[0].file, ==, "/home/u/net.py");
  g_assert_cmpuint (meta->frames[0].line, ==, 12);
  g_assert_cmpstr (meta->frames[0].function, ==, "forward");
  g_assert_cmpstr (meta->frames[0].code, ==, "y = x.relu().split(1, dim=1)  # three columns");
  g_assert_cmpuint (find (graph, "getitem")->meta.n_frames, ==, 1);
  g_assert_null (find (graph, "full_default")->meta.stack_trace);
}

static void
test_prints_back (void)
{
  g_autoptr (AdjGraph) graph = parse ();
  g_autofree char *printed = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);

  g_assert_cmpstr (printed, ==, text);
}

static void
assert_annotation (const AdjGraph *graph, const char *name, const char *expected)
{
  const AdjNode *node = find (graph, name);
  g_autoptr (GString) got = g_string_new (NULL);

  g_assert_cmpint (node->val.kind, ==, ADJ_VALUE_META);
  adj_tensor_meta_print (node->val.meta, adj_graph_get_symbols (graph), got);
  g_assert_cmpstr (got->str, ==, expected);
}

/* Tracing it again gives the same graph, with names from the operators and annotations from the
 * meta functions. */
static void
test_retraces (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = parse ();
  g_autoptr (AdjGraph) again = adj_retrace (graph, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (adj_graph_equal_structure (graph, again));
  assert_annotation (again, "relu", "f32[s27, 3][3, 1]cpu");
  assert_annotation (again, "getitem", "f32[s27, 1][3, 1]cpu");
  assert_annotation (again, "full", "f32[][]cpu");
  assert_annotation (again, "select", "f32[s27][3]cpu");
  g_assert_cmpuint (find (again, "relu")->meta.frames[0].line, ==, 12);
}

/* Deletions are computed from last uses: printing a text without them, or with wrong ones,
 * restores them. */
static void
test_deletes (void)
{
  g_autofree char *without = g_strdup (text);
  g_autoptr (AdjGraph) graph = NULL;
  g_autofree char *printed = NULL;

  for (char *at = strstr (without, ";  "); at != NULL; at = strstr (at, ";  "))
    memmove (at, strchr (at, '\n'), strlen (strchr (at, '\n')) + 1);
  graph = adj_test_parse_graph (without);
  printed = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);
  g_assert_cmpstr (printed, ==, text);
}

static AdjGraph *
parse_changed (const char *from, const char *to, AdjDiags *diags)
{
  g_auto (GStrv) parts = g_strsplit (text, from, 2);
  g_autofree char *changed = g_strjoinv (to, parts);

  g_assert_nonnull (parts[1]);
  return adj_graph_parse (changed, -1, adj_op_find, diags, NULL);
}

/* A name that is used before its definition gives a warning with its place. */
static void
test_names_are_defined (void)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (AdjGraph) graph =
      parse_changed ("relu.default(primals_1)", "relu.default(split)", diags);

  g_assert_nonnull (graph);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 1);
  g_assert_nonnull (strstr (adj_diags_get (diags, 0)->message, "split"));
  g_assert_cmpuint (adj_diags_get (diags, 0)->span.line, ==, 4);
}

/* The index of a getitem is valid for its producer. */
static void
test_items_exist (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = parse_changed ("split[0]", "split[3]", NULL);
  g_autoptr (AdjGraph) again = adj_retrace (graph, NULL, &error);

  g_assert_null (again);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "index 3 of 3 results"));
  g_assert_nonnull (strstr (error->message, "node 'getitem', /home/u/net.py:12"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/graph-ir/13/nodes", test_nodes);
  g_test_add_func ("/graph-ir/13/values", test_values);
  g_test_add_func ("/graph-ir/13/comment-holds-a-hash", test_comment);
  g_test_add_func ("/graph-ir/13/prints-back", test_prints_back);
  g_test_add_func ("/graph-ir/13/retraces", test_retraces);
  g_test_add_func ("/graph-ir/13/deletes", test_deletes);
  g_test_add_func ("/graph-ir/13/names-are-defined", test_names_are_defined);
  g_test_add_func ("/graph-ir/13/items-exist", test_items_exist);
  return g_test_run ();
}
