/* SPDX-License-Identifier: MIT */

/* A custom pass: removes additions of 0, with a note that gives the reason. */

#include <adjoint-extend.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "def forward(self, x):\n"
                           "    add = torch.ops.aten.add.Tensor(x, 0);  x = None\n"
                           "    sin = torch.ops.aten.sin.default(add);  add = None\n"
                           "    return sin\n";

static gboolean
adds_nothing (const AdjNode *node)
{
  return strcmp (node->target, "torch.ops.aten.add.Tensor") == 0 && node->args.n == 2 &&
         adj_value_equal (&node->args.items[1], &ADJ_INT (0));
}

static AdjGraph *
run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  g_autoptr (AdjBuilder) out = adj_builder_new_like (in);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, adj_graph_get_n_nodes (in));

  for (guint i = 0; i < adj_graph_get_n_nodes (in); i++)
    {
      const AdjNode *node = adj_graph_get_node (in, i);

      if (!adds_nothing (node))
        adj_builder_copy (out, in, i, map);
      else
        {
          map[i] = map[node->inputs[0].index];
          adj_pass_note (context, (AdjNodeId){ i }, map[i], "it adds nothing");
        }
    }
  return adj_builder_seal (out, error);
}

int
main (void)
{
  static const AdjPass pass = { .name = "drop-zero", .summary = "x + 0 is x", .run = run };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  g_autofree char *printed = NULL;
  AdjPassResult result = { 0 };

  if (graph == NULL || !adj_pass_run (&pass, NULL, graph, &result, &error))
    return fprintf (stderr, "%s\n", error->message), 1;
  printf ("%s: %s\n", adj_graph_get_node (graph, result.notes[0].before.index)->name,
          result.notes[0].reason);
  printed = adj_graph_print (result.graph, ADJ_PRINT_DEFAULT, NULL);
  printf ("%s", printed);
  adj_pass_result_clear (&result);
  return 0;
}
