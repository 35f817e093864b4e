/* SPDX-License-Identifier: MIT */
/* The parser of graphs: goldens of PyTorch, random graphs, errors. */

#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "ir/adj-text-internal.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"
#include "support/random-graph.h"

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

/* Texts written by PyTorch 2.6: the bundled captures, the sample trace, a graph with every form
 * of statement, and the worked example of the spec.  Their names contain the number of nodes
 * without placeholders and output. */
static const struct
{
  const char *name;
  guint n_inputs, n_calls;
} goldens[] = {
  { "autocast-dynamo", 5, 15 },   { "forms", 3, 59 },
  { "gpt2-backward", 50, 252 },   { "gpt2-dynamo", 32, 41 },
  { "gpt2-joint", 33, 334 },      { "mlp-backward", 11, 33 },
  { "mlp-dynamo", 8, 7 },         { "mlp-forward", 8, 19 },
  { "mlp-joint", 9, 52 },         { "trace-compiled-autograd", 4, 45 },
  { "trace-dynamo-list", 1, 41 }, { "trace-dynamo-nested", 30, 34 },
  { "trace-inference", 12, 32 },  { "trace-joint", 8, 49 },
  { "worked-example", 2, 6 },
};

static void
test_golden (gconstpointer data)
{
  guint row = GPOINTER_TO_UINT (data);
  g_autofree char *file = g_strconcat (goldens[row].name, ".txt", NULL);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "ir", "golden", file, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autofree char *line = g_strconcat (text, "\n", NULL);
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (AdjGraph) graph = parse (text, diags);
  g_autofree char *printed = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);

  g_assert_cmpuint (adj_diags_get_n (diags), ==, 0);
  g_assert_cmpuint (adj_graph_get_n_inputs (graph), ==, goldens[row].n_inputs);
  g_assert_cmpuint (adj_graph_get_n_calls (graph), ==, goldens[row].n_calls);
  g_assert_cmpstr (printed, ==, line);
}

static void
test_random (void)
{
  for (guint seed = 0; seed < 200; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (AdjGraph) graph = adj_test_random_graph (rand, seed % 40);
      g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
      g_autoptr (AdjDiags) diags = adj_diags_new ();
      g_autoptr (AdjGraph) back = parse (text, diags);
      g_autofree char *again = adj_graph_print (back, ADJ_PRINT_DEFAULT, NULL);

      g_assert_cmpstr (again, ==, text);
      g_assert_cmpuint (adj_diags_get_n (diags), ==, 0);
      g_assert_true (adj_graph_equal_structure (graph, back));
    }
}

static void
test_random_without_metadata (void)
{
  for (guint seed = 0; seed < 50; seed++)
    {
      AdjPrintFlags flags = ADJ_PRINT_NO_METADATA | (seed % 2 ? ADJ_PRINT_NO_COMMENTS : 0);
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (AdjGraph) graph = adj_test_random_graph (rand, 20);
      g_autofree char *text = adj_graph_print (graph, flags, NULL);
      g_autoptr (AdjGraph) back = parse (text, NULL);
      g_autofree char *again = adj_graph_print (back, flags, NULL);

      g_assert_cmpstr (again, ==, text);
    }
}

static const AdjNode *
find (AdjGraph *graph, const char *name)
{
  AdjNodeId id = adj_graph_find_node (graph, name);

  g_assert_true (adj_node_id_is_valid (id));

  return adj_graph_get_node (graph, id.index);
}

