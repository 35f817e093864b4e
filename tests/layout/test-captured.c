/* SPDX-License-Identifier: MIT */

/* Pictures of backwards captured by compiled autograd: hooks, accumulations and their order,
 * inputs, and autograd nodes. */

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

/* Takes ownership of @bundle. */
static void
draw_graph (Picture *out, AdjBundle *bundle, AdjGraph *graph, const char *const *folded)
{
  AdjLayoutOptions options = { .folded = folded };
  g_autoptr (GError) error = NULL;

  out->bundle = bundle;
  out->graph = adj_graph_ref (graph);
  out->captured = adj_captured_new (graph, bundle);
  g_assert_nonnull (out->captured);
  options.captured = out->captured;
  out->scene = adj_layout_mirror (graph, &options, NULL, NULL, &error);
  g_assert_no_error (error);
}

/* @id: %NULL: the only graph. */
static void
draw_file (Picture *out, const char *path, const char *id, const char *const *folded)
{
  AdjBundle *bundle = adj_test_load_bundle (path);
  const AdjBundleGraph *entry =
      id != NULL ? adj_bundle_find_graph (bundle, id, NULL) : adj_bundle_get_graph (bundle, 0);

  draw_graph (out, bundle, entry->graph, folded);
}

/* @id: %NULL: the only graph, without its recording. */
static void
draw (Picture *out, const char *name, const char *id, const char *const *folded)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", name, NULL);
  AdjBundle *bundle = id != NULL ? adj_test_load_capture (name) : NULL;

  if (bundle == NULL)
    draw_file (out, path, NULL, folded);
  else
    draw_graph (out, bundle, adj_bundle_find_graph (bundle, id, NULL)->graph, folded);
}

static void
draw_log (Picture *out, const char *name, const char *id)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "formats", "data", name, NULL);

  draw_file (out, path, id, NULL);
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
  /* An incoming gradient, a leaf, a former .grad, and a saved tensor. */
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
  /* The callee is taken from the list of hooks, and the call's box includes its getitem. */
  g_assert_true (box_of (&hooks, "getitem_3") == box_of (&hooks, "call_hook"));

  draw (&custom, "c13.txt", NULL, NULL);
  g_assert_cmpint (box_of (&custom, "call_backward")->role, ==, ADJ_ROLE_CUSTOM_BACKWARD);
  g_assert_cmpstr (box_of (&custom, "call_backward")->title, ==, "OnlyFirstBackward");
}

/* pytorch 119906: no value connects an accumulation to the post-hook that runs after it. */
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

/* Each frame is one autograd node; frames stand in execution order. */
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

static void
assert_input (const AdjCaptured *captured, guint index, AdjCapturedFrom from, guint32 call)
{
  const AdjCapturedInput *input = adj_captured_get_input (captured, index);

  g_assert_cmpint (input->from, ==, from);
  g_assert_cmpuint (input->call, ==, call);
}

/* An inlined node of a compiled function belongs to the function's call, and a tensor it saved
 * to the graph it comes from. */
static void
assert_inlined (const Picture *picture, const char *node, const char *graph, const char *input)
{
  AdjNodeId id = adj_graph_find_node (picture->graph, node), found;
  const AdjBundleGraph *entry = adj_captured_find_inlined (picture->captured, id.index, &found);

  g_assert_cmpstr (entry != NULL ? entry->id : NULL, ==, graph);
  if (entry != NULL)
    g_assert_cmpstr (adj_graph_get_node (entry->graph, found.index)->name, ==, input);
}

static void
test_inlined (void)
{
  static const char *const logs[] = { "trace-2.15.log", "console-2.15.txt" };
  static const char *const nodes[] = { "call_aot_bwd_prologue", "aot0_t_1", "aot0_t_5",
                                       "aot0_tanh_backward", "aot0_view_1" };

  for (guint i = 0; i < G_N_ELEMENTS (logs); i++)
    {
      g_auto (Picture) picture = { 0 };
      const AdjSceneBox *frame;

      draw_log (&picture, logs[i], "ca0-compiled_autograd");
      frame = find_titled (&picture, "CompiledFunctionBackward0 (NodeCall 2)");
      g_assert_nonnull (frame);
      for (guint k = 0; k < G_N_ELEMENTS (nodes); k++)
        g_assert_true (adj_scene_get_box (picture.scene, box_of (&picture, nodes[k])->group) ==
                       frame);
      g_assert_cmpuint (adj_captured_get_call (picture.captured, 2)->n_nodes, ==, 23);
      assert_inlined (&picture, "getitem_1", "0-0-backward", "primals_4");
      assert_inlined (&picture, "getitem_2", "0-0-backward", "primals_5");
      assert_inlined (&picture, "getitem_3", "0-0-backward", "tanh");
      assert_input (picture.captured, 0, ADJ_FROM_GRADIENT, 0);
      assert_input (picture.captured, 3, ADJ_FROM_SAVED, 2);
      assert_input (picture.captured, 4, ADJ_FROM_LEAF, 3);
      assert_input (picture.captured, 5, ADJ_FROM_GRAD, 3);
      g_assert_cmpuint (adj_captured_get_input (picture.captured, 5)->of, ==, 4);
      assert_inlined (&picture, "getitem", NULL, NULL);
      assert_inlined (&picture, "getitem_9", NULL, NULL);
      assert_inlined (&picture, "aot0_mm", NULL, NULL);
    }
}

