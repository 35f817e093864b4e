/* SPDX-License-Identifier: MIT */
/* Releases by number, and what --compat makes of graphs of two of them: PyTorch's own joint
 * graph and halves. */

#include <math.h>

#include "adjoint.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static void
test_nearest (void)
{
  static const struct
  {
    const char *version, *nearest;
    gboolean known;
  } cases[] = {
    { NULL, "2.6", FALSE },           { "nightly", "2.6", FALSE }, { "2.6.0", "2.6", TRUE },
    { "2.4.1+cpu", "2.6", FALSE },    { "2.10.0", "2.6", FALSE },  { "2.11.0", "2.15", FALSE },
    { "2.15.0+cu132", "2.15", TRUE }, { "3.0.0", "2.15", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gboolean known;

      g_assert_cmpstr (adj_release_find (cases[i].version, &known)->name, ==, cases[i].nearest);
      g_assert_cmpint (known, ==, cases[i].known);
    }
}

/* Node for node, in whatever order and under whatever names. */
static void
assert_aligned (const AdjGraph *ours, const AdjGraph *theirs)
{
  g_autoptr (AdjAlignment) alignment = adj_graph_align (theirs, ours);

  for (guint i = 0; i < alignment->n_changes; i++)
    g_assert_cmpint (alignment->changes[i].kind, ==, ADJ_CHANGE_NONE);
  g_assert_cmpuint (adj_graph_get_n_nodes (ours), ==, adj_graph_get_n_nodes (theirs));
}

static void
assert_stage (const AdjPipelineResult *result, AdjBundle *bundle, const char *role, gboolean exact)
{
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *theirs = adj_bundle_find_graph (bundle, role, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < adj_recording_get_n_stages (result->recording); i++)
    {
      const AdjStage *stage = adj_recording_get_stage (result->recording, i);

      if (!g_str_equal (stage->name, role))
        continue;
      if (exact)
        g_assert_true (adj_graph_equal_structure (stage->graph, theirs->graph));
      else
        assert_aligned (stage->graph, theirs->graph);
      return;
    }
  g_error ("there is no %s", role);
}

static AdjBundle *
load (const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "session", "data", name, NULL);
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

/* What is made of what Dynamo captured. */
static void
trace (AdjBundle *bundle, AdjPartitionOptions *partition, AdjPipelineResult *result)
{
  g_autoptr (GError) error = NULL;
  AdjPipelineOptions options = { .partition = partition };
  const AdjBundleGraph *dynamo = adj_bundle_find_graph (bundle, "dynamo", &error);

  g_assert_no_error (error);
  options.release = adj_release_find (adj_bundle_get_torch_version (bundle), NULL);
  partition->compat = TRUE;
  adj_pipeline_run (dynamo->graph, "dynamo", &options, result, NULL, &error);
  g_assert_no_error (error);
}

/* Holds what is made of a file against what is in it. */
static void
assert_stages (const char *name, gboolean exact)
{
  static const char *const roles[] = { "joint", "forward", "backward" };
  g_autoptr (AdjBundle) bundle = load (name);
  g_auto (AdjPipelineResult) result = { 0 };
  AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;
  const AdjRelease *release = adj_release_find (adj_bundle_get_torch_version (bundle), NULL);
  const AdjBundleGraph *dynamo = adj_bundle_find_graph (bundle, "dynamo", NULL);
  g_autofree char *recorded =
      adj_recorded_partition_read (adj_bundle_find_region (bundle, dynamo), &partition);

  g_assert_cmpstr (recorded, ==,
                   release->free_parameters ? "treat_parameters_as_free_to_save on" : NULL);
  trace (bundle, &partition, &result);
  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    assert_stage (&result, bundle, roles[i], exact);
}

/* A step of an optimiser, which holds what it writes: no gradient is wanted. */
static void
test_inference (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = load (name);
  g_auto (AdjPipelineResult) result = { 0 };
  AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;

  trace (bundle, &partition, &result);
  assert_stage (&result, bundle, "inference", TRUE);
}

static void
test_stages (gconstpointer name)
{
  assert_stages (name, TRUE);
}

/* Gradients of quantiles, cosines and what is read thrice are added up in another order. */
static void
test_aligned (gconstpointer name)
{
  assert_stages (name, FALSE);
}

static const AdjGraph *
find_joint (const AdjPipelineResult *result)
{
  for (guint i = 0; i < adj_recording_get_n_stages (result->recording); i++)
    if (g_str_equal (adj_recording_get_stage (result->recording, i)->name, "joint"))
      return adj_recording_get_stage (result->recording, i)->graph;
  g_assert_not_reached ();
}

/* A number that is computed and passed by keyword stays what it is where floats become tensors. */
static void
test_alpha (void)
{
  static const char text[] =
      "class G(torch.nn.Module):\n"
      "    def forward(self, s0: \"Sym(s0)\", x: \"f32[s0][1]cpu\", t: \"f64[][]cpu\"):\n"
      "        # adj: symbol s0 {hint: 3, source: \"L['x'].size()[0]\"}\n"
      "        # adj: symbol zf1 {source: \"L['t']\"}\n"
      "        # adj: x {requires_grad: True}\n"
      "        item: \"Sym(zf1)\" = t.item();  t = None\n"
      "        twice: \"Sym(2*s0)\" = s0 * 2;  s0 = None\n"
      "        more: \"Sym(2*s0 + 1)\" = twice + 1;  twice = None\n"
      "        cut: \"f32[s0][1]cpu\" = torch.sub(x, item, alpha = more);  x = more = None\n"
      "        d: \"f32[s0][1]cpu\" = cut * item;  cut = item = None\n"
      "        return (d,)\n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (GError) error = NULL;
  AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;
  AdjPipelineOptions options = { .release = adj_release_find ("2.15.0", NULL),
                                 .partition = &partition };
  const AdjGraph *joint;
  const AdjNode *sub, *alpha;

  partition.compat = TRUE;
  adj_pipeline_run (graph, "dynamo", &options, &result, NULL, &error);
  g_assert_no_error (error);
  joint = find_joint (&result);
  sub = adj_graph_get_node (joint, adj_graph_find_node (joint, "sub").index);
  g_assert_cmpuint (sub->kwargs.n, ==, 2);
  g_assert_cmpint (sub->kwargs.items[1].kind, ==, ADJ_VALUE_NODE);
  alpha = adj_graph_get_node (joint, sub->kwargs.items[1].node.index);
  g_assert_cmpstr (alpha->name, ==, "add");
}

/* What takes the place of floats belongs to no checkpointed region. */
static void
test_scaled_again (void)
{
  g_autoptr (AdjBundle) bundle = load ("newest-scaled-again.adjoint");
  g_auto (AdjPipelineResult) result = { 0 };
  AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;
  const AdjGraph *joint;
  guint n = 0;

  trace (bundle, &partition, &result);
  joint = find_joint (&result);
  for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
    {
      const AdjNode *node = adj_graph_get_node (joint, i);

      if (!g_str_has_suffix (node->target, "convert_element_type.default"))
        continue;
      g_assert_cmpint (node->meta.recompute, ==, ADJ_RECOMPUTE_NONE);
      g_assert_cmpint (node->meta.ac_graph_id, ==, -1);
      n++;
    }
  g_assert_cmpuint (n, >, 0);
}

/* Masks of dropout, exponential and Bernoulli's numbers: those of the build that recorded them. */
static void
test_draws (void)
{
  static const char *const roles[] = { "joint", "forward", "backward" };
  g_autoptr (AdjBundle) bundle = load ("newest-dropped.adjoint");
  g_autoptr (GError) error = NULL;
  AdjRandomSource source = ADJ_RANDOM_MKL;

  g_assert_true (adj_bundle_get_random_source (bundle, &source));
  g_assert_cmpint (source, ==, ADJ_RANDOM_GENERATOR);
  g_assert_cmpint (adj_release_find ("2.15.0", NULL)->random_source, ==, ADJ_RANDOM_GENERATOR);
  g_assert_cmpint (adj_release_find ("2.6.0", NULL)->random_source, ==, ADJ_RANDOM_MKL);
  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    {
      AdjSessionRun run = { .bundle = bundle,
                            .graph = adj_bundle_find_graph (bundle, roles[i], &error) };
      g_autoptr (AdjComparison) comparison = NULL;

      g_assert_no_error (error);
      comparison = adj_session_compare_recorded (&run, TRUE, NAN, NAN, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (comparison->first, ==, -1);
      g_assert_cmpint (comparison->verdict, !=, ADJ_VERDICT_DIFFERS);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session/release/nearest", test_nearest);
  g_test_add_data_func ("/session/release/waves", "newest-waves.adjoint", test_stages);
  g_test_add_data_func ("/session/release/normed", "newest-normed.adjoint", test_stages);
  g_test_add_data_func ("/session/release/indexed", "newest-indexed.adjoint", test_stages);
  g_test_add_data_func ("/session/release/solved", "newest-solved.adjoint", test_stages);
  g_test_add_data_func ("/session/release/ranked", "newest-ranked.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/counted", "newest-counted.adjoint", test_stages);
  g_test_add_data_func ("/session/release/counted-by-2.6", "2.6-counted.adjoint", test_stages);
  g_test_add_data_func ("/session/release/written", "newest-written.adjoint", test_stages);
  g_test_add_data_func ("/session/release/sized", "newest-sized.adjoint", test_stages);
  g_test_add_data_func ("/session/release/bounded", "newest-bounded.adjoint", test_stages);
  g_test_add_data_func ("/session/release/attended", "newest-attended.adjoint", test_stages);
  g_test_add_data_func ("/session/release/attended-by-2.6", "2.6-attended.adjoint", test_stages);
  g_test_add_data_func ("/session/release/decoded", "newest-decoded.adjoint", test_stages);
  g_test_add_data_func ("/session/release/decoded-by-2.6", "2.6-decoded.adjoint", test_stages);
  g_test_add_data_func ("/session/release/compared", "newest-compared.adjoint", test_stages);
  g_test_add_data_func ("/session/release/compared-by-2.6", "2.6-compared.adjoint", test_stages);
  g_test_add_data_func ("/session/release/padded", "newest-padded.adjoint", test_stages);
  g_test_add_data_func ("/session/release/padded-by-2.6", "2.6-padded.adjoint", test_stages);
  g_test_add_data_func ("/session/release/lowered", "newest-lowered.adjoint", test_stages);
  g_test_add_data_func ("/session/release/lowered-by-2.6", "2.6-lowered.adjoint", test_stages);
  g_test_add_data_func ("/session/release/overwritten", "newest-overwritten.adjoint", test_stages);
  g_test_add_data_func ("/session/release/overwritten-by-2.6", "2.6-overwritten.adjoint",
                        test_stages);
  g_test_add_data_func ("/session/release/contracted", "newest-contracted.adjoint", test_stages);
  g_test_add_data_func ("/session/release/contracted-by-2.6", "2.6-contracted.adjoint",
                        test_stages);
  g_test_add_data_func ("/session/release/cut", "newest-cut.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/cut-by-2.6", "2.6-cut.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/spread", "newest-spread.adjoint", test_stages);
  g_test_add_data_func ("/session/release/spread-by-2.6", "2.6-spread.adjoint", test_stages);
  g_test_add_data_func ("/session/release/curved", "newest-curved.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/curved-by-2.6", "2.6-curved.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/thin", "newest-thin.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/thin-by-2.6", "2.6-thin.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/parted", "newest-parted.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/parted-by-2.6", "2.6-parted.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/hooked", "newest-hooked.adjoint", test_stages);
  g_test_add_func ("/session/release/alpha", test_alpha);
  g_test_add_data_func ("/session/release/scaled", "newest-scaled.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/scaled-by-2.6", "2.6-scaled.adjoint", test_aligned);
  g_test_add_func ("/session/release/scaled-again", test_scaled_again);
  g_test_add_data_func ("/session/release/smoothed", "newest-smoothed.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/smoothed-by-2.6", "2.6-smoothed.adjoint", test_aligned);
  g_test_add_data_func ("/session/release/told", "newest-told.adjoint", test_stages);
  g_test_add_data_func ("/session/release/told-by-2.6", "2.6-told.adjoint", test_stages);
  g_test_add_data_func ("/session/release/hooked-told", "newest-hooked-told.adjoint", test_stages);
  g_test_add_data_func ("/session/release/transformed", "newest-transformed.adjoint", test_stages);
  g_test_add_data_func ("/session/release/transformed-by-2.6", "2.6-transformed.adjoint",
                        test_aligned);
  g_test_add_data_func ("/session/release/randomized", "newest-randomized.adjoint", test_stages);
  g_test_add_data_func ("/session/release/randomized-by-2.6", "2.6-randomized.adjoint",
                        test_stages);
  g_test_add_data_func ("/session/release/written-by-2.6", "2.6-written.adjoint", test_stages);
  g_test_add_data_func ("/session/release/stepped", "newest-stepped.adjoint", test_inference);
  g_test_add_func ("/session/release/draws", test_draws);
  return g_test_run ();
}
