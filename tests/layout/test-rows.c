/* SPDX-License-Identifier: MIT */
/* Rows of the mirror: how high the side that follows may become. */

#include "ir/adj-graph.h"
#include "layout/rows-private.h"
#include "support/graphs.h"

#define N_GRADIENTS 2500

/* What one forward call has of gradients is spread over rows, in the order of execution upwards. */
static void
test_high (void)
{
  g_autoptr (GString) text =
      g_string_new ("class G(torch.nn.Module):\n    def forward(self, primals_1, tangents_1):\n"
                    "        y = torch.ops.aten.sin.default(primals_1)\n"
                    "        g0 = torch.ops.aten.cos.default(tangents_1)\n");
  const AdjLayoutOptions options = { 0 };
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjNodeRoles) roles = NULL;
  g_autoptr (AdjRows) rows = NULL;
  guint n = 0;

  for (guint i = 1; i < N_GRADIENTS; i++)
    g_string_append_printf (text, "        g%u = torch.ops.aten.cos.default(g%u)\n", i, i - 1);
  g_string_append_printf (text, "        return (y, g%u)\n", N_GRADIENTS - 1);
  graph = adj_test_parse_graph (text->str);
  roles = adj_node_roles_new (graph, &options);
  rows = adj_rows_new (roles, &options);
  for (guint r = rows->rows->len; r-- > 0;)
    {
      const GArray *gradients = adj_rows_row (rows, r)->nodes[1];
      guint n_calls = 0;

      for (guint k = 0; k < gradients->len; k++)
        {
          guint32 node = g_array_index (gradients, guint32, k);
          g_autofree char *name = g_strdup_printf ("g%u", n);

          g_assert_cmpuint (rows->row_of[node], ==, r);
          if (adj_graph_get_node (graph, node)->opcode != ADJ_OPCODE_CALL_FUNCTION)
            continue;
          g_assert_cmpstr (adj_graph_get_node (graph, node)->name, ==, name);
          n_calls++;
          n++;
        }
      g_assert_cmpuint (n_calls, <=, ROWS_MAX_HEIGHT);
    }
  g_assert_cmpuint (n, ==, N_GRADIENTS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/rows/high", test_high);
  return g_test_run ();
}
