/* SPDX-License-Identifier: MIT */

/* Hooks that current PyTorch leaves in frontend graphs (hooks/capture.py): their bodies are
 * inlined in the joint graph as PyTorch does, name the hook they come from, and give the same
 * gradients. */

#include <string.h>

#include "aot/adj-aot.h"
#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "interpreter/adj-interpreter.h"
#include "interpreter/adj-numeric.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"

static const char *const names[] = {
  "scaled",      "used_twice",       "reads_itself", "two",        "keeps",  "of_view",
  "looped",      "helped",           "of_chunk",     "of_written", "writes", "reads_many",
  "used_before", "looks_and_scales", "of_hooked",
};

static AdjGraph *
read_graph (const char *name, const char *kind)
{
  g_autofree char *file = g_strdup_printf ("%s-%s.txt", name, kind);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "aot", "hooks", file, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  return graph;
}

static AdjAotGraph *
trace (AdjGraph *dynamo)
{
  const AdjAotOptions options = { .keep_input_mutations = TRUE, .detaches = ADJ_DETACHES_2_15 };
  g_autoptr (GError) error = NULL;
  AdjAotGraph *aot = adj_aot_trace_graph (dynamo, &options, NULL, &error);

  g_assert_no_error (error);
  g_assert_true (adj_aot_graph_is_joint (aot));
  return aot;
}

/* Prints @graph without the line that names the class. */
static char *
print_body (const AdjGraph *graph)
{
  g_autofree char *text =
      adj_graph_print (graph, ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS, NULL);

  return g_strdup (strchr (text, '\n'));
}

static void
the_joint_graph_is_the_same (gconstpointer name)
{
  g_autoptr (AdjGraph) dynamo = read_graph (name, "dynamo");
  g_autoptr (AdjGraph) theirs = read_graph (name, "joint");
  g_autoptr (AdjAotGraph) aot = trace (dynamo);
  g_autofree char *a = print_body (adj_aot_graph_get_graph (aot));
  g_autofree char *b = print_body (theirs);

  g_assert_cmpstr (a, ==, b);
}

/* -- gradients -- */

static AdjTensorData *
new_data (const AdjNode *placeholder, const float *values)
{
  const AdjShape *shape = &placeholder->val.meta->shape;
  gint64 sizes[2] = { 0 };

  g_assert_cmpuint (shape->rank, <=, 2);
  for (guint i = 0; i < shape->rank; i++)
    sizes[i] = shape->size[i].word;
  return adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes, shape->rank, values, NULL);
}

/* Makes 0.3, 0.1, -0.1 … in the sizes of the placeholder. */
static AdjTensorData *
make_data (const AdjNode *placeholder)
{
  float values[16];

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = 0.3f - 0.2f * (float) (i % 5);
  return new_data (placeholder, values);
}

/* (transfer full): gradients by input; %NULL: none. */
static AdjTensorData **
run_eagerly (AdjGraph *dynamo, guint n)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autofree AdjValue *inputs = g_new0 (AdjValue, n + 1);
  AdjTensorData **grads = g_new0 (AdjTensorData *, n + 1);
  g_auto (AdjValue) result = ADJ_NONE;
  AdjGradRoots roots;

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (dynamo, adj_graph_get_input (dynamo, i).index);
      g_autoptr (AdjTensorData) data = make_data (node);

      inputs[i] = ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (data)));
      if (node->val.meta->requires_grad)
        g_assert_true (adj_tensor_set_requires_grad (cx, inputs[i].tensor, TRUE));
    }
  g_assert_true (adj_interpret (cx, dynamo, inputs, n, NULL, &result));
  roots = (AdjGradRoots){ &result.items[0].tensor, NULL, 1 };
  g_assert_true (adj_backward (cx, &roots, NULL, 0, 0));
  for (guint i = 0; i < n; i++)
    if (adj_tensor_get_grad (inputs[i].tensor) != NULL)
      grads[i] = adj_tensor_snapshot (adj_tensor_get_grad (inputs[i].tensor));
  return grads;
}

static void
assert_joint_gives (AdjGraph *joint, AdjTensorData **grads, guint n)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autofree AdjValue *inputs = g_new0 (AdjValue, n + 1);
  g_auto (AdjValue) result = ADJ_NONE;

  for (guint i = 0; i <= n; i++)
    {
      const AdjNode *node = adj_graph_get_node (joint, adj_graph_get_input (joint, i).index);
      g_autoptr (AdjTensorData) data =
          i < n ? make_data (node) : new_data (node, (const float[]){ 1 });

      inputs[i] = ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (data)));
    }
  g_assert_true (adj_interpret (cx, joint, inputs, n + 1, NULL, &result));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (AdjTensorData) grad = NULL;
      AdjTensorDifference difference;

      g_assert_true ((grads[i] != NULL) == (result.items[i + 1].kind == ADJ_VALUE_TENSOR));
      if (grads[i] == NULL)
        continue;
      grad = adj_tensor_snapshot (result.items[i + 1].tensor);
      adj_tensor_compare (grad, grads[i], &difference);
      g_assert_true (difference.same_shape && difference.max_abs == 0);
    }
}

