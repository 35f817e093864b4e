/* SPDX-License-Identifier: MIT */
/* The goldens of aot/SPEC.md §11, by their names there. */

#include <string.h>

#include "aot/case.h"
#include "aot/compile.h"
#include "autograd/adj-custom.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static void
compare_graph (const Case *c, const AdjGraph *graph)
{
  const char *text = c->joint != NULL ? c->joint : c->inference;
  g_autofree char *got = notation_print_graph (graph);
  g_autofree char *expected = notation_print (c->forward != NULL ? c->forward : text);
  char *end;

  if (c->forward == NULL)
    {
      g_assert_cmpstr (got, ==, expected);
      return;
    }
  end = strstr (expected, "return ");
  g_assert_true (strncmp (got, expected, (gsize) (end - expected)) == 0);
  end[strlen (end) - 1] = '\0';
  if (strstr (got, end) == NULL)
    g_assert_cmpstr (got, ==, expected);
}

/* Returns @graph with the values that @partition saves as its outputs. */
static AdjGraph *
return_saved (const AdjGraph *graph, const AdjPartition *partition)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new (adj_graph_get_name (graph), NULL, adj_op_find);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, adj_graph_get_n_nodes (graph));
  g_autofree AdjValue *saved = g_new0 (AdjValue, partition->n_saved + 1);
  g_autoptr (GError) error = NULL;
  AdjGraph *copy;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_graph_get_node (graph, i)->opcode != ADJ_OPCODE_OUTPUT)
      adj_builder_copy (builder, graph, i, map);
  for (guint i = 0; i < partition->n_saved; i++)
    saved[i] = (AdjValue){ .kind = ADJ_VALUE_NODE, .node = map[partition->saved[i].node.index] };
  adj_builder_output (
      builder, &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = partition->n_saved, .items = saved });
  copy = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  return copy;
}

static void
compare_saved (const Case *c, AdjAotGraph *aot)
{
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (AdjFunction) compiled = compile_and_keep (aot, "default", &partition);
  g_autoptr (AdjGraph) saving = return_saved (adj_aot_graph_get_graph (aot), partition);
  const char *end = strstr (c->joint, "return ");
  g_autofree char *text = g_strdup_printf ("%.*sreturn %s", (int) (end - c->joint), c->joint,
                                           g_str_equal (c->saved, "-") ? "" : c->saved);
  g_autofree char *got = notation_print_graph (saving);
  g_autofree char *expected = notation_print (text);

  g_assert_nonnull (compiled);
  g_assert_cmpstr (got, ==, expected);
}