static void
test_metadata (void)
{
  g_autoptr (AdjGraph) graph = parse (
      "class m(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[s0][1]cpu\"):\n"
      "        # adj: symbol s0 {hint: 4, min: 2, max: 64}\n"
      "        # adj: x {param: 'h.0.weight', requires_grad: True, alias: 5}\n"
      "        a: \"f32[4][1]cpu\" = torch.relu(x)  # adj: {recompute: MUST_SAVE, ac: 3, seq: 12, "
      "tag: is_backward, offset: 8, unknown: [1, 'b'], modules: [('', 'Net'), ('h', 'Block')]}\n"
      "        b = torch.max(a, 0)  # adj: {val: (meta('f32[2]', alias=7), None)}\n"
      "        return b  # adj: {recompute: NONSENSE, seq: 'x'}\n",
      NULL);
  const AdjNode *x = find (graph, "x"), *a = find (graph, "a"), *b = find (graph, "b");
  const AdjSymbol *symbol = adj_symbols_find (adj_graph_get_symbols (graph), "s0");

  g_assert_cmpint (symbol->hint, ==, 4);
  g_assert_cmpint (symbol->max, ==, 64);
  g_assert_cmpstr (x->meta.parameter, ==, "h.0.weight");
  g_assert_true (x->val.meta->requires_grad);
  g_assert_cmpint (x->val.meta->storage, ==, 5);
  g_assert_cmpint (a->meta.recompute, ==, ADJ_RECOMPUTE_MUST_SAVE);
  g_assert_cmpint (a->meta.ac_graph_id, ==, 3);
  g_assert_cmpint (a->meta.seq_nr, ==, 12);
  g_assert_cmpstr (a->meta.partitioner_tag, ==, "is_backward");
  g_assert_cmpint (a->val.meta->shape.offset.word, ==, 8);
  g_assert_cmpuint (a->meta.n_modules, ==, 2);
  g_assert_cmpstr (a->meta.modules[1].class_name, ==, "Block");
  g_assert_cmpstr (a->meta.extra->items[0].text, ==, "unknown");
  g_assert_cmpint (b->val.kind, ==, ADJ_VALUE_TUPLE);
  g_assert_cmpint (b->val.items[0].meta->storage, ==, 7);
}

static void
test_frames (void)
{
  g_autoptr (AdjGraph) graph =
      parse_body ("        # File: /a b/net.py:12 in <lambda>, code: f(x)  # why, code: 3\n"
                  "        a = torch.relu(x)\n"
                  "        # File: /a b/net.py:12 in <lambda>, code: f(x)  # why, code: 3\n"
                  "        b = torch.relu(a)\n"
                  "        # No stacktrace found for following nodes\n"
                  "        c = torch.relu(b)\n"
                  "        return c\n",
                  NULL);
  const AdjNode *a = find (graph, "a"), *b = find (graph, "b"), *c = find (graph, "c");

  g_assert_cmpuint (a->meta.n_frames, ==, 1);
  g_assert_cmpstr (a->meta.frames[0].file, ==, "/a b/net.py");
  g_assert_cmpuint (a->meta.frames[0].line, ==, 12);
  g_assert_cmpstr (a->meta.frames[0].function, ==, "<lambda>");
  g_assert_cmpstr (a->meta.frames[0].code, ==, "f(x)  # why, code: 3");
  g_assert_cmpuint (b->meta.n_frames, ==, 1);
  g_assert_cmpstr (b->meta.stack_trace, !=, a->meta.stack_trace);
  g_assert_null (c->meta.stack_trace);
}

static void
test_stack_trace (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const AdjFrame *frames;
  guint n = adj_stack_trace_parse ("  File \"/u/train.py\", line 3, in main\n"
                                   "    loss = model(x)\n"
                                   "    ~~~~~^^^\n"
                                   "  File \"<string>\", line 1, in g\n"
                                   "  File \"/u/\"q\".py\", line 70, in forward\n"
                                   "    return x\n",
                                   arena, &frames);

  g_assert_cmpuint (n, ==, 3);
  g_assert_cmpstr (frames[0].file, ==, "/u/train.py");
  g_assert_cmpstr (frames[0].code, ==, "loss = model(x)");
  g_assert_cmpstr (frames[1].code, ==, "");
  g_assert_cmpstr (frames[2].file, ==, "/u/\"q\".py");
  g_assert_cmpuint (frames[2].line, ==, 70);
  g_assert_cmpstr (frames[2].function, ==, "forward");
  g_assert_cmpuint (adj_stack_trace_parse ("nothing", arena, &frames), ==, 0);
}