static void
eager_gradients_are_those_of_the_joint_graph (gconstpointer name)
{
  g_autoptr (AdjGraph) dynamo = read_graph (name, "dynamo");
  g_autoptr (AdjAotGraph) aot = trace (dynamo);
  guint n = adj_graph_get_n_inputs (dynamo);
  AdjTensorData **grads = run_eagerly (dynamo, n);

  assert_joint_gives (adj_aot_graph_get_graph (aot), grads, n);
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&grads[i], adj_tensor_data_unref);
  g_free (grads);
}

/* -- whose the nodes are -- */

static void
nodes_say_whose_they_are (void)
{
  g_autoptr (AdjGraph) dynamo = read_graph ("two", "dynamo");
  g_autoptr (AdjAotGraph) aot = trace (dynamo);
  AdjGraph *joint = adj_aot_graph_get_graph (aot);
  g_autoptr (GString) found = g_string_new (NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
    {
      const AdjNode *node = adj_graph_get_node (joint, i);
      const AdjFrame *frame = node->meta.frames;

      if (node->meta.hook != NULL)
        g_string_append_printf (found, "%s %s %s:%u; ", node->name, node->meta.hook,
                                adj_graph_get_node (dynamo, node->origin.index)->name,
                                frame[node->meta.n_frames - 1].line);
    }
  g_assert_cmpstr (found->str, ==,
                   "sin hook_body_2 register_hook_2:52; mul hook_body_0 register_hook:49; "
                   "add hook_body_1 register_hook_1:50; ");
}

static void
text_keeps_whose_they_are (void)
{
  g_autoptr (AdjGraph) dynamo = read_graph ("scaled", "dynamo");
  g_autoptr (AdjAotGraph) aot = trace (dynamo);
  g_autofree char *text = adj_graph_print (adj_aot_graph_get_graph (aot), 0, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) again = adj_graph_parse (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (adj_graph_get_node (again, adj_graph_find_node (again, "mul").index)->meta.hook,
                   ==, "hook_body_0");
}

/* -- without a backward, and with a body that is none -- */

static void
a_forward_alone_passes_over_it (void)
{
  g_autoptr (AdjGraph) dynamo = read_graph ("reads_itself", "dynamo");
  g_autoptr (AdjContext) plain = adj_context_new ();
  g_autoptr (AdjContext) recording = adj_context_new_with_autograd ();
  AdjContext *const contexts[] = { plain, recording };

  for (guint c = 0; c < G_N_ELEMENTS (contexts); c++)
    {
      AdjContext *cx = contexts[c];
      AdjValue inputs[2];
      g_auto (AdjValue) result = ADJ_NONE;

      for (guint i = 0; i < 2; i++)
        {
          g_autoptr (AdjTensorData) data =
              make_data (adj_graph_get_node (dynamo, adj_graph_get_input (dynamo, i).index));

          inputs[i] = ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (data)));
          g_assert_true (cx == plain || adj_tensor_set_requires_grad (cx, inputs[i].tensor, TRUE));
        }
      g_assert_true (adj_interpret (cx, dynamo, inputs, 2, NULL, &result));
      g_assert_true (result.items[0].kind == ADJ_VALUE_TENSOR);
    }
}

static void
a_body_without_a_gradient_is_named (void)
{
  static const char text[] =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[2][1]cpu\"):\n"
      "        # adj: x {requires_grad: True}\n"
      "        hook_body_0 = self.hook_body_0\n"
      "        y: \"f32[2][1]cpu\" = x * 2\n"
      "        h: \"f32[2][1]cpu\" = torch.ops.higher_order.register_hook(y, hook_body_0)\n"
      "        s: \"f32[][]cpu\" = h.sum()\n"
      "        return (s,)\n"
      "\n"
      "    class hook_body_0(torch.nn.Module):\n"
      "        def forward(self, grad: \"f32[2][1]cpu\"):\n"
      "            return 3\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) dynamo = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  g_autoptr (AdjAotGraph) aot = NULL;

  g_assert_no_error (error);
  aot = adj_aot_trace_graph (dynamo, NULL, NULL, &error);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_cmpstr (error->message, ==,
                   "the hook hook_body_0 gives int, not a tensor or None (node 'y')");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *joint = g_strdup_printf ("/aot/hooks/%s/joint-graph", names[i]);
      g_autofree char *eager = g_strdup_printf ("/aot/hooks/%s/gradients", names[i]);

      g_test_add_data_func (joint, names[i], the_joint_graph_is_the_same);
      g_test_add_data_func (eager, names[i], eager_gradients_are_those_of_the_joint_graph);
    }
  g_test_add_func ("/aot/hooks/nodes-say-whose-they-are", nodes_say_whose_they_are);
  g_test_add_func ("/aot/hooks/text-keeps-whose-they-are", text_keeps_whose_they_are);
  g_test_add_func ("/aot/hooks/a-forward-alone-passes-over-it", a_forward_alone_passes_over_it);
  g_test_add_func ("/aot/hooks/a-body-without-a-gradient-is-named",
                   a_body_without_a_gradient_is_named);
  return g_test_run ();
}
