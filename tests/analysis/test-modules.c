/* SPDX-License-Identifier: MIT */
/* Tests of adj-modules.c: the modules of nodes, against those that random graphs were made with. */

#include "analysis/adj-modules.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "support/graphs.h"

#define N_SEEDS 60
#define N_NODES 24
#define MAX_DEPTH 3

/* Writes a random number of nested modules to @modules: "a", "a.b", "a.b.c". */
static guint
make_modules (GRand *rand, AdjModule *modules)
{
  static const AdjModule some[2][MAX_DEPTH] = {
    { { "a", "A" }, { "a.b", "B" }, { "a.b.c", "C" } },
    { { "x", "X" }, { "x.y", "Y" }, { "x.y.z", "Z" } },
  };
  guint n = (guint) g_rand_int_range (rand, 0, MAX_DEPTH + 1);
  const AdjModule *from = some[g_rand_boolean (rand)];

  for (guint i = 0; i < n; i++)
    modules[i] = from[i];
  return n;
}

static void
check_node (const AdjNode *node, const AdjModule *modules, guint n)
{
  guint n_found;
  const AdjModule *found = adj_node_get_modules (node, &n_found);

  g_assert_cmpuint (n_found, ==, n);
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpstr (found[i].path, ==, modules[i].path);
      g_assert_cmpstr (found[i].class_name, ==, modules[i].class_name);
    }
  g_assert_cmpstr (adj_node_get_module_path (node), ==, n > 0 ? modules[n - 1].path : "");
}

/* Expects each node to be in its own modules or, if it has none, in those of its counterpart. */
static void
check_random (GRand *rand)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("GraphModule", NULL, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = NULL;
  AdjModule expected[N_NODES][MAX_DEPTH];
  guint n_expected[N_NODES];

  for (guint i = 0; i < N_NODES; i++)
    {
      g_autofree char *name = g_strdup_printf ("x_%u", i);
      AdjModule own[MAX_DEPTH], forward[MAX_DEPTH];
      guint n_own = make_modules (rand, own), n_forward = make_modules (rand, forward);
      AdjNodeSpec spec = {
        .opcode = ADJ_OPCODE_PLACEHOLDER, .name = name, .target = name, .origin = ADJ_NO_NODE
      };
      AdjNodeMeta meta = ADJ_NODE_META_INIT;

      meta.n_modules = n_own;
      meta.modules = own;
      meta.n_fwd_modules = n_forward;
      meta.fwd_modules = forward;
      spec.meta = &meta;
      adj_builder_add (builder, &spec);
      n_expected[i] = n_own > 0 ? n_own : n_forward;
      for (guint k = 0; k < n_expected[i]; k++)
        expected[i][k] = n_own > 0 ? own[k] : forward[k];
    }
  adj_builder_output (builder, &ADJ_NONE);
  graph = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < N_NODES; i++)
    check_node (adj_graph_get_node (graph, i), expected[i], n_expected[i]);
}

static void
random_graphs (void)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

      check_random (rand);
    }
}

/* Reads the modules from the text of a capture. */
static void
of_text (void)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (
      "def forward(self, x: \"f32[2][1]cpu\"):\n"
      "    sin = torch.ops.aten.sin.default(x)"
      "  # adj: {modules: [('h', 'List'), ('h.0', 'Block')]}\n"
      "    cos = torch.ops.aten.cos.default(sin)"
      "  # adj: {tag: is_backward, fwd_modules: [('h', 'List'), ('h.1', 'Block')]}\n"
      "    return (cos,)\n");

  g_assert_cmpstr (adj_node_get_module_path (adj_graph_get_node (graph, 0)), ==, "");
  g_assert_cmpstr (adj_node_get_module_path (adj_graph_get_node (graph, 1)), ==, "h.0");
  g_assert_cmpstr (adj_node_get_module_path (adj_graph_get_node (graph, 2)), ==, "h.1");
}

/* PyTorch 2.4 names modules in the forward only; a sum of gradients carries a stale sequence
 * number. */
static void
by_sequence_number (void)
{
  static const char text[] =
      "class G(torch.nn.Module):\n"
      "    def forward(self, primals_1: \"f32[4][1]cpu\", tangents_1: \"f32[4][1]cpu\"):\n"
      "        a: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(primals_1)"
      "  # adj: {seq: 7, modules: [('h.0', 'Block')]}\n"
      "        b: \"f32[4][1]cpu\" = torch.ops.aten.cos.default(a)"
      "  # adj: {seq: 8, modules: [('h.1', 'Block')]}\n"
      "        c: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, a)  # adj: {seq: 8}\n"
      "        d: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(c, primals_1)  # adj: {seq: 7}\n"
      "        e: \"f32[4][1]cpu\" = torch.ops.aten.add.Tensor(c, d)  # adj: {seq: 7}\n"
      "        return (b, e)\n";
  static const char *const paths[] = { "", "", "h.0", "h.1", "h.1", "h.0", "", "" };
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);

  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    g_assert_cmpstr (adj_graph_get_module_path (graph, i), ==, paths[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/analysis/modules/random-graphs", random_graphs);
  g_test_add_func ("/analysis/modules/of-text", of_text);
  g_test_add_func ("/analysis/modules/by-sequence-number", by_sequence_number);
  return g_test_run ();
}
