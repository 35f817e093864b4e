/* SPDX-License-Identifier: MIT */
/* The builder of graphs: names, sealing, and calls it refuses. */

#include "ir/adj-builder.h"

#include "ir/adj-graph.h"
#include "ir/adj-verify.h"
#include "ops/adj-op-table.h"
#include "support/random-graph.h"

static AdjNodeId
call (AdjBuilder *builder, const char *target, AdjNodeId a, AdjNodeId b)
{
  AdjValue args[2] = { ADJ_NODE (a), ADJ_NODE (b) };

  return adj_builder_call (builder, target, args, 2);
}

static AdjNodeId
output (AdjBuilder *builder, AdjNodeId id)
{
  AdjValue value = ADJ_NODE (id);

  return adj_builder_output (builder, &value);
}

/* The vectors of ir/SPEC.md §2.2; each row starts a new namespace. */
static void
test_names (void)
{
  static const char *const rows[][2] = {
    { "add add add_1 add x_1 x x", "add add_1 add_2 add_3 x_1 x x_2" },
    { "sum sum", "sum_1 sum_2" },
    { "torch", "torch_1" },
    { "inf", "inf_1" },
    { "conv2d.weight", "conv2d_weight" },
    { "0abc", "_0abc" },
    { "", "_unnamed" },
    { "add_ add_", "add_ add__1" },
    { "_tensor_constant0 _tensor_constant0", "_tensor_constant0 _tensor_constant0_1" },
    { "sub_10 sub sub_9 sub_9", "sub_10 sub sub_9 sub_1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
      g_auto (GStrv) candidates = g_strsplit (rows[i][0], " ", -1);
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
      g_autofree char *got = NULL;

      if (!candidates[0])
        g_ptr_array_add (names, adj_builder_unique_name (builder, ""));
      for (guint k = 0; candidates[k]; k++)
        g_ptr_array_add (names, adj_builder_unique_name (builder, candidates[k]));
      g_ptr_array_add (names, NULL);
      got = g_strjoinv (" ", (char **) names->pdata);
      g_assert_cmpstr (got, ==, rows[i][1]);
    }
}

static void
test_seal (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = NULL;
  AdjNodeId x = adj_builder_placeholder (builder, "x", NULL);
  AdjNodeId y = adj_builder_placeholder (builder, "y", NULL);
  AdjNodeId twice = call (builder, "torch.ops.aten.add.Tensor", x, x);
  AdjNodeId sum = call (builder, "torch.ops.aten.sum.default", twice, x);
  const AdjNode *node;

  output (builder, sum);
  graph = adj_builder_seal (builder, &error);
  g_assert_no_error (error);

  g_assert_cmpuint (adj_graph_get_n_nodes (graph), ==, 5);
  g_assert_cmpuint (adj_graph_get_n_calls (graph), ==, 2);
  g_assert_cmpuint (adj_graph_get_n_inputs (graph), ==, 2);
  g_assert_cmpuint (adj_graph_find_node (graph, "sum_1").index, ==, sum.index);
  g_assert_false (adj_node_id_is_valid (adj_graph_find_node (graph, "sum")));

  node = adj_graph_get_node (graph, x.index);
  g_assert_cmpuint (node->n_users, ==, 2);
  g_assert_cmpuint (node->users[0].index, ==, twice.index);
  g_assert_cmpuint (node->users[1].index, ==, sum.index);
  g_assert_cmpuint (adj_graph_get_last_use (graph, x.index).index, ==, sum.index);
  g_assert_cmpuint (adj_graph_get_last_use (graph, y.index).index, ==, y.index);

  node = adj_graph_get_node (graph, twice.index);
  g_assert_cmpuint (node->n_inputs, ==, 1);
  g_assert_cmpstr (node->name, ==, "add");
  g_assert_false (adj_node_id_is_valid (node->origin));
}

static void
assert_refused (AdjBuilder *builder, AdjError code, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_builder_seal (builder, &error);

  g_assert_null (graph);
  g_assert_error (error, ADJ_ERROR, (int) code);
  g_assert_cmpstr (error->message, ==, message);
}

static void
test_refuses_forward_reference (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  AdjNodeId x = adj_builder_placeholder (builder, "x", NULL);
  AdjNodeId a = call (builder, "torch.ops.aten.add.Tensor", x, (AdjNodeId){ x.index + 2 });

  call (builder, "torch.ops.aten.mul.Tensor", a, x);
  output (builder, a);
  assert_refused (builder, ADJ_ERROR_VERIFY, "node 'add': uses 'mul' before it is defined");
}

static void
test_refuses_cycle (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  AdjNodeId x = adj_builder_placeholder (builder, "x", NULL);

  output (builder, call (builder, "torch.ops.aten.add.Tensor", x, (AdjNodeId){ x.index + 1 }));
  assert_refused (builder, ADJ_ERROR_VERIFY, "node 'add': uses 'add' before it is defined");
}

static void
test_refuses_unknown_node (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);

  output (builder, (AdjNodeId){ 99 });
  assert_refused (builder, ADJ_ERROR_VERIFY, "node 'output': uses a node that does not exist");
}

