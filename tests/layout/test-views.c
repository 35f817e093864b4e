/* SPDX-License-Identifier: MIT */

/* The layouts other than the mirror: one column, plain Graphviz, and the flow of a value. */

#include <gio/gio.h>
#include <string.h>

#include "base/adj-error.h"
#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "layout/adj-layout.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static AdjScene *
lay_out (AdjGraph *graph, AdjLayoutView view, const GArray *only)
{
  AdjLayoutOptions options = { .view = view, .only = only };
  g_autoptr (GError) error = NULL;
  AdjScene *scene = adj_layout_mirror (graph, &options, NULL, NULL, &error);

  g_assert_no_error (error);
  return scene;
}

static const AdjSceneBox *
box_of (const AdjScene *scene, const AdjGraph *graph, const char *name)
{
  guint box = adj_scene_find_node (scene, adj_graph_find_node (graph, name));

  g_assert_cmpuint (box, !=, ADJ_NO_BOX);
  return adj_scene_get_box (scene, box);
}

/* Each reader of a value is below the node that makes it. */
static void
check_flows_down (const AdjScene *scene, const AdjGraph *graph)
{
  guint n_lines = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      guint reader = adj_scene_find_node (scene, (AdjNodeId){ i });

      for (guint k = 0; k < node->n_inputs; k++)
        {
          guint maker = adj_scene_find_node (scene, node->inputs[k]);
          const AdjSceneBox *from, *to;

          if (maker == reader || maker == ADJ_NO_BOX || reader == ADJ_NO_BOX)
            continue;
          from = adj_scene_get_box (scene, maker);
          to = adj_scene_get_box (scene, reader);
          if (from->kind == ADJ_BOX_CHIP || to->role == ADJ_ROLE_OUTPUT)
            continue;
          g_assert_cmpfloat (from->rect.y + from->rect.height, <, to->rect.y);
          n_lines++;
        }
    }
  g_assert_cmpuint (n_lines, >, 0);
}

static void
test_one_column (void)
{
  static const AdjLayoutView views[] = { ADJ_VIEW_STACKED, ADJ_VIEW_DOT };
  static const char *const roles[] = { "joint", "forward", "backward" };

  for (guint v = 0; v < G_N_ELEMENTS (views); v++)
    for (guint r = 0; r < G_N_ELEMENTS (roles); r++)
      {
        g_autoptr (AdjGraph) graph = adj_test_load_graph ("mlp", roles[r]);
        g_autoptr (AdjScene) scene = lay_out (graph, views[v], NULL);

        check_flows_down (scene, graph);
        for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
          {
            g_assert_cmpint (adj_scene_get_box (scene, i)->kind, !=, ADJ_BOX_BRIDGE);
            if (views[v] == ADJ_VIEW_DOT)
              g_assert_cmpint (adj_scene_get_box (scene, i)->kind, !=, ADJ_BOX_GROUP);
          }
      }
}

/* The single column keeps the roles of saved values. */
static void
test_keeps_roles (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("mlp", "joint");
  g_autoptr (AdjScene) scene = lay_out (graph, ADJ_VIEW_STACKED, NULL);

  g_assert_cmpint (box_of (scene, graph, "relu")->role, ==, ADJ_ROLE_SAVED);
  g_assert_cmpint (box_of (scene, graph, "mm_3")->role, ==, ADJ_ROLE_GRADIENT);
  g_assert_cmpint (box_of (scene, graph, "addmm")->role, ==, ADJ_ROLE_NONE);
  g_assert_cmpint (box_of (scene, graph, "tangents_1")->kind, ==, ADJ_BOX_PILL);
}

/* In the joint graph of the MLP: relu comes from addmm, which comes from the input and two
 * parameters; the nodes that compute the loss come after it. */
