/* SPDX-License-Identifier: MIT */
/* Roles of inputs, determined at sealing, against their names and a naive implementation. */

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "support/random-graph.h"
#include "support/random-joint.h"

static void
named_as_pytorch_does (void)
{
  static const struct
  {
    const char *target;
    AdjInputRole role;
  } cases[] = {
    { "primals_1", ADJ_INPUT_PRIMAL },         { "tangents_1", ADJ_INPUT_TANGENT },
    { "tangents_token_1", ADJ_INPUT_TANGENT }, { "L_tangents_", ADJ_INPUT_PRIMAL },
    { "fwd_seed_1", ADJ_INPUT_FORWARD_RNG },   { "fwd_base_offset_1", ADJ_INPUT_FORWARD_RNG },
    { "bwd_seed_1", ADJ_INPUT_BACKWARD_RNG },  { "bwd_base_offset_1", ADJ_INPUT_BACKWARD_RNG },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (adj_input_role_from_target (cases[i].target), ==, cases[i].role);
}

/* Whether node @index depends on a placeholder whose name is that of a tangent. */
static gboolean
is_reached (const AdjGraph *graph, guint index)
{
  const AdjNode *node = adj_graph_get_node (graph, index);

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER)
    return strstr (node->target, "tangents_") == node->target;
  for (guint k = 0; k < node->n_inputs; k++)
    if (is_reached (graph, node->inputs[k].index))
      return TRUE;
  return FALSE;
}

/* Whether node @index runs in backward, given @backward for the nodes before it.  Its tag
 * decides; without a tag these run in backward: a tangent, nodes that depend on one, and every
 * call after the first that reads a backward value. */
static gboolean
runs_backward (const AdjGraph *graph, guint index, const gboolean *backward)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  const char *tag = node->meta.partitioner_tag;

  if (tag != NULL && (strstr (tag, "backward") != NULL || strstr (tag, "forward") != NULL))
    return strstr (tag, "backward") != NULL;
  if (node->opcode == ADJ_OPCODE_OUTPUT)
    return FALSE;
  if (node->opcode == ADJ_OPCODE_PLACEHOLDER || is_reached (graph, index))
    return is_reached (graph, index);
  for (guint i = 0; i <= index; i++)
    for (guint k = 0; k < adj_graph_get_node (graph, i)->n_inputs; k++)
      if (backward[adj_graph_get_node (graph, i)->inputs[k].index])
        return TRUE;
  return FALSE;
}

static void
check_phases (const AdjGraph *joint)
{
  g_autofree gboolean *backward = g_new0 (gboolean, adj_graph_get_n_nodes (joint));

  for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
    {
      backward[i] = runs_backward (joint, i, backward);
      g_assert_cmpint (adj_graph_is_backward (joint, i), ==, backward[i]);
    }
}

/* (transfer full): @joint with tags at a third of its calls. */
static AdjGraph *
add_tags (const AdjGraph *joint, GRand *rand)
{
  static const char *const tags[] = { "is_forward", "is_backward", "must_be_in_forward",
                                      "must_be_in_backward" };
  g_autofree char *text =
      adj_graph_print (joint, ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS, NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) tagged = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_string_append (tagged, lines[i]);
      if (strstr (lines[i], " = torch.ops.") != NULL && g_rand_int_range (rand, 0, 3) == 0)
        g_string_append_printf (tagged, "  # adj: {tag: %s}",
                                tags[g_rand_int_range (rand, 0, G_N_ELEMENTS (tags))]);
      g_string_append_c (tagged, '\n');
    }
  return adj_test_parse_graph (tagged->str);
}

static void
random_graphs (void)
{
  for (guint32 seed = 0; seed < 40; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      guint num_fwd_outputs, n_late = 0;
      g_autoptr (AdjGraph) joint = adj_test_random_joint (rand, &num_fwd_outputs);
      g_autoptr (AdjGraph) tagged = add_tags (joint, rand);

      for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
        {
          gboolean is_input = adj_graph_get_node (joint, i)->opcode == ADJ_OPCODE_PLACEHOLDER;

          g_assert_cmpint (adj_graph_depends_on_tangent (joint, i), ==, is_reached (joint, i));
          g_assert_cmpint (adj_graph_get_input_role (joint, i) != ADJ_INPUT_NONE, ==, is_input);
          n_late += adj_graph_depends_on_tangent (joint, i);
        }
      g_assert_cmpint (adj_graph_has_input (joint, ADJ_INPUT_TANGENT), ==, n_late > 0);
      check_phases (joint);
      check_phases (tagged);
    }
}

