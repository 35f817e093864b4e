/* SPDX-License-Identifier: MIT */
/* The pass decompose, against PyTorch's decompositions. */

#include <string.h>

#include "adjoint.h"
#include "call/adj-op.h"
#include "passes/adj-pass-internal.h"
#include "support/adj-test.h"
#include "support/graphs.h"

#define HEAD                                                                                       \
  "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4, 3][3, 1]cpu\"):\n"

static AdjGraph *
parse (const char *body)
{
  g_autofree char *text = g_strconcat (HEAD, body, NULL);

  return adj_test_parse_graph (text);
}

static void
check (const char *body, const char *table, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = parse (body);
  g_autoptr (GString) calls = g_string_new (NULL);
  AdjPassResult result;

  adj_pass_run (&adj_pass_decompose, table, graph, &result, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < adj_graph_get_n_nodes (result.graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (result.graph, i);

      if (node->op != NULL)
        g_string_append_printf (calls, "%s ", adj_op_get_schema (node->op)->name);
    }
  g_assert_cmpstr (calls->str, ==, expected);
  adj_pass_result_clear (&result);
}

/* Operator sequences that PyTorch 2.6 traces with the same tables. */
static void
test_inductor (void)
{
  check ("        softmax = torch.ops.aten._softmax.default(x, -1, False)\n"
         "        return (softmax,)\n",
         "inductor", "amax sub exp sum div ");
  check ("        gelu = torch.ops.aten.gelu.default(x)\n        return (gelu,)\n", "inductor",
         "mul mul erf add mul ");
}

static void
test_core (void)
{
  check ("        softmax = torch.ops.aten._softmax.default(x, -1, False)\n"
         "        detach = torch.ops.aten.detach.default(softmax)\n"
         "        return (detach,)\n",
         "core", "_softmax alias alias ");
}

/* -- PyTorch's own: data/decompositions.txt -- */

static AdjGraph *
run_passes (AdjGraph *graph, const char *table, const AdjPass *const *passes, guint n)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < n; i++)
    {
      AdjPassResult result;

      adj_pass_run (passes[i], passes[i]->argument != NULL ? table : NULL, graph, &result, &error);
      g_assert_no_error (error);
      adj_graph_unref (graph);
      graph = adj_graph_ref (result.graph);
      adj_pass_result_clear (&result);
    }
  return graph;
}

/* Whether the single operator in @graph is in the table. */
static gboolean
is_listed (const AdjGraph *graph, const char *table)
{
  AdjTables bit = adj_decompositions_find (table, NULL)->bit;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_graph_get_node (graph, i)->op != NULL)
      return (adj_graph_get_node (graph, i)->op->tables & bit) != 0;
  return FALSE;
}

typedef enum
{
  SAME,
  DIFFERS,
  LEFT_WHOLE, /* the operator is not in our table */
} Outcome;

/* Compares an entry: "== aten.gelu.default inductor", the graph before, "--", the graph after. */
static Outcome
compare (const char *entry, char **what)
{
  static const AdjPass *const ours[] = { &adj_pass_decompose, &adj_pass_normalise, &adj_pass_dce };
  static const AdjPass *const theirs[] = { &adj_pass_normalise, &adj_pass_dce };
  const char *title_end = strchr (entry, '\n');
  const char *divider = strstr (entry, "\n--\n");
  g_autofree char *title = g_strndup (entry, (gsize) (title_end - entry));
  g_autofree char *before = g_strndup (title_end + 1, (gsize) (divider - title_end));
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjGraph) expected = NULL;
  g_autoptr (AdjAlignment) alignment = NULL;
  const char *table = strrchr (title, ' ') + 1;

  graph = adj_test_parse_graph (before);
  if (!is_listed (graph, table))
    return LEFT_WHOLE;
  graph = run_passes (graph, table, ours, G_N_ELEMENTS (ours));
  expected = run_passes (adj_test_parse_graph (divider + 4), NULL, theirs, G_N_ELEMENTS (theirs));
  alignment = adj_graph_align (graph, expected);
  *what = g_steal_pointer (&title);
  return alignment->n_added + alignment->n_removed + alignment->n_changed == 0 ? SAME : DIFFERS;
}

