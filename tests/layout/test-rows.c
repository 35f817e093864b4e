/* SPDX-License-Identifier: MIT */
/* Rows of the mirror: where modules are cut, how high the side that follows may become, what stands
 * above; and lanes beside each other. */

#include "ir/adj-graph.h"
#include "layout/adj-tracks.h"
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

#define N_EXPERTS 4
#define IN_MODULE "  # adj: {modules: [('%s', 'Part')]}\n"

/* A long module is cut between its parts, though a value passes them all. */
static void
test_necks (void)
{
  g_autoptr (GString) text =
      g_string_new ("class G(torch.nn.Module):\n    def forward(self, primals_1):\n");
  const AdjLayoutOptions options = { 0 };
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjNodeRoles) roles = NULL;
  g_autoptr (AdjRows) rows = NULL;

  g_string_append_printf (text, "        x = torch.ops.aten.sin.default(primals_1)" IN_MODULE, "m");
  g_string_append_printf (text, "        s0 = torch.ops.aten.cos.default(x)" IN_MODULE, "m");
  for (guint e = 0; e < N_EXPERTS; e++)
    {
      for (guint k = 0; k < 5; k++)
        g_string_append_printf (text, "        u%u_%u = torch.ops.aten.sin.default(s%u)" IN_MODULE,
                                e, k, e, "m");
      for (guint k = 1; k < 4; k++)
        g_string_append_printf (
            text, "        u%u_%u = torch.ops.aten.add.Tensor(u%u_%u, u%u_%u)" IN_MODULE, e, k + 4,
            e, k == 1 ? 0 : k + 3, e, k, "m");
      g_string_append_printf (text,
                              "        s%u = torch.ops.aten.add.Tensor(u%u_7, u%u_4)" IN_MODULE,
                              e + 1, e, e, "m");
    }
  g_string_append_printf (text, "        y = torch.ops.aten.add.Tensor(s%u, x)" IN_MODULE,
                          N_EXPERTS, "m");
  g_string_append (text, "        return (y,)\n");
  graph = adj_test_parse_graph (text->str);
  roles = adj_node_roles_new (graph, &options);
  rows = adj_rows_new (roles, &options);
  for (guint e = 1; e + 1 < N_EXPERTS; e++)
    {
      g_autofree char *last = g_strdup_printf ("s%u", e);
      g_autofree char *next = g_strdup_printf ("u%u_0", e);

      g_assert_cmpuint (rows->row_of[adj_graph_find_node (graph, last).index] + 1, ==,
                        rows->row_of[adj_graph_find_node (graph, next).index]);
    }
}

static guint
count_boxes (const AdjScene *scene, const AdjGraph *graph, const char *name, AdjBoxKind kind)
{
  guint n = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      n += box->kind == kind && adj_node_id_is_valid (box->node) &&
           box->node.index == adj_graph_find_node (graph, name).index;
    }
  return n;
}

/* An input stands above everything for those that read it there, and is stuck to those below. */
static void
test_inputs (void)
{
  static const char text[] =
      "class G(torch.nn.Module):\n    def forward(self, x, mask, target):\n"
      "        a = torch.ops.aten.sin.default(x)  # adj: {modules: [('a', 'A')]}\n"
      "        b = torch.ops.aten.mul.Tensor(a, mask)  # adj: {modules: [('a', 'A')]}\n"
      "        c = torch.ops.aten.cos.default(b)  # adj: {modules: [('a', 'A')]}\n"
      "        d = torch.ops.aten.mul.Tensor(c, mask)  # adj: {modules: [('b', 'B')]}\n"
      "        e = torch.ops.aten.sub.Tensor(d, target)  # adj: {modules: [('b', 'B')]}\n"
      "        f = torch.ops.aten.sin.default(e)  # adj: {modules: [('b', 'B')]}\n"
      "        return (f,)\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjScene) scene = adj_layout_mirror (graph, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (count_boxes (scene, graph, "x", ADJ_BOX_PILL), ==, 1);
  g_assert_cmpuint (count_boxes (scene, graph, "x", ADJ_BOX_CHIP), ==, 0);
  g_assert_cmpuint (count_boxes (scene, graph, "mask", ADJ_BOX_PILL), ==, 1);
  g_assert_cmpuint (count_boxes (scene, graph, "mask", ADJ_BOX_CHIP), ==, 1);
  g_assert_cmpuint (count_boxes (scene, graph, "target", ADJ_BOX_PILL), ==, 0);
  g_assert_cmpuint (count_boxes (scene, graph, "target", ADJ_BOX_CHIP), ==, 1);
}

