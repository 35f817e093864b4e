/* SPDX-License-Identifier: MIT */

/* Pictures of a backward that compiled autograd captured: hooks, accumulations and what they have
 * to do with each other, inputs, and the nodes of autograd. */

#include <string.h>

#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "support/adj-test.h"
#include "support/graphs.h"

typedef struct
{
  AdjBundle *bundle;
  AdjGraph *graph;
  AdjCaptured *captured;
  AdjScene *scene;
} Picture;

/* @id: %NULL: the only graph, without what was recorded. */
static void
draw (Picture *out, const char *name, const char *id, const char *const *folded)
{
  AdjLayoutOptions options = { .folded = folded };
  g_autoptr (GError) error = NULL;

  if (id != NULL)
    {
      out->bundle = adj_test_load_capture (name);
      out->graph = adj_graph_ref (adj_bundle_find_graph (out->bundle, id, &error)->graph);
    }
  else
    {
      g_autofree char *path =
          g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", name, NULL);

      out->bundle = adj_test_load_bundle (path);
      out->graph = adj_graph_ref (adj_bundle_get_graph (out->bundle, 0)->graph);
    }
  out->captured = adj_captured_new (out->graph, out->bundle);
  g_assert_nonnull (out->captured);
  options.captured = out->captured;
  out->scene = adj_layout_mirror (out->graph, &options, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
picture_clear (Picture *picture)
{
  adj_scene_unref (picture->scene);
  adj_captured_unref (picture->captured);
  adj_graph_unref (picture->graph);
  adj_bundle_unref (picture->bundle);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Picture, picture_clear)

static const AdjSceneBox *
box_of (const Picture *picture, const char *name)
{
  guint box = adj_scene_find_node (picture->scene, adj_graph_find_node (picture->graph, name));

  g_assert_cmpuint (box, !=, ADJ_NO_BOX);
  return adj_scene_get_box (picture->scene, box);
}

static void
assert_box (const Picture *picture, const char *name, AdjRole role, const char *title)
{
  const AdjSceneBox *box = box_of (picture, name);

  g_assert_cmpint (box->role, ==, role);
  g_assert_cmpstr (box->title, ==, title);
}

static const AdjSceneBox *
find_titled (const Picture *picture, const char *title)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (picture->scene); i++)
    if (g_str_equal (adj_scene_get_box (picture->scene, i)->title, title))
      return adj_scene_get_box (picture->scene, i);
  return NULL;
}

static void
test_recorded (void)
{
  g_auto (Picture) picture = { 0 };

  draw (&picture, "gpt2-hooks", "ca1-compiled_autograd", NULL);
  assert_box (&picture, "call_hook", ADJ_ROLE_HOOK, "clip · tensor pre-hook");
  assert_box (&picture, "accumulate_grad_", ADJ_ROLE_ACCUMULATE, "accumulate ln_f.bias");
  assert_box (&picture, "_exec_final_callbacks_stub", ADJ_ROLE_CALLBACKS, "final callbacks");
  /* A gradient that is given, a leaf, what was there before, and what was saved. */
  assert_box (&picture, "getitem", ADJ_ROLE_GRADIENT, "gradient given");
  assert_box (&picture, "getitem_7", ADJ_ROLE_PARAMETER, "b ln_f");
  assert_box (&picture, "getitem_12", ADJ_ROLE_GRADIENT, ".grad ln_f.bias");
  assert_box (&picture, "getitem_4", ADJ_ROLE_SAVED, "inputs[4]");
  g_assert_cmpint (box_of (&picture, "getitem_12")->kind, ==, ADJ_BOX_CHIP);
  g_assert_nonnull (find_titled (&picture, "BACKWARD ↓"));
  g_assert_nonnull (find_titled (&picture, "inputs · 99"));
}