/* PyTorch 2.6's decomposition of each operator, with both tables. */
static void
test_as_pytorch (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "passes", "data", "decompositions.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) entries = g_strsplit (text, "== ", -1);
  guint counts[] = { [SAME] = 0, [DIFFERS] = 0, [LEFT_WHOLE] = 0 };

  for (guint i = 1; entries[i] != NULL; i++)
    {
      g_autofree char *what = NULL;
      Outcome outcome = compare (entries[i], &what);

      counts[outcome]++;
      if (outcome == DIFFERS)
        g_test_message ("differs: %s", what);
    }
  g_test_message ("%u decompositions are PyTorch's, %u operators are left whole", counts[SAME],
                  counts[LEFT_WHOLE]);
  g_assert_cmpuint (counts[DIFFERS], ==, 0);
  g_assert_cmpuint (counts[SAME], >, 100);
}

/* The same model traced by PyTorch with and without its table: the pass turns one into the
 * other. */
static void
test_gpt2 (void)
{
  static const AdjPass *const ours[] = { &adj_pass_decompose, &adj_pass_normalise, &adj_pass_dce };
  static const AdjPass *const theirs[] = { &adj_pass_normalise, &adj_pass_dce };
  g_autoptr (AdjGraph) made =
      run_passes (adj_test_load_graph ("gpt2", "joint"), "inductor", ours, G_N_ELEMENTS (ours));
  g_autoptr (AdjGraph) recorded = run_passes (adj_test_load_graph ("gpt2-inductor", "joint"), NULL,
                                              theirs, G_N_ELEMENTS (theirs));
  g_autoptr (AdjAlignment) alignment = adj_graph_align (made, recorded);

  g_test_message ("%u nodes the same, %u added, %u removed, %u changed", alignment->n_same,
                  alignment->n_added, alignment->n_removed, alignment->n_changed);
  g_assert_cmpuint (alignment->n_same, >, 500);
  g_assert_cmpuint (alignment->n_added + alignment->n_removed + alignment->n_changed, ==, 0);
}

/* New nodes record their origin, by node number and as text. */
static void
test_origins (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      parse ("        relu = torch.ops.aten.relu.default(x)\n"
             "        gelu = torch.ops.aten.gelu.default(relu)\n        return (gelu,)\n");
  AdjPassResult result;

  adj_pass_run (&adj_pass_decompose, "inductor", graph, &result, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (result.n_notes, ==, 5);
  for (guint i = 0; i < 5; i++)
    g_assert_cmpuint (result.notes[i].before.index, ==, 2);
  g_assert_cmpuint (adj_graph_get_node (result.graph, 1)->origin.index, ==, 1);
  g_assert_cmpuint (adj_graph_get_node (result.graph, 6)->origin.index, ==, 2);
  g_assert_cmpstr (adj_graph_get_node (result.graph, 6)->meta.original_aten, ==,
                   "torch.ops.aten.gelu.default");
  adj_pass_result_clear (&result);
}

static void
test_unknown_table (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = parse ("        return (x,)\n");
  AdjPassResult result;

  g_assert_false (adj_pass_run (&adj_pass_decompose, "all", graph, &result, &error));
  g_assert_cmpstr (error->message, ==,
                   "pass 'decompose': no table of decompositions 'all'; there are core, inductor");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/decompose/inductor", test_inductor);
  g_test_add_func ("/passes/decompose/core", test_core);
  g_test_add_func ("/passes/decompose/as-pytorch", test_as_pytorch);
  g_test_add_func ("/passes/decompose/gpt2", test_gpt2);
  g_test_add_func ("/passes/decompose/origins", test_origins);
  g_test_add_func ("/passes/decompose/unknown-table", test_unknown_table);
  return g_test_run ();
}
