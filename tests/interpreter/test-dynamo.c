/* SPDX-License-Identifier: MIT */

/* Tracing programs as Dynamo captures them gives the graph that PyTorch 2.6 traces.  The cases
 * come from data/make-dynamo.py. */

#include <glib.h>
#include <string.h>

#include "adjoint.h"
#include "call/adj-mode.h"
#include "interpreter/adj-interpreter-internal.h"
#include "ops/adj-packet.h"
#include "passes/adj-pass-internal.h"
#include "support/adj-test.h"
#include "support/graphs.h"

typedef struct
{
  char *name;
  char *dynamo;
  char *aten;
} Case;

/* A function of a graph with levels of torch.func, which need a mode that records gradients. */
typedef struct
{
  AdjFunction function;
  AdjFunction *graph; /* (owned) */
} Levels;

static gboolean
call_levels (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  gboolean done;

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  done = adj_function_call (((Levels *) function)->graph, cx, args, n_args, result);
  adj_context_pop_mode (cx);
  return done;
}

static void
clear_levels (AdjFunction *function)
{
  adj_function_unref (((Levels *) function)->graph);
}

static const AdjFunctionClass levels_class = { .call = call_levels, .finalize = clear_levels };

static AdjFunction *
function_of (AdjGraph *graph)
{
  Levels *levels;

  if (!adj_graph_takes_transforms (graph))
    return adj_graph_function_new (graph);
  levels = (Levels *) adj_function_new (&levels_class, sizeof *levels);
  levels->graph = adj_graph_function_new (graph);
  return &levels->function;
}

static AdjGraph *
trace (AdjGraph *graph, GError **error)
{
  g_autoptr (AdjFunction) function = function_of (graph);
  guint n = adj_graph_get_n_inputs (graph);
  g_autofree AdjValue *inputs = g_new0 (AdjValue, MAX (n, 1));
  AdjTraceOptions options = {
    .functionalize = TRUE,
    .symbols = adj_graph_get_symbols (graph),
  };

  for (guint i = 0; i < n; i++)
    inputs[i] = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->val;
  return adj_trace (function, inputs, n, &options, error);
}

static void
print_changes (const AdjAlignment *alignment, const AdjGraph *a, const AdjGraph *b)
{
  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];
      const AdjNode *in_a =
          adj_node_id_is_valid (change->a) ? adj_graph_get_node (a, change->a.index) : NULL;
      const AdjNode *in_b =
          adj_node_id_is_valid (change->b) ? adj_graph_get_node (b, change->b.index) : NULL;

      if (change->kind != ADJ_CHANGE_NONE)
        g_test_message ("PyTorch %s %s | here %s %s: %s", in_a ? in_a->name : "-",
                        in_a ? in_a->target : "", in_b ? in_b->name : "-", in_b ? in_b->target : "",
                        change->reason);
    }
}

/* Ignores constants, which PyTorch's text does not contain. */
static gboolean
is_same (const AdjAlignment *alignment, const AdjGraph *wanted, const AdjGraph *graph)
{
  if (adj_graph_get_n_attrs (graph) == 0)
    return adj_graph_equal_structure (wanted, graph);
  return alignment->n_added + alignment->n_removed + alignment->n_changed == 0;
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) dynamo = adj_test_parse_graph (c->dynamo);
  g_autoptr (AdjGraph) wanted = adj_test_parse_graph (c->aten);
  g_autoptr (AdjGraph) traced = NULL;
  g_autoptr (AdjAlignment) alignment = NULL;
  AdjPassResult live;

  traced = trace (dynamo, &error);
  g_assert_no_error (error);
  g_assert_true (adj_pass_run (&adj_pass_dce, NULL, traced, &live, &error));
  g_assert_no_error (error);
  alignment = adj_graph_align (wanted, live.graph);
  if (!is_same (alignment, wanted, live.graph))
    {
      g_autofree char *text = adj_graph_print (live.graph, 0, NULL);

      print_changes (alignment, wanted, live.graph);
      g_test_message ("%s", text);
      g_test_fail ();
    }
  adj_pass_result_clear (&live);
}

static void
case_free (gpointer data)
{
  Case *c = data;

  g_free (c->name);
  g_free (c->dynamo);
  g_free (c->aten);
  g_free (c);
}

static void
add_case (const char *section)
{
  const char *end = strchr (section, '\n');
  const char *dynamo = strstr (section, "--- dynamo\n"), *aten = strstr (section, "--- aten\n");
  Case *c = g_new0 (Case, 1);
  g_autofree char *path = NULL;

  g_assert_true (end != NULL && dynamo != NULL && aten != NULL);
  c->name = g_strndup (section, (gsize) (end - section));
  dynamo += strlen ("--- dynamo\n");
  c->dynamo = g_strndup (dynamo, (gsize) (aten - dynamo));
  c->aten = g_strdup (aten + strlen ("--- aten\n"));
  path = g_strdup_printf ("/dynamo/%s", c->name);
  g_test_add_data_func_full (path, c, test_case, case_free);
}

/* -- names -- */

