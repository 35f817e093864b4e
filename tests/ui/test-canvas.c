/* SPDX-License-Identifier: MIT */

/* The parts of the canvas that need no display. */

#include <math.h>

#include "canvas/adj-camera.h"
#include "canvas/adj-marks.h"
#include "canvas/adj-navigator.h"
#include "ir/adj-graph.h"
#include "scene/adj-scene-builder.h"

static void
test_zoom_keeps_pointer (void)
{
  AdjCamera camera = { 100, 50, 0.5f };
  AdjPoint before = adj_camera_to_scene (&camera, 320, 240), after;

  adj_camera_zoom_at (&camera, 1.7f, 320, 240);
  after = adj_camera_to_scene (&camera, 320, 240);
  g_assert_cmpfloat_with_epsilon (camera.zoom, 0.85f, 1e-5);
  g_assert_cmpfloat_with_epsilon (before.x, after.x, 1e-2);
  g_assert_cmpfloat_with_epsilon (before.y, after.y, 1e-2);
  adj_camera_zoom_at (&camera, 1e9f, 0, 0);
  g_assert_cmpfloat (camera.zoom, ==, ADJ_ZOOM_MAX);
  adj_camera_zoom_at (&camera, 0, 0, 0);
  g_assert_cmpfloat (camera.zoom, ==, ADJ_ZOOM_MIN);
}

static void
test_fit (void)
{
  AdjCamera camera = ADJ_CAMERA_INIT;
  AdjRect rect = { 10, 20, 1000, 500 }, seen;

  adj_camera_fit (&camera, &rect, 500, 500, 1);
  g_assert_cmpfloat (camera.zoom, ==, 0.5f);
  seen = adj_camera_visible (&camera, 500, 500);
  g_assert_cmpfloat (seen.x, ==, 10);
  g_assert_cmpfloat (seen.y, ==, 20 + 250 - 500);
  adj_camera_fit (&camera, &rect, 5000, 5000, 1);
  g_assert_cmpfloat (camera.zoom, ==, 1);
}

static void
test_clamp_keeps_sight (void)
{
  AdjRect bounds = { 0, 0, 1000, 800 };
  AdjCamera camera = { 1e7f, -1e7f, 1 };
  AdjRect seen;

  adj_camera_clamp (&camera, &bounds, 400, 300);
  seen = adj_camera_visible (&camera, 400, 300);
  g_assert_cmpfloat (seen.x, <, bounds.x + bounds.width);
  g_assert_cmpfloat (seen.y + seen.height, >, bounds.y);
}

/* Three rows on the left, one card on the right that the second row feeds:
 *   a
 *   b ── d
 *   c                                                                        */
static AdjScene *
make_scene (void)
{
  g_autoptr (AdjSceneBuilder) builder = adj_scene_builder_new (4);
  const AdjRect places[] = {
    { 0, 0, 100, 36 }, { 0, 100, 100, 36 }, { 0, 200, 100, 36 }, { 400, 180, 100, 36 }
  };
  const AdjPoint points[] = { { 100, 118 }, { 250, 118 }, { 250, 198 }, { 400, 198 } };
  AdjSceneEdge edge = { .kind = ADJ_EDGE_BRIDGE,
                        .from = 1,
                        .to = 3,
                        .value = { 1 },
                        .bytes = 64,
                        .width = 1,
                        .n_points = G_N_ELEMENTS (points),
                        .points = points };

  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    {
      AdjSceneBox box = ADJ_SCENE_BOX_INIT;

      box.kind = ADJ_BOX_NODE;
      box.rect = places[i];
      box.node.index = i;
      adj_scene_builder_add_box (builder, &box);
      adj_scene_builder_place_node (builder, box.node, i);
    }
  adj_scene_builder_add_edge (builder, &edge);
  return adj_scene_builder_seal (builder, 10, 64);
}

static guint
step (const AdjScene *scene, guint from, AdjDirection direction)
{
  return adj_navigator_step (scene, (AdjNodeId){ from }, direction).index;
}

static void
test_navigator (void)
{
  g_autoptr (AdjScene) scene = make_scene ();

  g_assert_cmpuint (step (scene, 0, ADJ_DIRECTION_DOWN), ==, 1);
  g_assert_cmpuint (step (scene, 1, ADJ_DIRECTION_DOWN), ==, 2);
  g_assert_cmpuint (step (scene, 1, ADJ_DIRECTION_UP), ==, 0);
  /* The step follows the edge instead of going to the box at the same height. */
  g_assert_cmpuint (step (scene, 1, ADJ_DIRECTION_RIGHT), ==, 3);
  g_assert_cmpuint (step (scene, 3, ADJ_DIRECTION_LEFT), ==, 1);
  /* Nothing in that direction: stay. */
  g_assert_cmpuint (step (scene, 0, ADJ_DIRECTION_UP), ==, 0);
  g_assert_cmpuint (adj_navigator_step (scene, ADJ_NO_NODE, ADJ_DIRECTION_DOWN).index, ==, 0);
}

static void
test_marks (void)
{
  g_autoptr (AdjScene) scene = make_scene ();
  AdjValueComparison nodes[] = {
    { .node = { 0 }, .verdict = ADJ_VERDICT_SKIPPED },
    { .node = { 1 }, .verdict = ADJ_VERDICT_EQUAL },
    { .node = { 3 }, .verdict = ADJ_VERDICT_DIFFERS },
    { .node = { 3 }, .verdict = ADJ_VERDICT_WITHIN },
    { .node = { 900 }, .verdict = ADJ_VERDICT_DIFFERS },
  };
  AdjComparison comparison = { .n_nodes = G_N_ELEMENTS (nodes), .nodes = nodes, .first = 2 };
  g_autoptr (AdjMarks) marks = adj_marks_new (scene, &comparison);
  AdjVerdict verdict;

  g_assert_true (adj_marks_get (marks, 0, &verdict));
  g_assert_cmpint (verdict, ==, ADJ_VERDICT_SKIPPED);
  g_assert_true (adj_marks_get (marks, 1, &verdict));
  g_assert_cmpint (verdict, ==, ADJ_VERDICT_EQUAL);
  /* A box shows the worst verdict of its nodes. */
  g_assert_true (adj_marks_get (marks, 3, &verdict));
  g_assert_cmpint (verdict, ==, ADJ_VERDICT_DIFFERS);
  g_assert_false (adj_marks_get (marks, 2, &verdict));
  g_assert_false (adj_marks_get (marks, ADJ_NO_BOX, &verdict));
  g_assert_cmpuint (adj_marks_get_first (marks), ==, 3);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/canvas/zoom-keeps-pointer", test_zoom_keeps_pointer);
  g_test_add_func ("/ui/canvas/fit", test_fit);
  g_test_add_func ("/ui/canvas/clamp-keeps-sight", test_clamp_keeps_sight);
  g_test_add_func ("/ui/canvas/navigator", test_navigator);
  g_test_add_func ("/ui/canvas/marks", test_marks);
  return g_test_run ();
}