static void
test_refuses_second_name (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  AdjNodeId x = adj_builder_placeholder (builder, "x", NULL);

  adj_builder_placeholder (builder, "x", NULL);
  output (builder, x);
  assert_refused (builder, ADJ_ERROR_VERIFY, "node 'x': another node has this name");
}

static void
test_refuses_bad_name (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  g_autoptr (AdjBuilder) other = adj_builder_new ("m", NULL, adj_op_find);

  output (builder, adj_builder_placeholder (builder, "x y", NULL));
  assert_refused (builder, ADJ_ERROR_VERIFY, "node 'x y': its name is no identifier");
  output (other, adj_builder_placeholder (other, "try", NULL));
  assert_refused (other, ADJ_ERROR_VERIFY, "node 'try': its name is a keyword of Python");
}

static void
test_refuses_late_placeholder (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  AdjNodeId x = adj_builder_placeholder (builder, "x", NULL);

  call (builder, "torch.ops.aten.add.Tensor", x, x);
  adj_builder_placeholder (builder, "y", NULL);
  output (builder, x);
  assert_refused (builder, ADJ_ERROR_VERIFY,
                  "node 'y': is a placeholder that stands after other nodes");
}

static void
test_refuses_output (void)
{
  g_autoptr (AdjBuilder) without = adj_builder_new ("m", NULL, adj_op_find);
  g_autoptr (AdjBuilder) early = adj_builder_new ("m", NULL, adj_op_find);
  AdjNodeId x = adj_builder_placeholder (early, "x", NULL);

  adj_builder_placeholder (without, "x", NULL);
  assert_refused (without, ADJ_ERROR_VERIFY, "graph 'm': has no output");

  output (early, x);
  call (early, "torch.ops.aten.add.Tensor", x, x);
  assert_refused (early, ADJ_ERROR_VERIFY, "node 'output': is an output that is not last");
}

static void
test_refuses_item (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  AdjValue vals[2] = { ADJ_NONE, ADJ_NONE };
  AdjNodeSpec spec = {
    .opcode = ADJ_OPCODE_CALL_FUNCTION,
    .target = "torch.ops.aten.split.Tensor",
    .val = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = vals },
    .origin = ADJ_NO_NODE,
  };
  AdjNodeId split = adj_builder_add (builder, &spec);
  AdjValue args[2] = { ADJ_NODE (split), ADJ_INT (2) };

  output (builder, adj_builder_call (builder, "operator.getitem", args, 2));
  assert_refused (builder, ADJ_ERROR_VERIFY,
                  "node 'getitem': takes item 2 of 'split', which has 2");
}

static void
test_refuses_depth (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  AdjValue values[ADJ_MAX_DEPTH + 2] = { ADJ_NONE };

  for (guint i = 1; i < G_N_ELEMENTS (values); i++)
    values[i] = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = 1, .items = &values[i - 1] };
  adj_builder_output (builder, &values[G_N_ELEMENTS (values) - 1]);
  assert_refused (builder, ADJ_ERROR_LIMIT,
                  "node 'output': a value is nested more than 64 levels deep");
}