static void
check_graph (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (AdjContext) cx = case_context_new ();
  g_auto (AdjValue) inputs = case_make_inputs (c, cx, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = case_trace (c, &inputs, &error);

  g_assert_no_error (error);
  g_assert_cmpint (adj_aot_graph_is_joint (aot), ==, c->inference == NULL);
  compare_graph (c, adj_aot_graph_get_graph (aot));
  if (c->saved != NULL)
    compare_saved (c, aot);
}

/* Prints what adj_aot_metadata_print() prints, without rules and tangents. */
static char *
print_metadata (const AdjAotMetadata *metadata)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GString) out = g_string_new (NULL);
  g_auto (GStrv) lines = NULL;

  adj_aot_metadata_print (metadata, NULL, text);
  lines = g_strsplit (text->str, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    {
      char *rule = strstr (lines[i], " by rule");

      if (lines[i][0] == '\0' || g_str_has_prefix (lines[i], "tangent"))
        continue;
      if (rule != NULL)
        *rule = '\0';
      g_string_append_printf (out, "%s\n", lines[i]);
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static void
check_metadata (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (AdjContext) cx = case_context_new ();
  g_auto (AdjValue) inputs = case_make_inputs (c, cx, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = case_trace (c, &inputs, &error);
  g_autoptr (GString) expected = g_string_new (NULL);
  g_autofree char *got = NULL;

  g_assert_no_error (error);
  for (guint i = 0; i < c->metadata->len; i++)
    g_string_append_printf (expected, "%s\n", (char *) c->metadata->pdata[i]);
  got = print_metadata (adj_aot_graph_get_user_metadata (aot));
  g_assert_cmpstr (got, ==, expected->str);
  g_assert_cmpint (adj_aot_graph_get_user_metadata (aot)->n_tangents, ==, c->n_tangents);
}

/* -- what the notation cannot say -- */

static void
check_lines (const AdjAotGraph *aot, const char *expected, guint n_tangents)
{
  g_autofree char *got = print_metadata (adj_aot_graph_get_user_metadata (aot));

  g_assert_cmpstr (got, ==, expected);
  g_assert_cmpuint (adj_aot_graph_get_user_metadata (aot)->n_tangents, ==, n_tangents);
}

static AdjAotGraph *
trace_text (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  AdjAotGraph *aot;

  aot = adj_aot_trace_graph (graph, NULL, NULL, &error);
  g_assert_no_error (error);
  return aot;
}

#define SIZED(result)                                                                              \
  "class G(torch.nn.Module):\n    def forward(self, a: \"f32[s0][1]cpu\"):\n"                      \
  "        # adj: symbol s0 {hint: 8}\n        # adj: a {requires_grad: True}\n"                   \
  "        x: \"f32[s0][1]cpu\" = " result                                                         \
  "\n        size: \"Sym(s0)\" = torch.ops.aten.sym_size.int(a, 0)\n        return (x, size)\n"

/* An integer output has no tangent. */
static void
size_is_an_output (void)
{
  g_autoptr (AdjAotGraph) aot = trace_text (SIZED ("torch.ops.aten.mul.Tensor(a, 2)"));
  const AdjAotMetadata *metadata = adj_aot_graph_get_user_metadata (aot);

  g_assert_true (adj_aot_graph_is_joint (aot));
  g_assert_cmpuint (metadata->n_outputs, ==, 2);
  g_assert_cmpint (metadata->outputs[0].type, ==, ADJ_OUTPUT_NON_ALIAS);
  g_assert_true (metadata->outputs[0].requires_grad);
  g_assert_cmpuint (metadata->outputs[0].dynamic_dims, ==, 1);
  g_assert_cmpint (metadata->outputs[1].type, ==, ADJ_OUTPUT_NON_ALIAS);
  g_assert_cmpstr (metadata->outputs[1].rule, ==, "1");
  g_assert_cmpint (metadata->outputs[1].kind, !=, ADJ_VALUE_TENSOR);
  g_assert_cmpuint (metadata->n_tangents, ==, 1);
}

/* The backward takes the tangent of the tensor only and returns it as the gradient. */
static void
size_has_no_tangent (void)
{
  g_autoptr (AdjAotGraph) aot = trace_text (SIZED ("torch.ops.aten.add.Tensor(a, 1)"));
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (AdjFunction) compiled = compile_and_keep (aot, "default", &partition);
  const AdjGraph *backward = partition->backward;
  const AdjValue *grads =
      &adj_graph_get_node (backward, adj_graph_get_output (backward).index)->args.items[0];

  g_assert_nonnull (compiled);
  g_assert_cmpuint (adj_graph_get_n_inputs (backward), ==, 1);
  g_assert_cmpuint (adj_graph_get_n_calls (backward), ==, 0);
  g_assert_cmpuint (grads->n, ==, 1);
  g_assert_cmpint (grads->items[0].kind, ==, ADJ_VALUE_NODE);
}

static gboolean
same_forward (
    AdjCustomCall *call, AdjTensor *const *inputs, guint n, AdjTensor **outputs, guint n_out)
{
  outputs[0] = inputs[0];
  return TRUE;
}

static gboolean
same_backward (AdjCustomCall *call, AdjTensor *const *grads, guint n, AdjTensor **out, guint n_out)
{
  out[0] = grads[0];
  return TRUE;
}

static gboolean
same_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  static const AdjCustomClass same = { "Same", same_forward, same_backward, FALSE };
  AdjTensor *input = args[0].tensor, *out = NULL;

  if (!adj_custom_apply (cx, &same, NULL, NULL, &input, 1, &out, 1))
    return FALSE;
  *result = ADJ_TENSOR (adj_keep (out));
  return TRUE;
}

static void
custom_function_gives_its_input (void)
{
  static const AdjFunctionClass klass = { .name = "same", .call = same_call };
  g_autoptr (AdjContext) cx = case_context_new ();
  g_autoptr (AdjFunction) function = adj_function_new (&klass, sizeof (AdjFunction));
  const Case c = { .inputs = (char *) "a [3] rg" };
  g_auto (AdjValue) inputs = case_make_inputs (&c, cx, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot = adj_aot_trace (function, inputs.items, 1, NULL, NULL, &error);

  g_assert_no_error (error);
  check_lines (aot, "in 0: rg\nout 0: custom_function_view rg\n", 1);
}

static void
add_cases (const GPtrArray *cases, const char *folder, GTestDataFunc check)
{
  for (guint i = 0; i < cases->len; i++)
    {
      const Case *c = cases->pdata[i];
      g_autofree char *path = g_strdup_printf ("/aot/%s/%s", folder, c->name);

      g_test_add_data_func (path, c, check);
    }
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) goldens = NULL;
  g_autoptr (GPtrArray) metadata = NULL;

  g_test_init (&argc, &argv, NULL);
  goldens = cases_load ("goldens.txt");
  metadata = cases_load ("metadata.txt");
  add_cases (goldens, "goldens", check_graph);
  add_cases (metadata, "metadata", check_metadata);
  g_test_add_func ("/aot/goldens/G85", size_has_no_tangent);
  g_test_add_func ("/aot/metadata/M22", size_is_an_output);
  g_test_add_func ("/aot/metadata/M23", custom_function_gives_its_input);
  return g_test_run ();
}
