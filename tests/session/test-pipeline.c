/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "adjoint.h"
#include "support/adj-test.h"

static AdjBundle *
load (const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = adj_test_data_path (name);
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

static AdjGraph *
get_joint (AdjBundle *bundle)
{
  return adj_bundle_find_graph (bundle, "joint", NULL)->graph;
}

/* What the file says is what was made: halves, origins, reasons, how many outputs are no saved
 * values; put together again they compute what the joint graph does. */
static void
test_partition_saved (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load ("graphs/mlp.adjoint");
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "out.adjoint", NULL);
  g_autoptr (AdjBundle) made = NULL;
  g_autoptr (AdjBundle) again = NULL;
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjGraph) whole = NULL;
  const AdjRegion *region;

  adj_pipeline_run (joint->graph, "joint", NULL, &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_recording_get_n_stages (result.recording), ==, 3);
  made = adj_pipeline_result_to_bundle (&result, bundle, joint);
  adj_format_for_path (path, NULL)->save (made, NULL, path, NULL, &error);
  g_assert_no_error (error);
  again = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);

  region = adj_bundle_get_region (again, 0);
  g_assert_cmpstr (region->id, ==, adj_bundle_find_region (bundle, joint)->id);
  g_assert_cmpint (region->num_fwd_outputs, ==,
                   adj_bundle_find_region (bundle, joint)->num_fwd_outputs);
  g_assert_cmpuint (adj_bundle_get_n_calls (again), >, 0);
  whole = adj_graph_compose (adj_bundle_find_graph (again, "forward", &error)->graph,
                             adj_bundle_find_graph (again, "backward", &error)->graph,
                             (guint) region->num_fwd_outputs, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_inputs (whole), ==, adj_graph_get_n_inputs (joint->graph));
  for (guint half = 1; half <= 2; half++)
    {
      const AdjStage *stage = adj_recording_get_stage (adj_bundle_get_recording (again), half);

      g_assert_cmpint (stage->from, ==, 0);
      for (guint i = 0; i < stage->n_notes; i++)
        g_assert_cmpuint (
            adj_graph_get_node (stage->graph, stage->notes[i].after.index)->origin.index, ==,
            stage->notes[i].before.index);
    }
}

static void
test_failure (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load ("graphs/mlp.adjoint");
  AdjPipelineOptions options = { .steps = "dce,decompose=all,cse" };
  g_auto (AdjPipelineResult) result = { 0 };
  const AdjStage *stage;

  g_assert_true (adj_pipeline_run (get_joint (bundle), "joint", &options, &result, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (adj_recording_get_n_stages (result.recording), ==, 3);
  stage = adj_recording_get_stage (result.recording, 2);
  g_assert_cmpstr (stage->name, ==, "decompose");
  g_assert_null (stage->graph);
  g_assert_nonnull (strstr (stage->failure, "no table of decompositions 'all'"));
}

static void
check_refused (const char *steps, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load ("graphs/mlp.adjoint");
  AdjPipelineOptions options = { .steps = steps };
  g_auto (AdjPipelineResult) result = { 0 };

  g_assert_false (adj_pipeline_run (get_joint (bundle), "joint", &options, &result, NULL, &error));
  g_assert_nonnull (strstr (error->message, message));
  g_assert_null (result.recording);
}

static void
test_bad_steps (void)
{
  check_refused ("dce,nothing", "there is no pass 'nothing'");
  check_refused ("min-cut,dce", "'dce' comes after a partitioner");
  check_refused ("dce,,cse", "there is no pass ''");
}

static void
cancel_at_second (guint done, guint total, const char *step, gpointer data)
{
  if (done == 1)
    g_cancellable_cancel (data);
}

static void
test_cancel (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load ("graphs/mlp.adjoint");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  AdjPipelineOptions options = { .steps = "dce,cse,dce",
                                 .progress = cancel_at_second,
                                 .data = cancellable };
  g_auto (AdjPipelineResult) result = { 0 };

  g_assert_false (
      adj_pipeline_run (get_joint (bundle), "joint", &options, &result, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_null (result.recording);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session/pipeline/partition-saved", test_partition_saved);
  g_test_add_func ("/session/pipeline/failure", test_failure);
  g_test_add_func ("/session/pipeline/bad-steps", test_bad_steps);
  g_test_add_func ("/session/pipeline/cancel", test_cancel);
  return g_test_run ();
}