/* A single graph of a whole step, as PyTorch 2.15 prints it (data/make-step.py): backward begins
 * with the node that autograd made of the loss, and the parameter update follows it. */
static void
check_whole_step (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  g_autofree char *printed = NULL;
  g_autoptr (AdjGraph) again = NULL;
  gboolean backward = FALSE, update = FALSE;

  g_assert_no_error (error);
  printed = adj_graph_print (graph, 0, NULL);
  again = adj_graph_parse (printed, -1, adj_op_find, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i + 1 < adj_graph_get_n_nodes (graph); i++)
    {
      backward = backward || g_str_equal (adj_graph_get_node (graph, i)->name, "expand");
      g_assert_cmpint (adj_graph_is_backward (graph, i), ==, backward);
      g_assert_cmpint (adj_graph_is_backward (again, i), ==, backward);
      update = update || g_str_equal (adj_graph_get_node (graph, i)->name, "mul_2");
      g_assert_cmpint (adj_graph_is_update (graph, i), ==, update);
    }
  g_assert_true (backward && update);
}

static void
whole_step (void)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "ir", "data", "step-2.15.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autoptr (GString) with_metadata = g_string_new (text);

  check_whole_step (text);
  /* In the form of print_readable (additional_meta=["seq_nr", "autograd_backward"]). */
  g_assert_cmpuint (g_string_replace (with_metadata, "Backward of forward node:",
                                      "seq_nr: 7, autograd_backward: True #", 0),
                    >, 1);
  check_whole_step (with_metadata->str);
}

/* @first: first backward node; @last: last node before the update; %NULL: none. */
static void
check_parts (const char *text, const char *first, const char *last)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  gboolean backward = FALSE, update = FALSE;

  g_assert_no_error (error);
  for (guint i = 0; i + 1 < adj_graph_get_n_nodes (graph); i++)
    {
      const char *name = adj_graph_get_node (graph, i)->name;

      backward |= g_str_equal (name, first);
      g_assert_cmpint (adj_graph_is_backward (graph, i), ==, backward);
      g_assert_cmpint (adj_graph_is_update (graph, i), ==, update);
      update |= last != NULL && g_str_equal (name, last);
    }
  g_assert_cmpint (update, ==, last != NULL);
}

/* A step that make_fx traced without annotations: backward is found by autograd's sequence
 * numbers, or by the gradient of ones that a backward operator depends on. */
static void
step_without_marks (void)
{
  static const char text[] =
      "def forward(self, w_1, x_1):\n"
      "        # seq_nr: 0\n"
      "        y: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(x_1, w_1)\n"
      "        # seq_nr: 1\n"
      "        z: \"f32[4][1]cpu\" = torch.ops.aten.tanh.default(y)\n"
      "        # seq_nr: 2\n"
      "        loss: \"f32[][]cpu\" = torch.ops.aten.sum.default(z)\n"
      "        ones_like: \"f32[][]cpu\" = torch.ops.aten.ones_like.default(loss)\n"
      "        g: \"f32[4][0]cpu\" = torch.ops.aten.expand.default(ones_like, [4])\n"
      "        # seq_nr: 1\n"
      "        gy: \"f32[4][1]cpu\" = torch.ops.aten.tanh_backward.default(g, z)\n"
      "        # seq_nr: 0\n"
      "        gw: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(gy, x_1)\n"
      "        # seq_nr: 2\n"
      "        step: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(gw, 0.1)\n"
      "        # seq_nr: 3\n"
      "        next: \"f32[4][1]cpu\" = torch.ops.aten.sub.Tensor(w_1, step)\n"
      "        return (loss, next)\n";
  g_autoptr (GString) plain = g_string_new (text), forward = g_string_new (text);

  check_parts (text, "g", "gw");
  g_string_replace (plain, "seq_nr", "number", 0);
  check_parts (plain->str, "g", NULL);
  g_string_replace (plain, "tanh_backward", "mul", 0); /* no trace of autograd is left */
  check_parts (plain->str, "", NULL);
  g_string_replace (forward, "tanh_backward", "mul", 0);
  check_parts (forward->str, "", NULL);
}