/* In order, each is behind all that it overlaps; else in the first free place. */
static void
test_order_of_lanes (void)
{
  AdjTrackSpan spans[] = { { 0, 10, 0, 0 }, { 5, 15, 1, 0 }, { 12, 20, 2, 0 }, { 30, 40, 3, 0 } };

  g_assert_cmpuint (adj_tracks_assign (spans, 4, 1), ==, 2);
  g_assert_cmpuint (spans[2].track, ==, 0);
  g_assert_cmpuint (adj_tracks_assign_in_order (spans, 4, 1, 8), ==, 3);
  g_assert_cmpuint (spans[1].track, ==, 1);
  g_assert_cmpuint (spans[2].track, ==, 2);
  g_assert_cmpuint (spans[3].track, ==, 0);
  g_assert_cmpuint (adj_tracks_assign_in_order (spans, 4, 1, 2), ==, 2);
  g_assert_cmpuint (spans[2].track, ==, 0);
}

static void
append_chain (GString *text, const char *stem, const char *of, guint n)
{
  g_string_append_printf (text, "        %s_0 = torch.ops.aten.sin.default(%s)" IN_MODULE, stem, of,
                          "m");
  for (guint k = 1; k < n; k++)
    g_string_append_printf (text, "        %s_%u = torch.ops.aten.sin.default(%s_%u)" IN_MODULE,
                            stem, k, stem, k - 1, "m");
}

/* Values that a module takes in at once are more than its neck, too. */
static void
test_neck_behind_inputs (void)
{
  g_autoptr (GString) text =
      g_string_new ("class G(torch.nn.Module):\n    def forward(self, primals_1):\n");
  const AdjLayoutOptions options = { 0 };
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjNodeRoles) roles = NULL;
  g_autoptr (AdjRows) rows = NULL;

  for (guint k = 0; k < 5; k++)
    g_string_append_printf (text, "        x%u = torch.ops.aten.cos.default(primals_1)" IN_MODULE,
                            k, "inputs");
  g_string_append_printf (text, "        first = torch.ops.aten.cos.default(x0)" IN_MODULE, "m");
  g_string_append_printf (
      text, "        all = torch.ops.aten.cat.default([first, x0, x1, x2, x3, x4])" IN_MODULE, "m");
  append_chain (text, "neck", "all", 10);
  for (guint k = 0; k < 4; k++)
    g_string_append_printf (text, "        w%u = torch.ops.aten.cos.default(neck_9)" IN_MODULE, k,
                            "m");
  g_string_append_printf (
      text, "        join = torch.ops.aten.cat.default([w0, w1, w2, w3])" IN_MODULE, "m");
  append_chain (text, "end", "join", 8);
  g_string_append (text, "        return (end_7,)\n");
  graph = adj_test_parse_graph (text->str);
  roles = adj_node_roles_new (graph, &options);
  rows = adj_rows_new (roles, &options);
  g_assert_cmpuint (rows->row_of[adj_graph_find_node (graph, "first").index], <,
                    rows->row_of[adj_graph_find_node (graph, "join").index]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/rows/high", test_high);
  g_test_add_func ("/layout/rows/necks", test_necks);
  g_test_add_func ("/layout/rows/inputs", test_inputs);
  g_test_add_func ("/layout/rows/order-of-lanes", test_order_of_lanes);
  g_test_add_func ("/layout/rows/neck-behind-inputs", test_neck_behind_inputs);
  return g_test_run ();
}