/* A statement that is not understood is kept, with the nodes it mentions as inputs. */
static void
test_raw (void)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (AdjGraph) graph = parse_body ("        a = x if y else 3;  y = None\n"
                                           "        b = torch.relu(Box(x, a));  a = None\n"
                                           "        x ? y\n"
                                           "        c = torch.relu(x)\n"
                                           "        return (b, c)\n",
                                           diags);
  const AdjNode *a = find (graph, "a"), *b = find (graph, "b");

  g_assert_cmpuint (adj_diags_get_n (diags), ==, 3);
  g_assert_cmpuint (adj_diags_get (diags, 0)->span.line, ==, 3);
  g_assert_cmpint (a->opcode, ==, ADJ_OPCODE_RAW);
  g_assert_cmpstr (a->target, ==, "a = x if y else 3");
  g_assert_cmpuint (a->n_inputs, ==, 2);
  g_assert_cmpint (b->opcode, ==, ADJ_OPCODE_RAW);
  g_assert_cmpuint (b->n_inputs, ==, 2);
  g_assert_cmpint (find (graph, "raw")->opcode, ==, ADJ_OPCODE_RAW);
  g_assert_cmpint (find (graph, "c")->opcode, ==, ADJ_OPCODE_CALL_FUNCTION);
}

static void
test_odd_input (void)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (AdjGraph) graph = parse_body ("        a = torch.relu(x)\r\n"
                                           "        a = torch.relu(a)\n"
                                           "        b = torch.add(a, undefined)\n"
                                           "        pass\n",
                                           diags);

  g_assert_cmpuint (adj_graph_get_n_calls (graph), ==, 3);
  g_assert_cmpuint (find (graph, "a_1")->inputs[0].index, ==,
                    find (graph, "a")->users[0].index - 1);
  g_assert_cmpuint (find (graph, "b")->inputs[0].index, ==,
                    adj_graph_find_node (graph, "a_1").index);
  g_assert_cmpint (find (graph, "b")->args.items[1].kind, ==, ADJ_VALUE_RAW);
  /* a second 'a', an undefined name, no return */
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 3);
}

/* Headers on several lines, as newer releases print them. */
static void
test_expanded_header (void)
{
  g_autoptr (AdjGraph) graph = parse ("<eval_with_key>.3 class GraphModule(torch.nn.Module):\n"
                                      "    def forward(\n"
                                      "        self,\n"
                                      "        primals_1: \"f32[4]\",  # PlainAOTInput(idx=0)\n"
                                      "        le: \"b8[4]\",\n"
                                      "    ):\n"
                                      "        return (le,)\n",
                                      NULL);

  g_assert_cmpuint (adj_graph_get_n_inputs (graph), ==, 2);
  g_assert_cmpstr (adj_graph_get_node (graph, 1)->name, ==, "le");
  g_assert_false (adj_graph_get_node (graph, 1)->val.meta->has_strides);
}

static void
test_refuses (void)
{
  static const char *const rows[][2] = {
    { "", "1:1: there is no graph in this text: no line 'class …(torch.nn.Module):'" },
    { "hello\n", "2:1: there is no graph in this text: no line 'class …(torch.nn.Module):'" },
    { "class m(torch.nn.Module):\n    x = 1\n", "2:5: expected 'def forward(…):'" },
    { "class m(torch.nn.Module):\n    def forward(self, 1):\n",
      "2:23: the parameters of forward are not understood from here on" },
    { "\xff", "byte 0: not UTF-8 text" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (adj_graph_parse (rows[i][0], -1, adj_op_find, NULL, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
      g_assert_cmpstr (error->message, ==, rows[i][1]);
    }
}

static void
test_refuses_nesting (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 100; i++)
    g_string_append_printf (text,
                            "%*sclass m(torch.nn.Module):\n%*sdef forward(self):\n%*sreturn ()\n",
                            (int) i * 4, "", (int) i * 4 + 4, "", (int) i * 4 + 8, "");
  g_assert_null (adj_graph_parse (text->str, -1, adj_op_find, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (goldens); i++)
    {
      g_autofree char *path = g_strconcat ("/ir/parse/golden/", goldens[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_golden);
    }
  g_test_add_func ("/ir/parse/random", test_random);
  g_test_add_func ("/ir/parse/random-without-facts", test_random_without_metadata);
  g_test_add_func ("/ir/parse/facts", test_metadata);
  g_test_add_func ("/ir/parse/frames", test_frames);
  g_test_add_func ("/ir/parse/stack-trace", test_stack_trace);
  g_test_add_func ("/ir/parse/keeps-unknown-statements", test_raw);
  g_test_add_func ("/ir/parse/odd-input", test_odd_input);
  g_test_add_func ("/ir/parse/expanded-header", test_expanded_header);
  g_test_add_func ("/ir/parse/refuses", test_refuses);
  g_test_add_func ("/ir/parse/refuses-nesting", test_refuses_nesting);

  return g_test_run ();
}
