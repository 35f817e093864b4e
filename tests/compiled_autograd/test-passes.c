/* SPDX-License-Identifier: MIT */
/* Passes on captured backwards: calls with effects (hooks, backwards of custom functions,
 * accumulation) are not merged, moved or removed, whether their objects exist in this process or
 * not. */

#include "ir/adj-graph.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static const char *const effects[] = {
  "torch._dynamo.external_utils.call_hook",
  "torch._dynamo.external_utils.call_backward",
  "torch._dynamo.external_utils._exec_final_callbacks_stub",
  "torch.ops.inductor.accumulate_grad_.default",
};

/* Lengths that change from capture to capture: the text does not contain them. */
static const char *const unsized[] = { "c20-2", "c26-2", "c28-dynamic" };

static char *
list_effects (AdjGraph *graph)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      for (guint k = 0; k < G_N_ELEMENTS (effects); k++)
        if (g_str_equal (node->target, effects[k]))
          g_string_append_printf (text, "%s of %u inputs\n", node->target, node->n_inputs);
    }
  return g_string_free (text, FALSE);
}

static gboolean
is_unsized (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (unsized); i++)
    if (g_str_has_prefix (name, unsized[i]))
      return TRUE;
  return FALSE;
}

static void
check_passes (const char *path, const char *name)
{
  static const char *const passes[] = { "dce", "cse", "constant-fold", "normalise", "decompose" };
  g_autoptr (AdjBundle) bundle = adj_test_load_bundle (path);
  AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
  g_autofree char *before = list_effects (graph);

  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *after = NULL;
      AdjPassResult result;

      if (i == 4 && is_unsized (name))
        continue;
      adj_pass_run (adj_pass_find (passes[i], NULL), NULL, graph, &result, &error);
      g_test_message ("%s %s", name, passes[i]);
      g_assert_no_error (error);
      after = list_effects (result.graph);
      g_assert_cmpstr (after, ==, before);
      adj_pass_result_clear (&result);
    }
}

static void
passes_keep_effects (void)
{
  g_autofree char *folder =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (!g_str_has_suffix (name, ".txt") || g_str_equal (name, "counts.txt"))
        continue;
      check_passes (path, name);
      n++;
    }
  g_assert_cmpuint (n, >, 60);
}

/* Two equal calls of a hook, and one whose result is not read. */
static void
equal_hooks_stay_two (void)
{
  static const char text[] =
      "class CompiledAutograd(torch.nn.Module):\n"
      "    def forward(self, inputs, sizes, scalars, hooks):\n"
      "        getitem: \"f32[3][1]cpu\" = inputs[0]\n"
      "        getitem_1: \"f32[3][1]cpu\" = inputs[1];  inputs = None\n"
      "        getitem_2 = hooks[0]\n"
      "        call_hook: \"f32[3][1]cpu\" = torch__dynamo_external_utils_call_hook(getitem_2, "
      "getitem, hook_type = 'tensor_pre_hook')\n"
      "        getitem_3 = hooks[0];  hooks = None\n"
      "        call_hook_1: \"f32[3][1]cpu\" = torch__dynamo_external_utils_call_hook(getitem_3, "
      "getitem, hook_type = 'tensor_pre_hook')\n"
      "        accumulate_grad_ = torch.ops.inductor.accumulate_grad_.default(getitem_1, "
      "call_hook)\n"
      "        return []\n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  static const char *const passes[] = { "cse", "dce", "decompose" };
  g_autofree char *before = list_effects (graph);

  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *after = NULL;
      AdjPassResult result;

      adj_pass_run (adj_pass_find (passes[i], NULL), NULL, graph, &result, &error);
      g_assert_no_error (error);
      after = list_effects (result.graph);
      g_assert_cmpstr (after, ==, before);
      adj_pass_result_clear (&result);
    }
}

/* A saved tensor has the length of the gradient it is multiplied with: 3, which the text
 * annotates on the gradient only. */
static void
text_learns_sizes (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", "c01.txt", NULL);
  g_autoptr (AdjBundle) bundle = adj_test_load_bundle (path);
  AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
  const AdjNode *saved = adj_graph_get_node (graph, adj_graph_find_node (graph, "getitem_1").index);
  gint64 hint = 0;

  g_assert_cmpint (saved->val.kind, ==, ADJ_VALUE_META);
  g_assert_true (
      adj_size_get_hint (adj_graph_get_symbols (graph), saved->val.meta->shape.size[0], &hint));
  g_assert_cmpint (hint, ==, 3);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/compiled-autograd/passes/keep-effects", passes_keep_effects);
  g_test_add_func ("/compiled-autograd/passes/equal-hooks", equal_hooks_stay_two);
  g_test_add_func ("/compiled-autograd/passes/sizes", text_learns_sizes);
  return g_test_run ();
}
