/* SPDX-License-Identifier: MIT */
/* What many cards far away read is named there instead of drawn to them. */

#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "support/adj-test.h"
#include "support/graphs.h"

#define STRETCH 30 /* calls between two of the cards that are looked at */

/* y = sin (sin (… y)) */
static void
append_calls (GString *text, guint *at)
{
  for (guint k = 0; k < STRETCH; k++, (*at)++)
    g_string_append_printf (text, "    y%u = torch.ops.aten.sin.default(y%u)\n", *at + 1, *at);
}

/* After each stretch a call reads "table" too. */
static AdjGraph *
make_graph (guint n_far)
{
  g_autoptr (GString) text = g_string_new ("def forward(self, arg0_1):\n"
                                           "    table = torch.ops.aten.cos.default(arg0_1)\n"
                                           "    y0 = torch.ops.aten.exp.default(table)\n");
  guint at = 0;

  for (guint far = 0; far < n_far; far++)
    {
      append_calls (text, &at);
      g_string_append_printf (text, "    far_%u = torch.ops.aten.mul.Tensor(y%u, table)\n", far,
                              at);
      g_string_append_printf (text, "    y%u = torch.ops.aten.neg.default(far_%u)\n", at + 1, far);
      at++;
    }
  g_string_append_printf (text, "    return (y%u,)\n", at);
  return adj_test_parse_graph (text->str);
}

/* The last call reads what each stretch ends with; @n_readers calls far below read that. */
static AdjGraph *
make_join (guint n_far, guint n_readers)
{
  g_autoptr (GString) text = g_string_new ("def forward(self, arg0_1):\n"
                                           "    y0 = torch.ops.aten.exp.default(arg0_1)\n");
  g_autoptr (GString) parts = g_string_new (NULL);
  guint at = 0;

  for (guint far = 0; far < n_far; far++)
    {
      g_string_append_printf (text, "    part_%u = torch.ops.aten.neg.default(y%u)\n", far, at);
      g_string_append_printf (parts, "part_%u, ", far);
      append_calls (text, &at);
    }
  g_string_append_printf (text, "    all = torch.ops.aten.cat.default([%sy%u])\n", parts->str, at);
  for (guint far = 0; far < n_readers; far++)
    {
      append_calls (text, &at);
      g_string_append_printf (text, "    y%u = torch.ops.aten.mul.Tensor(y%u, all)\n", at + 1, at);
      at++;
    }
  g_string_append_printf (text, "    return (all, y%u)\n", at);
  return adj_test_parse_graph (text->str);
}

static AdjScene *
lay_out (AdjGraph *graph)
{
  g_autoptr (GError) error = NULL;
  AdjScene *scene = adj_layout_mirror (graph, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return scene;
}

static guint
box_of (const AdjScene *scene, const AdjGraph *graph, const char *name)
{
  return adj_scene_find_node (scene, adj_graph_find_node (graph, name));
}

/* The chip at the card of @at that says @title, which stands for @node. */
static gboolean
has_chip (const AdjScene *scene,
          const AdjGraph *graph,
          const char *at,
          const char *title,
          const char *node)
{
  guint card = box_of (scene, graph, at);

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_CHIP && box->anchor == card && g_str_equal (box->title, title))
        return box->node.index == adj_graph_find_node (graph, node).index;
    }
  return FALSE;
}

static gboolean
has_line (const AdjScene *scene, const AdjGraph *graph, const char *from, const char *to)
{
  for (guint i = 0; i < adj_scene_get_n_edges (scene); i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, i);

      if (edge->from == box_of (scene, graph, from) && edge->to == box_of (scene, graph, to))
        return TRUE;
    }
  return FALSE;
}

static void
test_readers (void)
{
  g_autoptr (AdjGraph) graph = make_graph (4);
  g_autoptr (AdjScene) scene = lay_out (graph);

  g_assert_true (has_line (scene, graph, "table", "y0"));
  for (guint k = 0; k < 4; k++)
    {
      g_autofree char *far = g_strdup_printf ("far_%u", k);

      g_assert_true (has_chip (scene, graph, far, "table ↑", "table"));
      g_assert_false (has_line (scene, graph, "table", far));
    }
  g_assert_true (has_chip (scene, graph, "table", "4 ↓", "table"));
}

static void
test_makers (void)
{
  g_autoptr (AdjGraph) graph = make_join (4, 0);
  g_autoptr (AdjScene) scene = lay_out (graph);

  for (guint k = 0; k < 4; k++)
    {
      g_autofree char *part = g_strdup_printf ("part_%u", k);

      g_assert_true (has_chip (scene, graph, part, "all ↓", "all"));
      g_assert_false (has_line (scene, graph, part, "all"));
    }
  g_assert_true (has_chip (scene, graph, "all", "4 ↑", "all"));
}

/* Each direction has its count. */
static void
test_both (void)
{
  g_autoptr (AdjGraph) graph = make_join (4, 3);
  g_autoptr (AdjScene) scene = lay_out (graph);

  g_assert_true (has_chip (scene, graph, "all", "4 ↑", "all"));
  g_assert_true (has_chip (scene, graph, "all", "3 ↓", "all"));
}

/* A connection that skips what is between is what the picture is about. */
static void
test_few (void)
{
  g_autoptr (AdjGraph) graph = make_graph (2);
  g_autoptr (AdjScene) scene = lay_out (graph);

  g_assert_true (has_line (scene, graph, "table", "far_0"));
  g_assert_true (has_line (scene, graph, "table", "far_1"));
  g_assert_false (has_chip (scene, graph, "far_1", "table ↑", "table"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/far-reads/readers", test_readers);
  g_test_add_func ("/layout/far-reads/makers", test_makers);
  g_test_add_func ("/layout/far-reads/both", test_both);
  g_test_add_func ("/layout/far-reads/few", test_few);
  return g_test_run ();
}