/* Two equal functions are distinguished by their numbers. */
static void
test_inlined_alike (void)
{
  g_auto (Picture) picture = { 0 };

  draw_log (&picture, "autograd-compiled-2.6.log", "ca0-compiled_autograd");
  g_assert_nonnull (find_titled (&picture, "CompiledFunctionBackward1 (NodeCall 2)"));
  assert_input (picture.captured, 0, ADJ_FROM_GRADIENT, 1);
  assert_input (picture.captured, 6, ADJ_FROM_SAVED, 4);
  assert_inlined (&picture, "aot1_t_1", "0-1-backward", "t_1");
  assert_inlined (&picture, "aot1_primals_3", "0-1-backward", "primals_3");
  assert_inlined (&picture, "aot0_primals_3", "0-0-backward", "primals_3");
  assert_inlined (&picture, "aot0_detach_3", "0-0-backward", "detach_3");
  assert_inlined (&picture, "getitem_4", NULL, NULL);
}

#define N_DEEP 450

/* Writes a compiled function of N_DEEP nodes, each reading its own input. */
static char *
write_deep (void)
{
  GString *text = g_string_new ("class CompiledAutograd(torch.nn.Module):\n"
                                "    def forward(self, inputs, sizes, scalars, hooks):\n"
                                "         # File: ca.py:782 in set_node_origin, code: "
                                "CompiledFunctionBackward0 (NodeCall 1)\n"
                                "        aot0_mul_0: \"f32[2]\" = inputs[0]\n");

  for (guint i = 1; i <= N_DEEP; i++)
    g_string_append_printf (text, "        aot0_saved_%u: \"f32[2]\" = inputs[%u]\n", i, i);
  for (guint i = 1; i <= N_DEEP; i++)
    g_string_append_printf (text,
                            "        aot0_mul_%u: \"f32[2]\" = "
                            "torch.ops.aten.mul.Tensor(aot0_mul_%u, aot0_saved_%u)\n",
                            i, i - 1, i);
  g_string_append_printf (text, "        return [aot0_mul_%u]\n", N_DEEP);
  return g_string_free (text, FALSE);
}

/* A call with more cards than a row holds is one frame; a closed frame shows the node count of
 * the list. */
static void
test_deep (void)
{
  static const char *const folded[] = { "#NodeCall 1", NULL };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "deep.txt", NULL);
  g_autofree char *text = write_deep ();
  g_auto (Picture) open = { 0 }, closed = { 0 };
  const AdjSceneBox *frame;
  float top = G_MAXFLOAT, bottom = 0;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  draw_file (&open, path, NULL, NULL);
  frame = find_titled (&open, "CompiledFunctionBackward0 (NodeCall 1)");
  g_assert_nonnull (frame);
  g_assert_cmpstr (frame->subtitle, ==, "450 nodes");
  for (guint i = 1; i <= N_DEEP; i++)
    {
      g_autofree char *name = g_strdup_printf ("aot0_mul_%u", i);
      const AdjSceneBox *box = box_of (&open, name);

      g_assert_true (adj_scene_get_box (open.scene, box->group) == frame);
      top = MIN (top, box->rect.y);
      bottom = MAX (bottom, box->rect.y + box->rect.height);
    }
  g_assert_cmpfloat (top, >, frame->rect.y);
  g_assert_cmpfloat (bottom, <, frame->rect.y + frame->rect.height);

  draw_file (&closed, path, NULL, folded);
  g_assert_cmpstr (box_of (&closed, "aot0_mul_300")->subtitle, ==, "450 nodes");
}

/* A shortened long name keeps its number. */
static void
test_long_names (void)
{
  static const char *const folded[] = { "#NodeCall 16", NULL };
  g_auto (Picture) picture = { 0 };

  draw (&picture, "gpt2-hooks", "ca0-compiled_autograd", folded);
  g_assert_nonnull (find_titled (&picture, "NativeLayerNormBackward0 (NodeCall 16)"));
}

/* A graph with other inputs is not a captured backward. */
static void
test_others (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("mlp", "joint");

  g_assert_null (adj_captured_new (graph, NULL));
}

/* Facts in the record are also inferred if there is no record. */
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
  g_test_add_func ("/layout/captured/inlined", test_inlined);
  g_test_add_func ("/layout/captured/inlined-alike", test_inlined_alike);
  g_test_add_func ("/layout/captured/deep", test_deep);
  g_test_add_func ("/layout/captured/long-names", test_long_names);
  g_test_add_func ("/layout/captured/others", test_others);
  g_test_add_func ("/layout/captured/origins", test_origins);
  g_test_add_func ("/layout/captured/words", test_words);
  return g_test_run ();
}