static void
test_flow (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("mlp", "joint");
  AdjNodeId relu = adj_graph_find_node (graph, "relu");
  g_autoptr (GArray) all = adj_flow_collect (graph, relu, 300);
  g_autoptr (GArray) near = adj_flow_collect (graph, relu, 4);
  g_autoptr (AdjScene) scene = lay_out (graph, ADJ_VIEW_FLOW, all);
  gboolean has_softmax = FALSE;

  g_assert_cmpuint (near->len, ==, 4);
  for (guint i = 0; i < all->len; i++)
    {
      guint32 index = g_array_index (all, guint32, i);

      g_assert_true (i == 0 || g_array_index (all, guint32, i - 1) < index);
      has_softmax |= strcmp (adj_graph_get_node (graph, index)->name, "_log_softmax") == 0;
      /* This input is neither an ancestor nor a descendant of relu. */
      g_assert_cmpuint (index, !=, adj_graph_find_node (graph, "primals_8").index);
    }
  g_assert_true (has_softmax);
  check_flows_down (scene, graph);
  g_assert_cmpint (box_of (scene, graph, "relu")->role, ==, ADJ_ROLE_SAVED);
  g_assert_cmpuint (adj_scene_find_node (scene, adj_graph_find_node (graph, "primals_8")), ==,
                    ADJ_NO_BOX);
  g_assert_cmpuint (adj_scene_find_node (scene, adj_graph_find_node (graph, "tangents_1")), ==,
                    ADJ_NO_BOX);
}

/* If Graphviz does not finish in time, an error says so. */
static void
test_budget (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("mlp", "joint");
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "helper", NULL);
  g_autofree char *helper = g_strdup (g_getenv ("ADJ_LAYOUT_HELPER"));
  AdjLayoutOptions options = { .view = ADJ_VIEW_DOT, .budget = G_TIME_SPAN_SECOND / 5 };
  g_autoptr (GError) error = NULL;
  gint64 begin;

  g_file_set_contents_full (path, "#!/bin/sh\nexec sleep 9\n", -1, G_FILE_SET_CONTENTS_NONE, 0755,
                            &error);
  g_assert_no_error (error);
  g_setenv ("ADJ_LAYOUT_HELPER", path, TRUE);
  begin = g_get_monotonic_time ();
  g_assert_null (adj_layout_mirror (graph, &options, NULL, NULL, &error));
  g_setenv ("ADJ_LAYOUT_HELPER", helper, TRUE);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT);
  g_assert_nonnull (strstr (error->message, "Graphviz did not lay out"));
  g_assert_cmpint (g_get_monotonic_time () - begin, <, 5 * G_TIME_SPAN_SECOND);
}

/* Effect tokens are inputs and outputs but neither primals nor gradients, and they order the
 * effects. */
static void
test_tokens (void)
{
  static const char text[] =
      "class joint_helper(torch.nn.Module):\n"
      "    def forward(self, primals, tangents):\n"
      "        primals_1: \"f32[0]\"; primals_2: \"f32[3]\"; tangents_1: \"f32[3]\"; "
      "tangents_token: \"f32[0]\"; \n\n"
      "        primals_1, primals_2, tangents_1, tangents_token, = "
      "fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)\n"
      "        with_effects = torch.ops.higher_order.with_effects(primals_1, "
      "torch.ops.aten._print.default, 'a');  primals_1 = None\n"
      "        getitem: \"f32[0]\" = with_effects[0];  with_effects = None\n"
      "        mul: \"f32[3]\" = torch.ops.aten.mul.Tensor(primals_2, 3);  primals_2 = None\n"
      "        mul_1: \"f32[3]\" = torch.ops.aten.mul.Tensor(tangents_1, 3);  tangents_1 = None\n"
      "        with_effects_1 = torch.ops.higher_order.with_effects(tangents_token, "
      "torch.ops.aten._print.default, 'b');  tangents_token = None\n"
      "        getitem_1: \"f32[0]\" = with_effects_1[0];  with_effects_1 = None\n"
      "        return pytree.tree_unflatten([getitem, mul, mul_1, getitem_1], self._out_spec)\n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjScene) scene = NULL;

  scene = lay_out (graph, ADJ_VIEW_MIRROR, NULL);
  g_assert_cmpstr (box_of (scene, graph, "mul_1")->subtitle, ==, "grad of primals_2");
  g_assert_cmpint (box_of (scene, graph, "mul_1")->role, ==, ADJ_ROLE_GRADIENT);
  g_assert_cmpstr (box_of (scene, graph, "with_effects")->subtitle, ==, "_print");
  g_assert_cmpint (box_of (scene, graph, "with_effects")->role, ==, ADJ_ROLE_NONE);
  g_assert_cmpint (box_of (scene, graph, "with_effects_1")->role, ==, ADJ_ROLE_NONE);
}