/* Without annotations and numbers the update is found by the optimiser state it reads. */
static void
update_without_marks (void)
{
  static const char text[] =
      "def forward(self, w_1, m_1, x_1):\n"
      "        y: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(x_1, w_1)\n"
      "        z: \"f32[4][1]cpu\" = torch.ops.aten.tanh.default(y)\n"
      "        loss: \"f32[][]cpu\" = torch.ops.aten.sum.default(z)\n"
      "        one: \"f32[][]cpu\" = torch.ops.aten.ones_like.default(loss)\n"
      "        g: \"f32[4][0]cpu\" = torch.ops.aten.expand.default(one, [4])\n"
      "        gy: \"f32[4][1]cpu\" = torch.ops.aten.tanh_backward.default(g, z)\n"
      "        gw: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(gy, x_1)\n"
      "        decay: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(m_1, 0.9)\n"
      "        mean: \"f32[4][1]cpu\" = torch.ops.aten.add.Tensor(decay, gw)\n"
      "        step: \"f32[4][1]cpu\" = torch.ops.aten.sub_.Tensor(w_1, mean)\n"
      "        return (loss, mean)\n";
  g_autoptr (GString) sgd = g_string_new (text), forward = g_string_new (text);

  check_parts (text, "g", "gw");
  g_string_replace (sgd, "mul.Tensor(m_1, 0.9)", "mul.Tensor(gw, 0.9)", 0);
  check_parts (sgd->str, "g", "mean"); /* only in-place writes identify the update */
  g_string_replace (forward, "mul.Tensor(x_1, w_1)", "mul_.Tensor(x_1, m_1)", 0);
  check_parts (forward->str, "g", "mean"); /* a state that the forward reads and writes does not
                                              count */
}

/* What a step makes of its loss behind the gradients is not autograd's; what autograd computes of
 * forward alone is. */
static void
loss_without_marks (void)
{
  static const char text[] =
      "def forward(self, w_1, x_1):\n"
      "        y: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.mm.default(x_1, w_1)\n"
      "        z: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.tanh.default(y)\n"
      "        loss: \"f32[][]cpu\" = torch.ops.aten.sum.default(z)\n"
      "        one: \"f32[][]cpu\" = torch.ops.aten.ones_like.default(loss)\n"
      "        g: \"f32[4, 4][0, 0]cpu\" = torch.ops.aten.expand.default(one, [4, 4])\n"
      "        saved: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.alias.default(z)\n"
      "        gy: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.tanh_backward.default(g, saved)\n"
      "        t: \"f32[4, 4][1, 4]cpu\" = torch.ops.aten.t.default(x_1)\n"
      "        gw: \"f32[4, 4][4, 1]cpu\" = torch.ops.aten.mm.default(t, gy)\n"
      "        detach: \"f32[][]cpu\" = torch.ops.aten.detach.default(loss)\n"
      "        alias: \"f32[][]cpu\" = torch.ops.aten.alias.default(detach)\n"
      "        return (alias, gw)\n";
  g_autoptr (GString) unread = g_string_new (text);

  check_parts (text, "g", "gw");
  g_string_replace (unread, "return (alias, gw)", "return (loss, gw)", 0);
  g_string_replace (unread, "alias.default(detach)", "alias.default(gw)", 0);
  check_parts (unread->str, "g", NULL);
}

/* Nodes that autograd made and the partitioner moved into the forward graph are forward nodes. */
static void
forward_half (void)
{
  static const char text[] = "class GraphModule(torch.nn.Module):\n"
                             "    def forward(self, primals_1: \"f32[4][1]cpu\"):\n"
                             "        rsqrt: \"f32[4][1]cpu\" = "
                             "torch.ops.aten.rsqrt.default(primals_1)\n"
                             "        div: \"f32[4][1]cpu\" = torch.ops.aten.div.Tensor(rsqrt, 32)"
                             "  # adj: {autograd_backward: True}\n"
                             "        return (rsqrt, div)\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      g_assert_false (adj_graph_depends_on_tangent (graph, i));
      g_assert_false (adj_graph_is_backward (graph, i));
      g_assert_false (adj_graph_is_update (graph, i));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/input-role/named-as-pytorch-does", named_as_pytorch_does);
  g_test_add_func ("/ir/input-role/random-graphs", random_graphs);
  g_test_add_func ("/ir/input-role/whole-step", whole_step);
  g_test_add_func ("/ir/input-role/step-without-marks", step_without_marks);
  g_test_add_func ("/ir/input-role/update-without-marks", update_without_marks);
  g_test_add_func ("/ir/input-role/loss-without-marks", loss_without_marks);
  g_test_add_func ("/ir/input-role/forward-half", forward_half);
  return g_test_run ();
}
