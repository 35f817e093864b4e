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
  check_joint ("gpt2-inductor", 95); /* operators are taken apart */
  check_joint ("llama", 99);
  check_joint ("sac", 97);
  check_joint ("unet", 100);
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

/* @pairs: a backward call and the forward call that it belongs to, by turns. */
static void
check_names (const char *text, const char *const *pairs)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  const guint32 *counterparts = adj_graph_get_counterparts (graph);

  for (; *pairs != NULL; pairs += 2)
    {
      guint32 of = counterparts[adj_graph_find_node (graph, pairs[0]).index];

      g_test_message ("%s", pairs[0]);
      g_assert_cmpuint (of, !=, G_MAXUINT32);
      g_assert_cmpstr (adj_graph_get_node (graph, of)->name, ==, pairs[1]);
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

/* Every layer reads the same index: of calls that read what a gradient reads, one that came after
 * what the gradient is made of is not meant. */
static void
later_call_is_not_meant (void)
{
  static const char text[] =
      "class G(torch.nn.Module):\n    def forward(self, primals_1, index, tangents_1):\n"
      "        a = torch.ops.aten.index_add.default(primals_1, 0, index, primals_1)\n"
      "        near = torch.ops.aten.ceil.default(a)\n"
      "        b = torch.ops.aten.sin.default(near)\n"
      "        c = torch.ops.aten.index_add.default(b, 0, index, b)\n"
      "        d = torch.ops.aten.sin.default(c)\n"
      "        gd = torch.ops.aten.mul.Tensor(tangents_1, c)\n"
      "        gc = torch.ops.aten.index_select.default(gd, 0, index)\n"
      "        gb = torch.ops.aten.mul.Tensor(gc, near)\n"
      "        ga = torch.ops.aten.index_select.default(gb, 0, index)\n"
      "        return (d, ga)\n";
  static const char *const pairs[] = { "gd", "d", "gc", "c", "gb", "b", "ga", "a", NULL };

  check_names (text, pairs);
}

/* Backward has no call for what joins values: the parts of its gradient are theirs, in order. */
static void
parts_are_of_what_was_joined (void)
{
  static const char text[] =
      "class G(torch.nn.Module):\n    def forward(self, primals_1, tangents_1):\n"
      "        a = torch.ops.aten.sin.default(primals_1)\n"
      "        b = torch.ops.aten.cos.default(primals_1)\n"
      "        both = torch.ops.aten.cat.default([a, b], 1)\n"
      "        c = torch.ops.aten.tanh.default(both)\n"
      "        gc = torch.ops.aten.tanh_backward.default(tangents_1, c)\n"
      "        part_1 = torch.ops.aten.slice.Tensor(gc, 1, 0, 4)\n"
      "        part_2 = torch.ops.aten.slice.Tensor(gc, 1, 4, 8)\n"
      "        gb = torch.ops.aten.mul.Tensor(part_2, primals_1)\n"
      "        ga = torch.ops.aten.mul.Tensor(part_1, primals_1)\n"
      "        return (c, ga, gb)\n";
  static const char *const pairs[] = { "gc", "c", "ga", "a", "gb", "b", NULL };

  check_names (text, pairs);
}

/* Of two calls that read halves of one value, the one that read this half. */
static void
halves_are_two_values (void)
{
  static const char text[] =
      "class G(torch.nn.Module):\n    def forward(self, primals_1, primals_2, tangents_1):\n"
      "        x = torch.ops.aten.sin.default(primals_1)\n"
      "        low = torch.ops.aten.slice.Tensor(x, 1, 0, 4)\n"
      "        high = torch.ops.aten.slice.Tensor(x, 1, 4, 8)\n"
      "        a = torch.ops.aten.mul.Tensor(low, primals_2)\n"
      "        b = torch.ops.aten.mul.Tensor(high, primals_2)\n"
      "        c = torch.ops.aten.add.Tensor(a, b)\n"
      "        gb = torch.ops.aten.mul.Tensor(tangents_1, high)\n"
      "        ga = torch.ops.aten.mul.Tensor(tangents_1, low)\n"
      "        return (c, ga, gb)\n";
  static const char *const pairs[] = { "gb", "b", "ga", "a", NULL };

  check_names (text, pairs);
}

/* What backward computes of values of forward is for the call whose gradient reads it. */
static void
what_is_computed_for_a_gradient (void)
{
  static const char text[] =
      "class G(torch.nn.Module):\n    def forward(self, primals_1, target, tangents_1):\n"
      "        x = torch.ops.aten.sin.default(primals_1)\n"
      "        loss = torch.ops.aten.binary_cross_entropy_with_logits.default(x, target)\n"
      "        other = torch.ops.aten.sin.default(primals_1)\n"
      "        all = torch.ops.aten.add.Tensor(loss, other)\n"
      "        go = torch.ops.aten.mul.Tensor(tangents_1, other)\n"
      "        p = torch.ops.aten.sigmoid.default(x)\n"
      "        d = torch.ops.aten.sub.Tensor(p, target)\n"
      "        gl = torch.ops.aten.mul.Tensor(tangents_1, d)\n"
      "        return (all, go, gl)\n";
  static const char *const pairs[] = { "d", "loss", "gl", "loss", NULL };

  check_names (text, pairs);
}

static void
forward_has_none (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("gpt2", "forward");
  const guint32 *counterparts = adj_graph_get_counterparts (graph);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    g_assert_cmpuint (counterparts[i], ==, G_MAXUINT32);
}

/* A table that every layer of a deep model reads, as the angles of a rotation. */
static void
table_of_many_readers (void)
{
  enum
  {
    N_LAYERS = 40
  };
  g_autoptr (GString) text = g_string_new ("def forward(self, primals_1, primals_2, tangents_1):\n"
                                           "    table = torch.ops.aten.cos.default(primals_2)\n"
                                           "    y0 = torch.ops.aten.sin.default(primals_1)\n");
  g_autoptr (AdjGraph) graph = NULL;
  const guint32 *counterparts;

  for (guint k = 0; k < N_LAYERS; k++)
    g_string_append_printf (text, "    y%u = torch.ops.aten.mul.Tensor(y%u, table)\n", k + 1, k);
  g_string_append_printf (text, "    g%u = torch.ops.aten.mul.Tensor(tangents_1, table)\n",
                          N_LAYERS);
  for (guint k = N_LAYERS; k > 1; k--)
    g_string_append_printf (text, "    g%u = torch.ops.aten.mul.Tensor(g%u, table)\n", k - 1, k);
  g_string_append_printf (text, "    return (y%u, g1)\n", N_LAYERS);
  graph = adj_test_parse_graph (text->str);
  counterparts = adj_graph_get_counterparts (graph);
  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const char *name = adj_graph_get_node (graph, i)->name;

      if (*name != 'g')
        continue;
      g_assert_cmpuint (counterparts[i], !=, G_MAXUINT32);
      g_assert_cmpstr (adj_graph_get_node (graph, counterparts[i])->name + 1, ==, name + 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/analysis/counterparts/recorded", recorded);
  g_test_add_func ("/analysis/counterparts/sums-of-inputs-have-none", sums_of_inputs_have_none);
  g_test_add_func ("/analysis/counterparts/update-has-none", update_has_none);
  g_test_add_func ("/analysis/counterparts/later-call-is-not-meant", later_call_is_not_meant);
  g_test_add_func ("/analysis/counterparts/parts-are-of-what-was-joined",
                   parts_are_of_what_was_joined);
  g_test_add_func ("/analysis/counterparts/halves-are-two-values", halves_are_two_values);
  g_test_add_func ("/analysis/counterparts/what-is-computed-for-a-gradient",
                   what_is_computed_for_a_gradient);
  g_test_add_func ("/analysis/counterparts/table-of-many-readers", table_of_many_readers);
  g_test_add_func ("/analysis/counterparts/forward-has-none", forward_has_none);
  return g_test_run ();
}