/* A hook in a frontend graph is shown as a hook. */
static void
test_registered_hook (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "aot", "hooks", "scaled-dynamo.txt", NULL);
  g_autofree char *text = NULL;
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjScene) scene = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  graph = adj_test_parse_graph (text);
  scene = lay_out (graph, ADJ_VIEW_MIRROR, NULL);
  g_assert_cmpint (box_of (scene, graph, "register_hook")->role, ==, ADJ_ROLE_HOOK);
}

/* Returns the title above a column or above the band between the two. */
static const AdjSceneBox *
find_header (const AdjScene *scene, AdjSide side)
{
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_HEADER && box->side == side)
        return box;
    }
  g_assert_not_reached ();
}

/* A single graph of a whole step is a mirror too, with the optimiser after its backward. */
static void
test_whole_step (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "ir", "data", "step-2.15.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjScene) scene = lay_out (graph, ADJ_VIEW_MIRROR, NULL);
  guint n_updates = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    n_updates += adj_scene_get_box (scene, i)->role == ADJ_ROLE_UPDATE;
  g_assert_cmpuint (n_updates, ==, 6);
  g_assert_cmpstr (find_header (scene, ADJ_SIDE_BACKWARD)->title, ==, "BACKWARD, THEN UPDATE ↑");
  g_assert_cmpint (box_of (scene, graph, "mean")->side, ==, ADJ_SIDE_FORWARD);
  g_assert_cmpint (box_of (scene, graph, "tanh")->role, ==, ADJ_ROLE_SAVED);
  g_assert_cmpint (box_of (scene, graph, "tanh_backward")->side, ==, ADJ_SIDE_BACKWARD);
  g_assert_cmpint (box_of (scene, graph, "mm_4")->role, ==, ADJ_ROLE_NONE);
  g_assert_cmpint (box_of (scene, graph, "sub_2")->role, ==, ADJ_ROLE_UPDATE);
}

/* An in-place optimiser reads no gradient when it decays its state. */
static void
test_update_in_place (void)
{
  static const char text[] =
      "def forward(self, w_1, m_1, x_1):\n"
      "        y: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(x_1, w_1)\n"
      "        loss: \"f32[][]cpu\" = torch.ops.aten.sum.default(y)\n"
      "        # autograd_backward: True\n"
      "        one: \"f32[][]cpu\" = torch.ops.aten.ones_like.default(loss)\n"
      "        g: \"f32[4][0]cpu\" = torch.ops.aten.expand.default(one, [4])\n"
      "        gw: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(g, x_1)\n"
      "        # No stacktrace found for following nodes\n"
      "        decay: \"f32[4][1]cpu\" = torch.ops.aten.mul_.Scalar(m_1, 0.9)\n"
      "        mean: \"f32[4][1]cpu\" = torch.ops.aten.add_.Tensor(m_1, gw)\n"
      "        step: \"f32[4][1]cpu\" = torch.ops.aten.sub_.Tensor(w_1, m_1)\n"
      "        shown: \"f32[][]cpu\" = torch.ops.aten.detach.default(loss)\n"
      "        return shown\n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjScene) scene = lay_out (graph, ADJ_VIEW_MIRROR, NULL);

  g_assert_cmpstr (find_header (scene, ADJ_SIDE_FORWARD)->title, ==, "FORWARD ↓");
  g_assert_cmpint (box_of (scene, graph, "loss")->side, ==, ADJ_SIDE_FORWARD);
  for (const char *const *name = (const char *const[]){ "decay", "mean", "step", NULL };
       *name != NULL; name++)
    {
      g_assert_cmpint (box_of (scene, graph, *name)->side, ==, ADJ_SIDE_BACKWARD);
      g_assert_cmpint (box_of (scene, graph, *name)->role, ==, ADJ_ROLE_UPDATE);
    }
}

