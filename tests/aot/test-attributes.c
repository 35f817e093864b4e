/* SPDX-License-Identifier: MIT */

/* Tensor attributes of a graph become inputs of the traced graph if it writes one of them, in any
 * form of writing. */

#include "adjoint.h"
#include "aot/notation.h"
#include "ir/adj-builder.h"
#include "support/graphs.h"

typedef struct
{
  const char *name;
  const char *lines;  /* body of a graph over x that holds the tensors p and q */
  const char *traced; /* expected output of notation_print_graph() */
} Row;

static const Row rows[] = {
  { "in-a-list",
    "        _foreach_add_ = torch._foreach_add_([p, q], [x, x]);  _foreach_add_ = None\n",
    "%1 = _foreach_add([a0,a1],[a2,a2])\ncopy_(a0,%1[0])\ncopy_(a1,%1[1])\nreturn a2\n" },
  { "in-a-list-by-name",
    "        _foreach_mul_ = torch._foreach_mul_(self = [q], scalar = 2);  _foreach_mul_ = None\n",
    "%1 = _foreach_mul([a1],2)\ncopy_(a1,%1[0])\nreturn a2\n" },
  { "view-in-a-list",
    "        view = p.view(3, 1)\n"
    "        _foreach_mul_ = torch._foreach_mul_([view], 2);  _foreach_mul_ = None\n",
    "%1 = view(a0,[3,1])\n%2 = _foreach_mul([%1],2)\n%3 = view(%2[0],[3])\ncopy_(a0,%3)\nreturn "
    "a2\n" },
  { "by-index", "        getitem = x[1:]\n        p[1:] = getitem;  setitem = p;  setitem = None\n",
    "%1 = slice(a2,0,1,9223372036854775807)\n"
    "%2 = slice(a0,0,1,9223372036854775807)\n"
    "%3 = copy(%2,%1)\n"
    "%4 = slice_scatter(a0,%3,0,1,9223372036854775807)\n"
    "copy_(a0,%4)\nreturn a2\n" },
  { "alone", "        add_ = p.add_(x);  add_ = None\n",
    "%1 = add(a0,a2)\ncopy_(a0,%1)\nreturn a2\n" },
  { "out", "        mul = torch.mul(x, q, out = p);  mul = None\n",
    "%1 = mul(a2,a1)\ncopy_(a0,%1)\nreturn a2\n" },
  { "nothing-written", "        mul = torch._foreach_mul([p, q], 2);  mul = None\n",
    "return a0\n" },
};

/* (transfer full): @graph with values for its get_attr nodes. */
static AdjGraph *
hold (AdjGraph *graph)
{
  static const float values[3] = { 1, 2, 3 };
  guint n = adj_graph_get_n_nodes (graph);
  const AdjTensorMeta *meta =
      adj_graph_get_node (graph, adj_graph_get_input (graph, 0).index)->val.meta;
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (graph);
  g_autoptr (GBytes) bytes = g_bytes_new_static (values, sizeof values);
  g_autoptr (AdjTensorData) held = adj_tensor_data_new (meta, bytes, NULL);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, n);
  g_autoptr (GError) error = NULL;
  AdjGraph *holding;

  for (guint i = 0; i < n; i++)
    adj_builder_copy (builder, graph, i, map);
  adj_builder_add_attr (builder, "p", &ADJ_DATA (held));
  adj_builder_add_attr (builder, "q", &ADJ_DATA (held));
  holding = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  return holding;
}

static void
check (gconstpointer data)
{
  const Row *row = data;
  const AdjAotOptions options = { .keep_input_mutations = TRUE };
  g_autofree char *text = g_strconcat ("class GraphModule(torch.nn.Module):\n"
                                       "    def forward(self, x: \"f32[3][1]cpu\"):\n"
                                       "        p: \"f32[3][1]cpu\" = self.p\n"
                                       "        q: \"f32[3][1]cpu\" = self.q\n",
                                       row->lines, "        return (x,)\n", NULL);
  g_autoptr (AdjGraph) parsed = adj_test_parse_graph (text);
  g_autoptr (AdjGraph) graph = hold (parsed);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = adj_aot_trace_graph (graph, &options, NULL, &error);
  g_autofree char *traced = NULL;

  g_assert_no_error (error);
  traced = notation_print_graph (adj_aot_graph_get_graph (aot));
  g_assert_cmpstr (traced, ==, row->traced);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strconcat ("/aot/attributes/", rows[i].name, NULL);

      g_test_add_data_func (path, &rows[i], check);
    }
  return g_test_run ();
}
