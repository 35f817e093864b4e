/* SPDX-License-Identifier: MIT */
/* The printer of graphs, against text that PyTorch wrote. */

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/random-graph.h"

/* Written by PyTorch 2.6; see tests/ir/golden. */
static void
test_worked_example (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("GraphModule", NULL, adj_op_find);
  AdjSymbols *symbols = adj_builder_get_symbols (builder);
  AdjSymbol symbol = { "s27", ADJ_SYMBOL_UNBACKED, 2, G_MAXINT64, NULL };
  AdjSize sizes[2] = { adj_symbols_define (symbols, &symbol), ADJ_SIZE (3) };
  AdjNodeMeta place = ADJ_NODE_META_INIT;
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32,
    .device = ADJ_CPU,
    .has_strides = TRUE,
    .storage = -1,
  };
  AdjNodeSpec spec = { .opcode = ADJ_OPCODE_PLACEHOLDER, .target = "s27", .origin = ADJ_NO_NODE };
  g_autoptr (AdjGraph) graph = NULL;
  g_autofree char *text = NULL;
  AdjNodeId primal, relu;
  AdjValue args[3];
  guint lines[5] = { 0 };

  adj_shape_init (&meta.shape, symbols, 2, sizes);
  primal = adj_builder_placeholder (builder, "primals_1", &meta);
  spec.val = adj_value_from_size (sizes[0]);
  adj_builder_add (builder, &spec);

  place.stack_trace = "  File \"/home/u/net.py\", line 12, in forward\n"
                      "    y = x.relu().split(1, dim=1)  # three columns\n";
  args[0] = ADJ_NODE (primal);
  spec = (AdjNodeSpec){
    .opcode = ADJ_OPCODE_CALL_FUNCTION,
    .target = "torch.ops.aten.relu.default",
    .args = { .kind = ADJ_VALUE_TUPLE, .n = 1, .items = args },
    .val = { .kind = ADJ_VALUE_META, .meta = &meta },
    .meta = &place,
    .origin = ADJ_NO_NODE,
  };
  relu = adj_builder_add (builder, &spec);
  args[0] = ADJ_NODE (relu);
  args[1] = ADJ_INT (1);
  args[2] = ADJ_INT (1);
  adj_builder_call (builder, "torch.ops.aten.split.Tensor", args, 3);
  adj_builder_output (builder, &(AdjValue){ .kind = ADJ_VALUE_TUPLE });
  graph = adj_builder_seal (builder, NULL);
  g_assert_nonnull (graph);

  text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, lines);
  g_assert_cmpstr (
      text, ==,
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, primals_1: \"f32[s27, 3][3, 1]cpu\", s27: \"Sym(s27)\"):\n"
      "         # File: /home/u/net.py:12 in forward, code: y = x.relu().split(1, dim=1)  # three "
      "columns\n"
      "        relu: \"f32[s27, 3][3, 1]cpu\" = torch.ops.aten.relu.default(primals_1);  "
      "primals_1 = None\n"
      "        \n"
      "        # No stacktrace found for following nodes\n"
      "        split = torch.ops.aten.split.Tensor(relu, 1, 1);  relu = split = None\n"
      "        return ()\n"
      "        \n");
  g_assert_cmpuint (lines[0], ==, 0);
  g_assert_cmpuint (lines[2], ==, 4);
  g_assert_cmpuint (lines[3], ==, 7);
  g_assert_cmpuint (lines[4], ==, 8);
}

static AdjGraph *
make_pow (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  AdjNodeMeta metadata = ADJ_NODE_META_INIT;
  AdjModule modules[] = { { "", "Net" }, { "h.0", "Block" } };
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = 7
  };
  AdjNodeId x = adj_builder_placeholder (builder, "x", NULL);
  AdjValue args[2] = { ADJ_NODE (x), ADJ_INT (2) };
  AdjValue result;
  AdjNodeSpec spec = {
    .opcode = ADJ_OPCODE_CALL_FUNCTION,
    .target = "operator.pow",
    .args = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args },
    .val = { .kind = ADJ_VALUE_META, .meta = &meta },
    .meta = &metadata,
    .origin = ADJ_NO_NODE,
  };

  metadata.recompute = ADJ_RECOMPUTE_PREFER_RECOMPUTE;
  metadata.ac_graph_id = 3;
  metadata.seq_nr = 12;
  metadata.partitioner_tag = "is_backward";
  metadata.modules = modules;
  metadata.n_modules = 2;
  adj_shape_init_ints (&meta.shape, 1, (gint64[]){ 4 });
  meta.shape.offset = ADJ_SIZE (4);
  result = ADJ_NODE (adj_builder_add (builder, &spec));
  adj_builder_output (builder, &result);

  return adj_builder_seal (builder, NULL);
}

/* The comment that core/ir/TEXT.md describes. */
static void
test_metadata (void)
{
  g_autoptr (AdjGraph) graph = make_pow ();
  g_autofree char *with = adj_graph_print (graph, ADJ_PRINT_NO_COMMENTS, NULL);
  g_autofree char *without =
      adj_graph_print (graph, ADJ_PRINT_NO_COMMENTS | ADJ_PRINT_NO_METADATA, NULL);

  g_assert_cmpstr (with, ==,
                   "class m(torch.nn.Module):\n"
                   "    def forward(self, x):\n"
                   "        pow_1: \"f32[4][1]cpu\" = x ** 2;  x = None  # adj: {recompute: "
                   "PREFER_RECOMPUTE, ac: 3, seq: 12, tag: is_backward, alias: 7, offset: 4, "
                   "modules: [('', 'Net'), ('h.0', 'Block')]}\n"
                   "        return pow_1\n"
                   "        \n");
  g_assert_cmpstr (without, ==,
                   "class m(torch.nn.Module):\n"
                   "    def forward(self, x):\n"
                   "        pow_1: \"f32[4][1]cpu\" = x ** 2;  x = None\n"
                   "        return pow_1\n"
                   "        \n");
}

static void
test_statement (void)
{
  g_autoptr (AdjGraph) graph = make_pow ();
  g_autoptr (GString) text = g_string_new (NULL);

  adj_node_print (graph, 1, text);
  g_assert_cmpstr (text->str, ==, "pow_1: \"f32[4][1]cpu\" = x ** 2;  x = None");
}

/* Every line recorded for a node begins with the node's name. */
static void
test_lines (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (AdjGraph) graph = adj_test_random_program (rand, 60);
  g_autofree guint *lines = g_new (guint, adj_graph_get_n_nodes (graph));
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, lines);
  g_auto (GStrv) rows = g_strsplit (text, "\n", -1);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      gboolean has_line = node->opcode == ADJ_OPCODE_CALL_FUNCTION;

      g_assert_true (has_line == (lines[i] > 0) || node->opcode == ADJ_OPCODE_OUTPUT);
      if (has_line)
        g_assert_true (g_str_has_prefix (g_strchug (rows[lines[i] - 1]), node->name));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/print/worked-example", test_worked_example);
  g_test_add_func ("/ir/print/facts", test_metadata);
  g_test_add_func ("/ir/print/statement", test_statement);
  g_test_add_func ("/ir/print/lines", test_lines);

  return g_test_run ();
}