static void
test_unrecorded (void)
{
  g_auto (Picture) hooks = { 0 };
  g_auto (Picture) custom = { 0 };

  draw (&hooks, "c10.txt", NULL, NULL);
  assert_box (&hooks, "call_hook", ADJ_ROLE_HOOK, "pre-hook · hooks[0]");
  assert_box (&hooks, "call_hook_1", ADJ_ROLE_HOOK, "post-hook · hooks[1]");
  assert_box (&hooks, "accumulate_grad__1", ADJ_ROLE_ACCUMULATE, "accumulate inputs[2]");
  /* Who is called shows what was taken out of the list for that. */
  g_assert_true (box_of (&hooks, "getitem_3") == box_of (&hooks, "call_hook"));

  draw (&custom, "c13.txt", NULL, NULL);
  g_assert_cmpint (box_of (&custom, "call_backward")->role, ==, ADJ_ROLE_CUSTOM_BACKWARD);
  g_assert_cmpstr (box_of (&custom, "call_backward")->title, ==, "OnlyFirstBackward");
}

/* pytorch 119906: no value goes from an accumulation to the hook that runs after it. */
static void
test_control (void)
{
  g_auto (Picture) picture = { 0 };
  guint n = 0;

  draw (&picture, "mlp-ddp", "r0-ca0-compiled_autograd", NULL);
  for (guint i = 0; i < adj_scene_get_n_edges (picture.scene); i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (picture.scene, i);
      const AdjSceneBox *from = adj_scene_get_box (picture.scene, edge->from);
      const AdjSceneBox *to = adj_scene_get_box (picture.scene, edge->to);
      const AdjCapturedNode *hook;

      g_assert_cmpint (from->role, !=, ADJ_ROLE_PLACEHOLDER);
      if (edge->kind != ADJ_EDGE_CONTROL)
        continue;
      hook = adj_captured_get_node (picture.captured, to->node.index);
      g_assert_cmpint (from->role, ==, ADJ_ROLE_ACCUMULATE);
      g_assert_cmpint (to->role, ==, ADJ_ROLE_HOOK);
      g_assert_cmpuint (hook->after, ==, from->node.index);
      g_assert_cmpuint (hook->leaf, ==,
                        adj_captured_get_node (picture.captured, from->node.index)->leaf);
      g_assert_false (adj_node_id_is_valid (edge->value));
      n++;
    }
  g_assert_cmpuint (n, ==, 6);
}

/* Every frame is one node of autograd, in the order in which they run. */
static void
test_calls (void)
{
  static const char *const folded[] = { "#NodeCall 4", NULL };
  g_auto (Picture) open = { 0 };
  g_auto (Picture) closed = { 0 };
  const AdjSceneBox *frame, *next;

  draw (&open, "mlp-ddp", "r0-ca0-compiled_autograd", NULL);
  frame = find_titled (&open, "AddmmBackward0 (NodeCall 4)");
  next = find_titled (&open, "AccumulateGrad (NodeCall 17)");
  g_assert_cmpint (frame->kind, ==, ADJ_BOX_GROUP);
  g_assert_cmpint (frame->fold, ==, ADJ_FOLD_OPEN);
  g_assert_cmpfloat (frame->rect.y + frame->rect.height, <, next->rect.y);
  g_assert_true (adj_scene_get_box (open.scene, box_of (&open, "mm")->group) == frame);
  g_assert_true (adj_scene_get_box (open.scene, box_of (&open, "sum_1")->group) == frame);
  g_assert_cmpuint (box_of (&open, "tanh_backward")->group, ==, ADJ_NO_BOX);
  g_assert_cmpstr (box_of (&open, "tanh_backward")->subtitle, ==, "NodeCall 3 · f32[s0, s0]");

  draw (&closed, "mlp-ddp", "r0-ca0-compiled_autograd", folded);
  frame = find_titled (&closed, "AddmmBackward0 (NodeCall 4)");
  g_assert_cmpint (frame->fold, ==, ADJ_FOLD_CLOSED);
  g_assert_true (box_of (&closed, "mm") == frame);
}

