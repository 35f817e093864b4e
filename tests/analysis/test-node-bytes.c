/* SPDX-License-Identifier: MIT */
/* Tests of adj-node-bytes.c: the bytes of a node, against a slower way to count them. */

#include "analysis/adj-node-bytes.h"
#include "ir/adj-graph.h"
#include "support/graphs.h"
#include "support/random-graph.h"
#include "support/random-joint.h"

#define N_SEEDS 60

/* -- against a slower way to the same -- */

/* Elements of a tensor; -1: unknown. */
static double
count_elements (const AdjTensorMeta *meta, AdjSymbols *symbols)
{
  double n = 1;
  gint64 size;

  for (guint i = 0; i < meta->shape.rank; i++)
    if (!adj_size_get_hint (symbols, meta->shape.size[i], &size))
      return -1;
    else
      n *= (double) MAX (size, 0);
  return n;
}

static void
count (
    const AdjValue *value, AdjSymbols *symbols, double *bytes, guint *n_tensors, guint *n_unknown)
{
  for (guint i = 0; adj_value_is_container (value) && i < value->n; i++)
    count (&value->items[i], symbols, bytes, n_tensors, n_unknown);
  if (value->kind != ADJ_VALUE_META)
    return;
  *n_tensors += 1;
  if (count_elements (value->meta, symbols) < 0)
    *n_unknown += 1;
  else
    *bytes += count_elements (value->meta, symbols) *
              (double) adj_dtype_info (value->meta->dtype)->n_bytes;
}

static void
check_graph (const AdjGraph *graph)
{
  const AdjNodeBytes *bytes = adj_graph_get_bytes (graph);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      guint n_tensors = 0, n_unknown = 0;
      double sum = 0;

      count (&adj_graph_get_node (graph, i)->val, adj_graph_get_symbols (graph), &sum, &n_tensors,
             &n_unknown);
      g_assert_cmpuint (bytes[i].n_tensors, ==, n_tensors);
      g_assert_cmpuint (bytes[i].n_unknown, ==, n_unknown);
      g_assert_cmpfloat ((double) bytes[i].bytes, ==, sum);
      g_assert_cmpint (adj_graph_get_node_bytes (graph, i), ==,
                       n_tensors > n_unknown ? (gint64) sum : -1);
    }
}

static void
random_graphs (void)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (AdjGraph) graph = adj_test_random_graph (rand, 24);
      guint num_fwd_outputs;
      g_autoptr (AdjGraph) joint = adj_test_random_joint (rand, &num_fwd_outputs);

      check_graph (graph);
      check_graph (joint);
    }
}

/* -- what is beside the sum -- */

static void
of_several (void)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (
      "def forward(self, x: \"f16[2, 3]cpu\", n: \"Sym(s0)\", i: \"i64[4]cpu\", "
      "huge: \"f32[4611686018427387904, 4]cpu\"):\n"
      "    pair = torch.ops.aten.var_mean.correction(x)"
      "  # adj: {val: (meta('f16[3]'), meta('f32[3]'))}\n"
      "    return (pair, n, i, huge)\n");
  const AdjNodeBytes *bytes = adj_graph_get_bytes (graph);

  g_assert_cmpuint (bytes[0].bytes, ==, 12);
  g_assert_cmpuint (bytes[0].in_float64, ==, 48);
  g_assert_cmpuint (bytes[1].n_numbers, ==, 1);
  g_assert_cmpint (adj_graph_get_node_bytes (graph, 1), ==, -1);
  g_assert_cmpuint (bytes[2].in_float64, ==, 32);
  g_assert_cmpuint (bytes[3].bytes, ==, G_MAXUINT64);
  g_assert_cmpint (adj_graph_get_node_bytes (graph, 3), ==, G_MAXINT64);
  g_assert_cmpuint (bytes[4].bytes, ==, 18);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/analysis/node-bytes/random-graphs", random_graphs);
  g_test_add_func ("/analysis/node-bytes/of-several", of_several);
  return g_test_run ();
}