/* Copying a graph node by node gives an equal graph whose nodes remember their origins. */
static void
test_copy (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (AdjGraph) from = adj_test_random_program (rand, 40);
  g_autoptr (AdjBuilder) builder = adj_builder_new (adj_graph_get_name (from), NULL, adj_op_find);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, adj_graph_get_n_nodes (from));
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) to = NULL;

  for (guint i = 0; i < adj_graph_get_n_nodes (from); i++)
    adj_builder_copy (builder, from, i, map);
  to = adj_builder_seal (builder, &error);
  g_assert_no_error (error);

  g_assert_cmpuint (adj_graph_get_n_nodes (to), ==, adj_graph_get_n_nodes (from));
  for (guint i = 0; i < adj_graph_get_n_nodes (to); i++)
    {
      const AdjNode *a = adj_graph_get_node (from, i), *b = adj_graph_get_node (to, i);

      g_assert_cmpstr (a->name, ==, b->name);
      g_assert_true (adj_value_equal (&a->args, &b->args));
      g_assert_cmpuint (b->origin.index, ==, i);
    }
}

static void
test_copy_brings_attributes (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("m", NULL, adj_op_find);
  g_autoptr (AdjBuilder) other = adj_builder_new ("m", NULL, adj_op_find);
  g_autoptr (AdjGraph) from = NULL;
  g_autoptr (AdjGraph) to = NULL;
  g_autofree AdjNodeId *map = g_new (AdjNodeId, 2);
  AdjNodeSpec spec = {
    .opcode = ADJ_OPCODE_GET_ATTR,
    .target = "scale",
    .origin = ADJ_NO_NODE,
  };
  AdjValue scale = ADJ_FLOAT (0.5);

  adj_builder_add_attr (builder, "scale", &scale);
  output (builder, adj_builder_add (builder, &spec));
  from = adj_builder_seal (builder, NULL);
  g_assert_nonnull (from);

  adj_builder_copy (other, from, 0, map);
  adj_builder_copy (other, from, 1, map);
  to = adj_builder_seal (other, NULL);
  g_assert_nonnull (adj_graph_find_attr (to, "scale"));
  g_assert_true (adj_value_equal (adj_graph_find_attr (to, "scale"), &scale));
}

static void
test_phases (void)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("joint", NULL, adj_op_find);
  g_autoptr (AdjGraph) graph = NULL;
  AdjNodeId x = adj_builder_placeholder (builder, "primals_1", NULL);
  AdjNodeId g = adj_builder_placeholder (builder, "tangents_1", NULL);
  AdjNodeId y = call (builder, "torch.ops.aten.mul.Tensor", x, x);
  AdjNodeId dy = call (builder, "torch.ops.aten.mul.Tensor", g, x);
  AdjNodeId again = call (builder, "torch.ops.aten.mul.Tensor", y, x);

  output (builder, dy);
  graph = adj_builder_seal (builder, NULL);
  g_assert_false (adj_graph_is_backward (graph, x.index));
  g_assert_false (adj_graph_is_backward (graph, y.index));
  g_assert_true (adj_graph_is_backward (graph, g.index));
  g_assert_true (adj_graph_is_backward (graph, dy.index));
  g_assert_true (adj_graph_is_backward (graph, again.index));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/builder/names", test_names);
  g_test_add_func ("/ir/builder/seal", test_seal);
  g_test_add_func ("/ir/builder/refuses-forward-reference", test_refuses_forward_reference);
  g_test_add_func ("/ir/builder/refuses-cycle", test_refuses_cycle);
  g_test_add_func ("/ir/builder/refuses-unknown-node", test_refuses_unknown_node);
  g_test_add_func ("/ir/builder/refuses-second-name", test_refuses_second_name);
  g_test_add_func ("/ir/builder/refuses-bad-name", test_refuses_bad_name);
  g_test_add_func ("/ir/builder/refuses-late-placeholder", test_refuses_late_placeholder);
  g_test_add_func ("/ir/builder/refuses-misplaced-output", test_refuses_output);
  g_test_add_func ("/ir/builder/refuses-item-out-of-range", test_refuses_item);
  g_test_add_func ("/ir/builder/refuses-depth", test_refuses_depth);
  g_test_add_func ("/ir/builder/copy", test_copy);
  g_test_add_func ("/ir/builder/copy-brings-attributes", test_copy_brings_attributes);
  g_test_add_func ("/ir/builder/phases", test_phases);

  return g_test_run ();
}