/* Of a long name the number stays. */
static void
test_long_names (void)
{
  static const char *const folded[] = { "#NodeCall 16", NULL };
  g_auto (Picture) picture = { 0 };

  draw (&picture, "gpt2-hooks", "ca0-compiled_autograd", folded);
  g_assert_nonnull (find_titled (&picture, "NativeLayerNormBackward0 (NodeCall 16)"));
}

/* A graph with other inputs is none. */
static void
test_others (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("mlp", "joint");

  g_assert_null (adj_captured_new (graph, NULL));
}

static void
assert_input (const AdjCaptured *captured, guint index, AdjCapturedFrom from, guint32 call)
{
  const AdjCapturedInput *input = adj_captured_get_input (captured, index);

  g_assert_cmpint (input->from, ==, from);
  g_assert_cmpuint (input->call, ==, call);
}

/* What the record says is also concluded where there is none. */
static void
test_origins (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("gpt2-hooks");
  AdjGraph *graph = adj_bundle_find_graph (bundle, "ca1-compiled_autograd", NULL)->graph;
  g_autoptr (AdjCaptured) recorded = adj_captured_new (graph, bundle);
  g_autoptr (AdjCaptured) concluded = adj_captured_new (graph, NULL);
  guint n = adj_captured_get_n_inputs (recorded), n_same = 0;

  assert_input (recorded, 0, ADJ_FROM_GRADIENT, 0);
  assert_input (recorded, 1, ADJ_FROM_SAVED, 1);
  assert_input (recorded, 7, ADJ_FROM_LEAF, 5);
  assert_input (recorded, 12, ADJ_FROM_GRAD, 6);
  g_assert_cmpuint (adj_captured_get_input (recorded, 12)->of, ==, 7);
  g_assert_cmpstr (adj_captured_get_input (recorded, 7)->name, ==, "ln_f.bias");
  g_assert_cmpuint (n, ==, adj_captured_get_n_inputs (concluded));
  for (guint i = 0; i < n; i++)
    {
      const AdjCapturedInput *a = adj_captured_get_input (recorded, i);
      const AdjCapturedInput *b = adj_captured_get_input (concluded, i);

      g_assert_true (a->recorded);
      g_assert_false (b->recorded);
      n_same += a->from == b->from && a->call == b->call && a->of == b->of;
    }
  g_assert_cmpuint (n_same, ==, n);
}

static void
test_words (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("gpt2-hooks");
  AdjGraph *graph = adj_bundle_find_graph (bundle, "ca1-compiled_autograd", NULL)->graph;
  g_autoptr (AdjCaptured) captured = adj_captured_new (graph, bundle);
  g_autofree char *leaf = adj_captured_name_leaf (captured, 7);
  g_autofree char *call = adj_captured_name_call (captured, 6);
  AdjNodeId hook = adj_graph_find_node (graph, "call_hook");

  g_assert_cmpstr (leaf, ==, "ln_f.bias");
  g_assert_cmpstr (call, ==, "AccumulateGrad (NodeCall 6)");
  g_assert_cmpuint (adj_captured_get_n_calls (captured), ==, 68);
  g_assert_cmpuint (adj_captured_get_n_reasons (captured), ==, 1);
  g_assert_nonnull (strstr (adj_captured_get_reason (captured, 0), "key size 32"));
  g_assert_cmpstr (adj_captured_get_text (captured, "hooks", 0, "where"), ==,
                   "/home/user/models.py:366");
  g_assert_null (adj_captured_get_text (captured, "hooks", 3, "where"));
  g_assert_nonnull (adj_captured_get_result (captured, hook.index));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/captured/recorded", test_recorded);
  g_test_add_func ("/layout/captured/unrecorded", test_unrecorded);
  g_test_add_func ("/layout/captured/control", test_control);
  g_test_add_func ("/layout/captured/calls", test_calls);
  g_test_add_func ("/layout/captured/long-names", test_long_names);
  g_test_add_func ("/layout/captured/others", test_others);
  g_test_add_func ("/layout/captured/origins", test_origins);
  g_test_add_func ("/layout/captured/words", test_words);
  return g_test_run ();
}