static void
knows_names (void)
{
  static const char *const functions[] = {
    "torch.relu",          "torch._C._nn.linear", "torch.nn.functional.cross_entropy",
    "operator.add",        "operator.iadd",       "torch.linalg.vector_norm",
    "torch.special.expit", "torch.Tensor.add",    "torch.functional.einsum",
  };
  static const char *const methods[] = { "add_", "float", "to", "__abs__", "view", "masked_fill" };

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    if (adj_packet_find_function (functions[i]) == NULL)
      g_error ("%s is not known", functions[i]);
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    if (adj_packet_find_method (methods[i]) == NULL)
      g_error ("the method %s is not known", methods[i]);
  g_assert_null (adj_packet_find_function ("torch.nn.functional.add"));
  g_assert_null (adj_packet_find_method ("linear_layer"));
}

static void
suggests_names (void)
{
  static const struct
  {
    const char *wrong, *right;
  } functions[] = {
    { "torch.nn.functional.gelo", NULL },
    { "torch.nn.functional.cross_entrpy", "torch.nn.functional.cross_entropy" },
    { "torch.sigmoidd", "torch.sigmoid" },
    { "torch.linalg.vectornorm", "torch.linalg.vector_norm" },
    { "completely.different.from.everything", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      g_autofree char *near = adj_packet_suggest (functions[i].wrong, FALSE);

      if (functions[i].right != NULL)
        g_assert_cmpstr (near, ==, functions[i].right);
    }
  {
    g_autofree char *near = adj_packet_suggest ("transpse", TRUE);

    g_assert_cmpstr (near, ==, "transpose");
  }
}

static void
expect_error (const char *body, const char *mentions)
{
  g_autofree char *text = g_strdup_printf (
      "class G(torch.nn.Module):\n    def forward(self, x: \"f32[2, 3]\"):\n%s", body);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) traced = trace (graph, &error);

  g_assert_null (traced);
  g_assert_nonnull (error);
  if (strstr (error->message, mentions) == NULL)
    g_error ("'%s' does not mention '%s'", error->message, mentions);
}

static void
errors_name_what_is_wrong (void)
{
  expect_error ("        y_1 = torch.sigmoidd(x)\n        return (y_1,)\n",
                "the nearest is 'torch.sigmoid' (node 'y_1')");
  expect_error ("        y_1 = x.transpse(0, 1)\n        return (y_1,)\n",
                "the nearest is 'transpose'");
  expect_error ("        y_1 = torch.nn.functional.relu(x, nplace = True)\n        return (y_1,)\n",
                "there is no argument 'nplace'");
  expect_error ("        y_1 = torch.matmul(x, x)\n        return (y_1,)\n",
                "aten::matmul: aten::mm");
  expect_error ("        y_1 = x[(0, 0, 0)]\n        return (y_1,)\n",
                "3 indices for a tensor of 2 dimensions");
  expect_error ("        y_1 = torch.sum(x, 'rows')\n        return (y_1,)\n", "fit none of");
}

/* A literal becomes a constant of the trace, copied immediately as PyTorch does. */
static void
literals_are_constants (void)
{
  g_autoptr (AdjGraph) graph =
      adj_test_parse_graph ("class G(torch.nn.Module):\n    def forward(self, x: \"f32[2, 2]\"):\n"
                            "        t_1 = torch.tensor([[1.0, 2], [3, True]])\n"
                            "        add_1 = x + t_1\n        return (add_1,)\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) traced = trace (graph, &error);
  g_autofree char *text = NULL;
  const char *name;

  g_assert_no_error (error);
  text = adj_graph_print (traced, ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS, NULL);
  g_assert_nonnull (strstr (text, "lift_fresh_copy.default(_tensor_constant0)"));
  g_assert_cmpuint (adj_graph_get_n_attrs (traced), ==, 1);
  {
    const AdjValue *constant = adj_graph_get_attr (traced, 0, &name);
    g_autofree char *printed = adj_tensor_data_print (constant->data, 10);

    g_assert_cmpstr (printed, ==, "tensor([[1., 2.],\n        [3., 1.]])");
  }
}

/* interpreter/SPEC.md §5.1: the number of a literal is known, and reading it adds no node. */
static void
literals_give_numbers (void)
{
  g_autoptr (AdjGraph) graph =
      adj_test_parse_graph ("class G(torch.nn.Module):\n    def forward(self, x: \"f32[2, 2]\"):\n"
                            "        t_1 = torch.tensor(3)\n        n_1 = t_1.item()\n"
                            "        mul_1 = x * n_1\n        return (mul_1,)\n");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) traced = trace (graph, &error);
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  text = adj_graph_print (traced, ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS, NULL);
  g_assert_nonnull (strstr (text, "torch.ops.aten.mul.Tensor(arg0_1, 3)"));
  g_assert_null (strstr (text, "item"));
  expect_error ("        n_1 = x.item()\n        return (n_1,)\n",
                "aten::item depends on data, which a fake tensor does not have (node 'n_1')");
}

int
main (int argc, char **argv)
{
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) sections = NULL;

  g_test_init (&argc, &argv, NULL);

  path = g_test_build_filename (G_TEST_DIST, "interpreter", "data", "dynamo.txt.gz", NULL);
  text = adj_test_read_packed (path);
  sections = g_strsplit (text, "=== ", -1);
  for (guint i = 1; sections[i] != NULL; i++)
    add_case (sections[i]);
  g_test_add_func ("/dynamo/literals", literals_are_constants);
  g_test_add_func ("/dynamo/literals-give-numbers", literals_give_numbers);
  g_test_add_func ("/dynamo/names/known", knows_names);
  g_test_add_func ("/dynamo/names/suggested", suggests_names);
  g_test_add_func ("/dynamo/names/errors", errors_name_what_is_wrong);

  return g_test_run ();
}
