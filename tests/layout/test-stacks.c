/* SPDX-License-Identifier: MIT */

/* Large graphs are folded at first; consecutive equal modules form one stack, which opens and
 * closes like a module. */

#include "analysis/adj-modules.h"
#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "support/graphs.h"
#include "support/layered-graph.h"
#include "support/pictured-graphs.h"

#define N_LAYERS 5

static AdjScene *
lay_out (AdjGraph *graph, guint fold_depth, const char *const *folded, const char *const *unfolded)
{
  g_autoptr (GError) error = NULL;
  AdjLayoutOptions options = { .fold_depth = fold_depth, .folded = folded, .unfolded = unfolded };
  AdjScene *scene = adj_layout_mirror (graph, &options, NULL, NULL, &error);

  g_assert_no_error (error);
  return scene;
}

/* (nullable) */
static const AdjSceneBox *
find_group (const AdjScene *scene, const char *path, AdjSide side)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_GROUP && box->side == side && g_str_equal (box->path, path))
        return box;
    }
  return NULL;
}

static void
check_fold (const AdjScene *scene, const char *path, AdjFold fold)
{
  const AdjSceneBox *box = find_group (scene, path, ADJ_SIDE_FORWARD);

  if (!box)
    g_error ("no %s", path);
  g_assert_cmpint (box->fold, ==, fold);
}

static guint
count_closed (const AdjScene *scene)
{
  guint n = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    n += adj_scene_get_box (scene, i)->fold == ADJ_FOLD_CLOSED &&
         adj_scene_get_box (scene, i)->side == ADJ_SIDE_FORWARD;
  return n;
}

static void
test_one_stack (void)
{
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (N_LAYERS, FALSE);
  g_autoptr (AdjScene) scene = lay_out (graph, 1, NULL, NULL);
  const AdjSceneBox *stack = find_group (scene, "h.0 … h.4", ADJ_SIDE_FORWARD);

  g_assert_nonnull (stack);
  g_assert_cmpint (stack->fold, ==, ADJ_FOLD_CLOSED);
  g_assert_cmpstr (stack->title, ==, "h.0 … h.4 ×5 Block");
  g_assert_cmpuint (count_closed (scene), ==, 1);
}

static void
test_opens (void)
{
  static const char *const stack[] = { "h.0 … h.4", NULL };
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (N_LAYERS, FALSE);
  g_autoptr (AdjScene) scene = lay_out (graph, 1, NULL, stack);

  check_fold (scene, "h.0 … h.4", ADJ_FOLD_OPEN);
  check_fold (scene, "h.0", ADJ_FOLD_CLOSED);
  check_fold (scene, "h.4", ADJ_FOLD_CLOSED);
  g_assert_cmpuint (count_closed (scene), ==, N_LAYERS);
}

/* A module opened by hand is visible; closing its stack hides it. */
static void
test_one_inside (void)
{
  static const char *const inside[] = { "h.2", NULL }, *const stack[] = { "h.0 … h.4", NULL };
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (N_LAYERS, FALSE);
  g_autoptr (AdjScene) scene = lay_out (graph, 1, NULL, inside);
  g_autoptr (AdjScene) closed = lay_out (graph, 1, stack, inside);

  check_fold (scene, "h.2", ADJ_FOLD_OPEN);
  check_fold (scene, "h.3", ADJ_FOLD_CLOSED);
  check_fold (closed, "h.0 … h.4", ADJ_FOLD_CLOSED);
  g_assert_cmpuint (count_closed (closed), ==, 1);
}

static void
test_unlike (void)
{
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (N_LAYERS, TRUE);
  g_autoptr (AdjScene) scene = lay_out (graph, 1, NULL, NULL);

  g_assert_cmpuint (count_closed (scene), ==, N_LAYERS);
}

/* Without module names, blocks are stacked. */
static void
test_blocks (void)
{
  g_autoptr (AdjGraph) named = adj_test_layered_graph (N_LAYERS, FALSE);
  g_autoptr (AdjGraph) graph = adj_test_through_log (named, ADJ_TEST_LOG_NOTHING);
  g_autoptr (AdjScene) scene = lay_out (graph, 1, NULL, NULL);
  const AdjSceneBox *stack = find_group (scene, "70 calls · 5 ×", ADJ_SIDE_FORWARD);

  g_assert_nonnull (stack);
  g_assert_cmpstr (stack->title, ==, "70 calls · 5 ×");
  g_assert_cmpuint (count_closed (scene), ==, 1);
}

static void
test_by_size (void)
{
  g_autoptr (AdjGraph) small = adj_test_layered_graph (N_LAYERS, FALSE);
  g_autoptr (AdjGraph) large = adj_test_layered_graph (12, FALSE);
  g_autoptr (AdjScene) open = lay_out (small, ADJ_FOLD_BY_SIZE, NULL, NULL);
  g_autoptr (AdjScene) closed = lay_out (large, ADJ_FOLD_BY_SIZE, NULL, NULL);

  g_assert_cmpuint (adj_graph_get_n_nodes (small), <=, ADJ_MANY_NODES);
  g_assert_cmpuint (adj_graph_get_n_nodes (large), >, ADJ_MANY_NODES);
  g_assert_cmpuint (count_closed (open), ==, 0);
  g_assert_cmpuint (count_closed (closed), ==, 1);
}

/* Each of the two boxes of a module shows the number of nodes that name the module, without
 * inputs. */
static void
test_counts (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("gpt2", "joint");
  g_autoptr (AdjScene) scene = lay_out (graph, 1, NULL, NULL);
  const AdjSceneBox *forward = find_group (scene, "h.0", ADJ_SIDE_FORWARD);
  const AdjSceneBox *backward = find_group (scene, "h.0", ADJ_SIDE_BACKWARD);
  g_autofree char *text = NULL;
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      guint n_modules;
      const AdjModule *modules = adj_graph_get_modules (graph, i, &n_modules);

      n += n_modules > 0 && g_str_equal (modules[0].path, "h.0");
    }
  g_assert_cmpuint (forward->n_nodes + backward->n_nodes, ==, n);
  text = g_strdup_printf ("%u of %u nodes", forward->n_nodes, n);
  g_assert_cmpstr (forward->subtitle, ==, text);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/stacks/one-stack", test_one_stack);
  g_test_add_func ("/layout/stacks/opens", test_opens);
  g_test_add_func ("/layout/stacks/one-inside", test_one_inside);
  g_test_add_func ("/layout/stacks/unlike", test_unlike);
  g_test_add_func ("/layout/stacks/blocks", test_blocks);
  g_test_add_func ("/layout/stacks/by-size", test_by_size);
  g_test_add_func ("/layout/stacks/counts", test_counts);
  return g_test_run ();
}