/* Inputs that backward reads are saved above all rows, but below the titles of the columns. */
static void
test_many_inputs (void)
{
  g_autoptr (GString) text = g_string_new ("def forward(self");
  g_autoptr (GString) forward = g_string_new ("");
  g_autoptr (GString) backward = g_string_new ("");
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjScene) scene = NULL;
  float before = 44; /* lower end of the titles */
  guint n = 0;

  for (guint i = 0; i < 7; i++)
    {
      g_string_append_printf (text, "%s x_%u: \"f32[4][1]cpu\"", ",", i);
      g_string_append_printf (
          forward, "    y_%u: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(%s_%u, x_%u)\n", i,
          i > 0 ? "y" : "x", i > 0 ? i - 1 : 0, i);
      g_string_append_printf (
          backward, "    g_%u: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(%s_%u, x_%u)\n", i,
          i > 0 ? "g" : "tangents", i > 0 ? i - 1 : 1, i);
    }
  g_string_append_printf (text, ", tangents_1: \"f32[4][1]cpu\"):\n%s%s    return (y_6, g_6)\n",
                          forward->str, backward->str);
  graph = adj_test_parse_graph (text->str);
  scene = lay_out (graph, ADJ_VIEW_MIRROR, NULL);
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind != ADJ_BOX_BRIDGE)
        continue;
      g_assert_cmpfloat (box->rect.y, >=, before);
      before = box->rect.y + box->rect.height;
      n++;
    }
  g_assert_cmpuint (n, >=, 6);
}

#define JOINT(statements, results)                                                                 \
  "class joint_helper(torch.nn.Module):\n"                                                         \
  "    def forward(self, primals, tangents):\n"                                                    \
  "        primals_1: \"f32[8][1]cuda:0\"; tangents_1: \"f32[8][1]cuda:0\"; \n"                    \
  "\n"                                                                                             \
  "        primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], "             \
  "self._in_spec)\n" statements "        return pytree.tree_unflatten([" results                   \
  "], self._out_spec)\n"

/* Two readers make the same view of a value: neither view is a recomputation, and values made
 * from the second one and kept for backward are forward values. */
static void
test_same_views (void)
{
  static const char text[] = JOINT (
      "        sin: \"f32[8][1]cuda:0\" = torch.ops.aten.sin.default(primals_1)\n"
      "        view: \"f32[2, 4][4, 1]cuda:0\" = torch.ops.aten.view.default(sin, [2, 4])\n"
      "        exp: \"f32[2, 4][4, 1]cuda:0\" = torch.ops.aten.exp.default(view)\n"
      "        view_1: \"f32[2, 4][4, 1]cuda:0\" = torch.ops.aten.view.default(sin, [2, 4])\n"
      "        cos: \"f32[2, 4][4, 1]cuda:0\" = torch.ops.aten.cos.default(view_1)\n"
      "        tan: \"f32[2, 4][4, 1]cuda:0\" = torch.ops.aten.tan.default(cos)\n"
      "        kept: \"f32[2, 4][4, 1]cuda:0\" = torch.ops.aten.neg.default(tan)\n"
      "        add: \"f32[2, 4][4, 1]cuda:0\" = torch.ops.aten.add.Tensor(exp, tan)\n"
      "        view_2: \"f32[2, 4][4, 1]cuda:0\" = "
      "torch.ops.aten.view.default(tangents_1, [2, 4])\n"
      "        mul: \"f32[2, 4][4, 1]cuda:0\" = torch.ops.aten.mul.Tensor(view_2, kept)\n",
      "add, mul");
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjScene) scene = lay_out (graph, ADJ_VIEW_MIRROR, NULL);

  g_assert_cmpint (box_of (scene, graph, "kept")->side, ==, ADJ_SIDE_FORWARD);
  g_assert_cmpint (box_of (scene, graph, "kept")->role, ==, ADJ_ROLE_SAVED);
  g_assert_cmpint (box_of (scene, graph, "tan")->role, ==, ADJ_ROLE_NONE);
}

/* A value is offloaded by its policy or by a copy to CPU memory; a value that backward does not
 * read is not. */
