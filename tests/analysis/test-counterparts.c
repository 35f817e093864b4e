/* SPDX-License-Identifier: MIT */
/* Counterparts that the graph alone tells, against the modules that PyTorch recorded of gradients.
 */

#include <string.h>

#include "analysis/adj-counterparts.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "support/graphs.h"
#include "support/pictured-graphs.h"

/* Whether node @index is a gradient whose forward module is known. */
static gboolean
is_known (const AdjGraph *graph, guint index)
{
  const AdjNode *node = adj_graph_get_node (graph, index);

  return adj_graph_depends_on_tangent (graph, index) && node->meta.seq_nr >= 0 &&
         node->meta.n_fwd_modules > 0;
}

static gboolean
is_of_module (const AdjGraph *graph, guint forward, const AdjModule *module)
{
  const AdjNodeMeta *meta = &adj_graph_get_node (graph, forward)->meta;

  return meta->n_modules > 0 && strcmp (meta->modules[0].path, module->path) == 0;
}

/* What a log tells of a joint graph suffices for so many of a hundred gradients. */
static void
check_joint (const char *name, guint least)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph (name, "joint");
  g_autoptr (AdjGraph) plain = adj_test_through_log (graph, ADJ_TEST_LOG_NOTHING);
  const guint32 *counterparts = adj_graph_get_counterparts (plain);
  guint n = 0, n_right = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      if (counterparts[i] != G_MAXUINT32)
        g_assert_cmpuint (counterparts[i], <, i);
      if (!is_known (graph, i))
        continue;
      n++;
      n_right += counterparts[i] != G_MAXUINT32 &&
                 is_of_module (graph, counterparts[i],
                               &adj_graph_get_node (graph, i)->meta.fwd_modules[0]);
    }
  g_test_message ("%s: %u of %u", name, n_right, n);
  g_assert_cmpuint (100 * n_right, >=, least * n);
}

static void
recorded (void)
{
  check_joint ("gpt2", 97);
  check_joint ("gpt2-inductor", 91); /* operators are taken apart */
  check_joint ("llama", 95);
  check_joint ("sac", 97);
  check_joint ("unet", 96);
}

/* What adds gradients of an input that is read again and again is no call's. */
static void
sums_of_inputs_have_none (void)
{
  static const char text[] =
      "class G(torch.nn.Module):\n    def forward(self, primals_1, primals_2, tangents_1):\n"
      "        y0 = torch.ops.aten.mul.Tensor(primals_1, primals_2)\n"
      "        y1 = torch.ops.aten.mul.Tensor(y0, primals_2)\n"
      "        y2 = torch.ops.aten.mul.Tensor(y1, primals_2)\n"
      "        w2 = torch.ops.aten.mul.Tensor(tangents_1, y1)\n"
      "        g2 = torch.ops.aten.mul.Tensor(tangents_1, primals_2)\n"
      "        w1 = torch.ops.aten.mul.Tensor(g2, y0)\n"
      "        sum_1 = torch.ops.aten.add.Tensor(w2, w1)\n"
      "        g1 = torch.ops.aten.mul.Tensor(g2, primals_2)\n"
      "        w0 = torch.ops.aten.mul.Tensor(g1, primals_1)\n"
      "        sum_2 = torch.ops.aten.add.Tensor(sum_1, w0)\n"
      "        g0 = torch.ops.aten.mul.Tensor(g1, primals_2)\n"
      "        return (y2, g0, sum_2)\n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  const guint32 *counterparts = adj_graph_get_counterparts (graph);

  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (g_str_has_prefix (node->name, "sum_"))
        g_assert_cmpuint (counterparts[i], ==, G_MAXUINT32);
      else if (g_str_has_prefix (node->name, "w") || g_str_has_prefix (node->name, "g"))
        g_assert_cmpstr (adj_graph_get_node (graph, counterparts[i])->name + 1, ==, node->name + 1);
    }
}

/* What an optimiser does is the gradient of nothing, whatever number it was given. */
static void
update_has_none (void)
{
  const char *text = "def forward(self, w_1, x_1):\n"
                     "        # seq_nr: 1\n"
                     "        y = torch.ops.aten.mul.Tensor(x_1, w_1)\n"
                     "        # seq_nr: 2\n"
                     "        loss = torch.ops.aten.sum.default(y)\n"
                     "        # seq_nr: 2, autograd_backward: True\n"
                     "        g = torch.ops.aten.expand.default(loss, [4])\n"
                     "        # seq_nr: 1, autograd_backward: True\n"
                     "        gw = torch.ops.aten.mul.Tensor(g, x_1)\n"
                     "        # seq_nr: 2\n"
                     "        step = torch.ops.aten.mul.Tensor(gw, 0.1)\n"
                     "        next = torch.ops.aten.sub.Tensor(w_1, step)\n"
                     "        return (loss, next)\n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  const guint32 *counterparts = adj_graph_get_counterparts (graph);

  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_graph_is_update (graph, i))
      g_assert_cmpuint (counterparts[i], ==, G_MAXUINT32);
  g_assert_true (adj_graph_is_update (graph, adj_graph_get_n_nodes (graph) - 2));
  g_assert_cmpuint (counterparts[adj_graph_get_n_nodes (graph) - 4], !=, G_MAXUINT32);
}

static void
forward_has_none (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("gpt2", "forward");
  const guint32 *counterparts = adj_graph_get_counterparts (graph);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    g_assert_cmpuint (counterparts[i], ==, G_MAXUINT32);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/analysis/counterparts/recorded", recorded);
  g_test_add_func ("/analysis/counterparts/sums-of-inputs-have-none", sums_of_inputs_have_none);
  g_test_add_func ("/analysis/counterparts/update-has-none", update_has_none);
  g_test_add_func ("/analysis/counterparts/forward-has-none", forward_has_none);
  return g_test_run ();
}
