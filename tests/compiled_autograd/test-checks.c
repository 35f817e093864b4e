/* SPDX-License-Identifier: MIT */
/* Findings on captured backwards: in goldens of PyTorch 2.6, and in goldens as replayed,
 * reordered by each pass.  All others have no finding. */

#include <string.h>

#include "builtin-programs.h"
#include "ir/adj-graph.h"
#include "support/adj-test.h"
#include "support/graphs.h"

typedef struct
{
  const char *file;
  const char *order; /* (nullable): pass that is applied first */
  const char *check; /* (nullable): %NULL: no finding */
  const char *message;
} Row;

static const Row rows[] = {
  { "c21.txt", NULL, "lost-write",
    "'accumulate_grad_' reads 'copy_', but every write through a view of it was dropped" },
  { "c21-set.txt", NULL, "lost-write",
    "'accumulate_grad_' reads 'copy_', but every write through a view of it was dropped" },
  { "c21-captured.txt", NULL, NULL, NULL },
  { "c21-captured.txt", "eager", NULL, NULL },
  { "c21-captured.txt", "2.6", "lost-write",
    "'accumulate_grad_' reads 'copy_', but the write 'copy__1' was dropped" },
  { "c21-captured.txt", "2024", "early-accumulation",
    "'accumulate_grad_' adds a gradient that 'copy__1' still writes" },
  { "c18b.txt", NULL, "shared-gradient",
    "'mul' becomes the gradient of two leaves, by 'accumulate_grad__1' and 'accumulate_grad_'" },
  { "c18.txt", NULL, NULL, NULL },
  { "c22.txt", NULL, NULL, NULL },
};

/* (transfer full) */
static AdjGraph *
reorder (AdjGraph *graph, const char *order)
{
  g_autoptr (GError) error = NULL;
  AdjPassResult result;
  AdjGraph *made;

  adj_pass_run (adj_pass_find ("compiled-autograd", NULL), order, graph, &result, &error);
  g_assert_no_error (error);
  made = adj_graph_ref (result.graph);
  adj_pass_result_clear (&result);
  return made;
}

/* (transfer full): a file with the graph @graph and the graph @replayed it was made from. */
static AdjBundle *
bundle_of (AdjGraph *replayed, AdjGraph *graph)
{
  static const char *const ids[] = { "ca0-compiled_autograd", "ca0-replayed" };
  g_autoptr (AdjBundleBuilder) builder = adj_bundle_builder_new ();
  const AdjBundleGraph captured = { .id = ids[0], .role = "compiled_autograd", .graph = graph };
  const AdjBundleGraph before = { .id = ids[1], .role = "replayed", .graph = replayed };
  const AdjRegion region = {
    .id = "ca0", .rank = -1, .n_graphs = replayed != NULL ? 2 : 1, .num_fwd_outputs = -1
  };

  g_assert_true (adj_bundle_builder_add_graph (builder, &captured, NULL));
  if (replayed != NULL)
    g_assert_true (adj_bundle_builder_add_graph (builder, &before, NULL));
  g_assert_true (adj_bundle_builder_add_region (builder, &region, ids, NULL));
  return adj_bundle_builder_end (g_steal_pointer (&builder), NULL);
}

static void
check_row (gconstpointer data)
{
  const Row *row = data;
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", row->file, NULL);
  g_autoptr (AdjBundle) loaded = adj_test_load_bundle (path);
  AdjGraph *graph = adj_bundle_get_graph (loaded, 0)->graph;
  g_autoptr (AdjGraph) ordered =
      row->order != NULL ? reorder (graph, row->order) : adj_graph_ref (graph);
  g_autoptr (AdjBundle) bundle = bundle_of (row->order != NULL ? graph : NULL, ordered);
  g_autoptr (AdjFindings) findings = adj_bundle_check (bundle, NULL, NULL);
  const AdjFinding *finding;

  g_assert_cmpuint (adj_findings_get_n (findings), ==, row->check != NULL ? 1 : 0);
  if (row->check == NULL)
    return;
  finding = adj_findings_get (findings, 0);
  g_assert_cmpstr (finding->check->name, ==, row->check);
  g_assert_cmpstr (finding->message, ==, row->message);
}