static void
test_offloaded (void)
{
  static const char text[] =
      JOINT ("        # recompute: MUST_CPU_OFFLOAD File: /net.py:3 in forward, code: y = x.sin()\n"
             "        sin: \"f32[8][1]cuda:0\" = torch.ops.aten.sin.default(primals_1)\n"
             "        unread: \"f32[8][1]cuda:0\" = torch.ops.aten.tan.default(sin)\n"
             "        # File: /net.py:4 in forward, code: y = y.cos()\n"
             "        cos: \"f32[8][1]cuda:0\" = torch.ops.aten.cos.default(sin)\n"
             "        moved: \"f32[8][1]cpu\" = torch.ops.prims.device_put.default(cos, "
             "device(type='cpu'))\n"
             "        exp: \"f32[8][1]cuda:0\" = torch.ops.aten.exp.default(cos)\n"
             "        mul: \"f32[8][1]cuda:0\" = torch.ops.aten.mul.Tensor(tangents_1, sin)\n"
             "        mul_1: \"f32[8][1]cuda:0\" = torch.ops.aten.mul.Tensor(mul, moved)\n"
             "        mul_2: \"f32[8][1]cuda:0\" = torch.ops.aten.mul.Tensor(mul_1, exp)\n",
             "unread, mul_2");
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjScene) scene = lay_out (graph, ADJ_VIEW_MIRROR, NULL);

  g_assert_cmpint (box_of (scene, graph, "sin")->role, ==, ADJ_ROLE_OFFLOADED);
  g_assert_cmpint (box_of (scene, graph, "moved")->role, ==, ADJ_ROLE_OFFLOADED);
  g_assert_cmpint (box_of (scene, graph, "exp")->role, ==, ADJ_ROLE_SAVED);
  g_assert_cmpint (box_of (scene, graph, "unread")->role, ==, ADJ_ROLE_NONE);
  g_assert_cmpstr (find_header (scene, ADJ_SIDE_NONE)->subtitle, ==, "96 B, 64 B offloaded");
}

/* A frontend names values after variables of the program: the card shows the called function. */
static void
test_names_of_values (void)
{
  g_autoptr (AdjGraph) graph =
      adj_test_parse_graph ("class GraphModule(torch.nn.Module):\n"
                            "    def forward(self, a: \"f32[4][1]cpu\"):\n"
                            "        x: \"f32[4][1]cpu\" = torch.relu(a)\n"
                            "        x_1: \"f32[4][1]cpu\" = x.tanh()\n"
                            "        linear: \"f32[4][1]cpu\" = torch.nn.functional.gelu(x_1)\n"
                            "        gelu_3: \"f32[4][1]cpu\" = torch.nn.functional.gelu(linear)\n"
                            "        return (gelu_3,)\n");
  g_autoptr (AdjScene) scene = lay_out (graph, ADJ_VIEW_MIRROR, NULL);

  g_assert_cmpstr (box_of (scene, graph, "x")->subtitle, ==, "relu · f32[4]");
  g_assert_cmpstr (box_of (scene, graph, "x_1")->subtitle, ==, "tanh · f32[4]");
  g_assert_cmpstr (box_of (scene, graph, "linear")->subtitle, ==, "gelu · f32[4]");
  g_assert_cmpstr (box_of (scene, graph, "gelu_3")->subtitle, ==, "f32[4]");
}

/* In the mirror, too, only what is asked for is shown, on its side. */
static void
test_only (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("mlp", "joint");
  static const char *const names[] = { "tanh", "addmm_2", "tanh_backward" };
  g_autoptr (GArray) only = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (AdjScene) scene = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      guint32 index = adj_graph_find_node (graph, names[i]).index;

      g_array_append_val (only, index);
    }
  scene = lay_out (graph, ADJ_VIEW_MIRROR, only);
  g_assert_cmpfloat (box_of (scene, graph, "addmm_2")->rect.y, <,
                     box_of (scene, graph, "tanh")->rect.y);
  g_assert_cmpfloat (box_of (scene, graph, "tanh")->rect.x, <,
                     box_of (scene, graph, "tanh_backward")->rect.x);
  g_assert_cmpuint (adj_scene_find_node (scene, adj_graph_find_node (graph, "addmm_1")), ==,
                    ADJ_NO_BOX);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/views/one-column", test_one_column);
  g_test_add_func ("/layout/views/keeps-roles", test_keeps_roles);
  g_test_add_func ("/layout/views/flow", test_flow);
  g_test_add_func ("/layout/views/only", test_only);
  g_test_add_func ("/layout/views/budget", test_budget);
  g_test_add_func ("/layout/views/tokens", test_tokens);
  g_test_add_func ("/layout/views/registered-hook", test_registered_hook);
  g_test_add_func ("/layout/views/same-views", test_same_views);
  g_test_add_func ("/layout/views/whole-step", test_whole_step);
  g_test_add_func ("/layout/views/many-inputs", test_many_inputs);
  g_test_add_func ("/layout/views/update-in-place", test_update_in_place);
  g_test_add_func ("/layout/views/offloaded", test_offloaded);
  g_test_add_func ("/layout/views/names-of-values", test_names_of_values);
  return g_test_run ();
}