/* Reordering PyTorch 2.6's replayed graph gives PyTorch's final graph. */
static void
order_of_a_file_is_pytorchs (void)
{
  static const char *const names[] = { "c01",   "c02", "c05", "c08", "c10",  "c12-two",
                                       "c13",   "c15", "c17", "c18", "c18b", "c19",
                                       "c20-2", "c21", "c22", "c24", "c25",  "c26-2",
                                       "c27",   "e06", "e11", "w2" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *before = g_strconcat (names[i], "-captured.txt", NULL);
      g_autofree char *after = g_strconcat (names[i], ".txt", NULL);
      g_autofree char *path =
          g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", before, NULL);
      g_autofree char *golden_path =
          g_test_build_filename (G_TEST_DIST, "compiled_autograd", "golden", after, NULL);
      g_autoptr (AdjBundle) replayed = adj_test_load_bundle (path);
      g_autoptr (AdjBundle) golden = adj_test_load_bundle (golden_path);
      g_autoptr (AdjGraph) made = reorder (adj_bundle_get_graph (replayed, 0)->graph, "2.6");

      g_test_message ("%s", names[i]);
      g_assert_true (adj_graph_equal_structure (made, adj_bundle_get_graph (golden, 0)->graph));
    }
}

static guint
count_early_updates (const char *order)
{
  g_autofree char *steps = g_strdup_printf ("compiled-autograd=%s", order);
  const AdjPipelineOptions options = { .steps = steps };
  g_auto (AdjPipelineResult) result = { NULL };
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (AdjFindings) findings = NULL;
  g_autoptr (GError) error = NULL;
  guint n = 0;

  adj_program_record (adj_program_training (), &options, &result, &error);
  g_assert_no_error (error);
  bundle = adj_pipeline_result_to_bundle (&result, NULL, NULL);
  g_assert_cmpuint (adj_bundle_get_n_regions (bundle), ==, 4);
  findings = adj_bundle_check (bundle, NULL, NULL);
  for (guint i = 0; i < adj_findings_get_n (findings); i++)
    n += strcmp (adj_findings_get (findings, i)->check->name, "early-update") == 0;
  g_assert_cmpuint (n, ==, adj_findings_get_n (findings));
  return n;
}

/* PyTorch 2.6 was observed to give such gradients: those of the first weight are different. */
static void
updates_in_hooks_come_early (void)
{
  g_assert_cmpuint (count_early_updates ("2.6"), ==, 4);
  g_assert_cmpuint (count_early_updates ("eager"), ==, 0);
}

static void
tokens_need_an_end (void)
{
  static const char text[] =
      "class <lambda>(torch.nn.Module):\n"
      "    def forward(self, arg0_1: \"f32[3][1]cpu\"):\n"
      "        _make_token: \"f32[0][1]cpu\" = torch.ops.prims._make_token.default()\n"
      "        %s"
      "        return [arg0_1]\n";

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *whole = g_strdup_printf (
          text, i == 0 ? "_sink = torch.ops.prims._sink_tokens.default([_make_token])\n" : "\n");
      g_autoptr (AdjGraph) graph = adj_test_parse_graph (whole);
      g_autoptr (AdjBundleBuilder) builder = adj_bundle_builder_new ();
      const AdjBundleGraph entry = { .id = "0-0-inference", .role = "inference", .graph = graph };
      g_autoptr (AdjBundle) bundle = NULL;
      g_autoptr (AdjFindings) findings = NULL;

      g_assert_true (adj_bundle_builder_add_graph (builder, &entry, NULL));
      bundle = adj_bundle_builder_end (g_steal_pointer (&builder), NULL);
      findings = adj_bundle_check (bundle, NULL, NULL);
      g_assert_cmpuint (adj_findings_get_n (findings), ==, i);
      if (i == 1)
        g_assert_cmpstr (adj_findings_get (findings, 0)->message, ==,
                         "'_make_token' begins a chain of effects that no _sink_tokens ends");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *name = g_strdup_printf ("/compiled-autograd/checks/%s-%s", rows[i].file,
                                               rows[i].order != NULL ? rows[i].order : "as-it-is");

      g_test_add_data_func (name, &rows[i], check_row);
    }
  g_test_add_func ("/compiled-autograd/checks/order", order_of_a_file_is_pytorchs);
  g_test_add_func ("/compiled-autograd/checks/early-update", updates_in_hooks_come_early);
  g_test_add_func ("/compiled-autograd/checks/tokens", tokens_need_an_end);
  return g_test_run ();
}
