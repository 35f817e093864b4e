/* SPDX-License-Identifier: MIT */
/* Pipelines: saved stages, calls and settings; failures, cancellation, invalid steps. */

#include <gio/gio.h>
#include <string.h>

#include "adjoint.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static AdjGraph *
get_joint (AdjBundle *bundle)
{
  return adj_bundle_find_graph (bundle, "joint", NULL)->graph;
}

/* Tags are a stage between the joint graph and the partition, which stays as it was. */
static void
test_tags (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("sac");
  AdjGraph *joint = get_joint (bundle);
  g_autoptr (AdjPartition) partition =
      adj_partition (adj_partitioner_find ("min-cut", NULL), joint, NULL, &error);
  g_auto (AdjPipelineResult) result = { 0 };
  const AdjStage *tags, *half;
  guint n_changed = 0;

  g_assert_true (adj_pipeline_run (joint, "joint", NULL, &result, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (adj_recording_get_n_stages (result.recording), ==, 4);
  tags = adj_recording_get_stage (result.recording, 1);
  g_assert_cmpstr (tags->name, ==, "tag");
  g_assert_cmpint (tags->from, ==, 0);
  for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
    n_changed += adj_graph_get_node (joint, i)->meta.recompute !=
                 adj_graph_get_node (tags->graph, i)->meta.recompute;
  g_assert_cmpuint (tags->n_notes, >, n_changed);
  for (guint i = 2; i < 4; i++)
    {
      half = adj_recording_get_stage (result.recording, i);
      g_assert_cmpint (half->from, ==, 1);
      g_assert_true (adj_graph_equal_structure (half->graph,
                                                i == 2 ? partition->forward : partition->backward));
    }
}

/* The saved partition equals the one made: both graphs, origins, reasons and number of outputs;
 * composed again they compute what the joint graph does. */
static void
test_partition_saved (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
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
  adj_format_for_path (path, NULL)->save (made, path, NULL, NULL, &error);
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

/* Adds a saved run "before" of @graph with the value of one node. */
static void
keep_run (AdjBundle *bundle, const AdjBundleGraph *graph, const char *node, AdjTensorData *value)
{
  AdjRunOrigin origin = { .name = "before", .producer = "a test" };
  AdjRecordedCall call = *adj_bundle_find_call (bundle, graph, 0);
  g_autoptr (GHashTable) values = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_run_unref);

  call.origin = &origin;
  g_hash_table_insert (values, (gpointer) node, value);
  g_ptr_array_add (runs, adj_run_new (&call, values));
  adj_bundle_set_runs (bundle, runs);
}

/* Recorded calls and saved runs of the first stage are in the file that a trace writes. */
static void
test_calls_saved (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "out.adjoint", NULL);
  g_autoptr (AdjTensorData) one = NULL;
  g_autoptr (AdjBundle) made = NULL;
  g_autoptr (AdjBundle) again = NULL;
  g_autoptr (AdjRecordedCall) run = NULL;
  g_auto (AdjPipelineResult) result = { 0 };
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, joint, 0);
  AdjTensorData *recorded = adj_bundle_get_tap (bundle, call, "addmm", FALSE);

  g_assert_nonnull (recorded);
  one = adj_tensor_data_cast_storage (recorded, ADJ_DTYPE_F64);
  keep_run (bundle, joint, "addmm", one);
  adj_pipeline_run (joint->graph, "joint", NULL, &result, NULL, &error);
  g_assert_no_error (error);
  made = adj_pipeline_result_to_bundle (&result, bundle, joint);
  adj_format_for_path (path, NULL)->save (made, path, NULL, NULL, &error);
  g_assert_no_error (error);
  again = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);

  joint = adj_bundle_find_graph (again, "joint", NULL);
  call = adj_bundle_find_call (again, joint, 0);
  g_assert_nonnull (adj_bundle_get_tap (again, call, "addmm", FALSE));
  run = adj_bundle_find_run (again, joint, "before", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (run->origin->producer, ==, "a test");
  g_assert_cmpint (
      adj_tensor_data_get_meta (adj_bundle_get_tap (again, run, "addmm", FALSE))->dtype, ==,
      ADJ_DTYPE_F64);
}

/* The thread state of a graph's caller is preserved by passes, files and texts; in a trace it is
 * part of the nodes. */
static void
test_thread_state_saved (void)
{
  g_autofree char *from =
      g_test_build_filename (G_TEST_DIST, "session", "data", "mixed-called.adjoint", NULL);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "out.adjoint", NULL);
  const AdjPipelineOptions options = { .steps = "dce,joint" };
  const gboolean wanted[] = { TRUE, TRUE, FALSE };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (from, NULL, &error);
  const AdjBundleGraph *dynamo = adj_bundle_find_graph (bundle, "dynamo", NULL);
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjBundle) made = NULL;
  g_autoptr (AdjBundle) again = NULL;

  adj_pipeline_run (dynamo->graph, "dynamo", &options, &result, NULL, &error);
  g_assert_no_error (error);
  made = adj_pipeline_result_to_bundle (&result, bundle, dynamo);
  adj_format_for_path (path, NULL)->save (made, path, NULL, NULL, &error);
  g_assert_no_error (error);
  again = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (again), ==, G_N_ELEMENTS (wanted));
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      AdjGraph *graph = adj_bundle_get_graph (again, i)->graph;
      g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
      g_autoptr (AdjGraph) parsed = adj_test_parse_graph (text);
      const AdjAutocast *read = &adj_graph_get_thread_state (graph)->autocast[ADJ_DEVICE_CPU];
      const AdjAutocast *as_text = &adj_graph_get_thread_state (parsed)->autocast[ADJ_DEVICE_CPU];

      g_assert_cmpint (read->on, ==, wanted[i]);
      g_assert_cmpint (as_text->on, ==, wanted[i]);
      g_assert_cmpint (as_text->dtype, ==, read->dtype);
    }
}

static void
test_failure (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
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
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
  AdjPipelineOptions options = { .steps = steps };
  g_auto (AdjPipelineResult) result = { 0 };

  g_assert_false (adj_pipeline_run (get_joint (bundle), "joint", &options, &result, NULL, &error));
  g_assert_nonnull (strstr (error->message, message));
  g_assert_null (result.recording);
}

static void
test_bad_steps (void)
{
  check_refused ("dce,nothing", "no pass 'nothing'");
  check_refused ("min-cut,dce", "'dce' comes after a partitioner");
  check_refused ("dce,,cse", "no pass ''");
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
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
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

static void
expect_current (guint done, guint total, const char *step, gpointer cancellable)
{
  g_assert_true (g_cancellable_get_current () == cancellable);
}

/* A pipeline makes its cancellable the current one of the thread, by which a pass ends within
 * itself. */
static void
test_cancel_trace (void)
{
  static const char *const names[] = { "functionalize", "joint" };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
  AdjGraph *dynamo = adj_bundle_find_graph (bundle, "dynamo", NULL)->graph;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  AdjPipelineOptions options = { .progress = expect_current, .data = cancellable };
  g_auto (AdjPipelineResult) result = { 0 };

  g_assert_true (adj_pipeline_run (dynamo, "dynamo", &options, &result, cancellable, &error));
  g_assert_no_error (error);
  g_assert_null (g_cancellable_get_current ());

  g_cancellable_cancel (cancellable);
  g_cancellable_push_current (cancellable);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      AdjPassResult made;

      g_assert_false (adj_pass_run (adj_pass_find (names[i], NULL), NULL, dynamo, &made, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
    }
  g_cancellable_pop_current (cancellable);
}

/* A partitioner that is cancelled leaves no failed stage. */
static void
cancel_at_last (guint done, guint total, const char *step, gpointer data)
{
  if (done + 1 == total)
    g_cancellable_cancel (data);
}

static void
test_cancel_partitioner (void)
{
  for (guint i = 0; i < adj_partitioners_get_n (); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      AdjPipelineOptions options = { .steps = adj_partitioners_get (i)->name,
                                     .progress = cancel_at_last,
                                     .data = cancellable };
      AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;
      g_auto (AdjPipelineResult) result = { 0 };

      g_assert_false (
          adj_pipeline_run (get_joint (bundle), "joint", &options, &result, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_null (result.recording);
      g_clear_error (&error);
      partition.cancellable = cancellable;
      g_assert_null (
          adj_partition (adj_partitioners_get (i), get_joint (bundle), &partition, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
}

#define BROKEN "torch.ops.aten.sum.dim_IntList(sin, [7], True)"

static const char broken[] = "def forward(self, x: \"f32[2, 3][3, 1]cpu\"):\n"
                             "    # adj: x {requires_grad: True}\n"
                             "    sin = torch.ops.aten.sin.default(x)\n"
                             "    total = " BROKEN "\n"
                             "    return (total,)\n";

/* The error in another place, inside a region, at a node whose name also exists outside. */
static const char broken_inside[] =
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[2, 3][3, 1]cpu\"):\n"
    "        # adj: x {requires_grad: True}\n"
    "        sin = torch.ops.aten.sin.default(x)\n"
    "        total = torch.ops.aten.cos.default(sin)\n"
    "        body = self.body\n"
    "        again = torch.ops.higher_order.tag_activation_checkpoint(body, total, use_reentrant = "
    "False)\n"
    "        getitem = again[0]\n"
    "        return (getitem,)\n"
    "\n"
    "    class body(torch.nn.Module):\n"
    "        def forward(self, x: \"f32[2, 3][3, 1]cpu\"):\n"
    "            sin = torch.ops.aten.sin.default(x)\n"
    "            total = " BROKEN "\n"
    "            return (total,)\n";

/* A failed stage blames a node of the previous graph, also after loading from a file. */
static void
check_blamed (const char *text, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  AdjPipelineOptions options = { .steps = "dce,joint" };
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "failed.adjoint", NULL);
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (AdjBundle) again = NULL;
  const AdjStage *stage;
  const AdjGraph *before;

  g_assert_true (adj_pipeline_run (graph, "user", &options, &result, NULL, &error));
  bundle = adj_pipeline_result_to_bundle (&result, NULL, NULL);
  adj_format_for_path (path, NULL)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
  again = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  stage = adj_recording_get_stage (adj_bundle_get_recording (again), 2);
  before = adj_recording_get_stage (adj_bundle_get_recording (again), (guint) stage->from)->graph;
  g_assert_nonnull (strstr (stage->failure, "node 'total'"));
  g_assert_cmpuint (stage->n_blamed, ==, 1);
  g_assert_cmpstr (adj_graph_get_node (before, stage->blamed[0].index)->name, ==, name);
}

static void
test_blamed (void)
{
  check_blamed (broken, "total");
  check_blamed (broken_inside, "again");
}

static const AdjFrame *
last_frame (const AdjNode *node)
{
  return node->meta.n_frames > 0 ? &node->meta.frames[node->meta.n_frames - 1] : NULL;
}

/* A node in a region originates from the node that runs the region, not from the node of equal
 * number; any other node originates from the node of its source line. */
static void
check_origin (const AdjNode *node, const AdjGraph *dynamo)
{
  const AdjNode *origin = adj_graph_get_node (dynamo, node->origin.index);
  const AdjFrame *frame = last_frame (node), *of_origin = last_frame (origin);

  if (strstr (origin->target, "higher_order") != NULL)
    return;
  g_assert_cmpint (node->meta.ac_graph_id, <, 0);
  if (frame != NULL && of_origin != NULL)
    g_assert_cmpuint (frame->line, ==, of_origin->line);
}

/* Every node of a stage, except tangents, has an origin in the first stage. */
static void
test_origins (gconstpointer name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  AdjGraph *dynamo = adj_bundle_find_graph (bundle, "dynamo", &error)->graph;
  g_auto (AdjPipelineResult) result = { 0 };
  guint n = 0;

  g_assert_true (adj_pipeline_run (dynamo, "dynamo", NULL, &result, NULL, &error));
  for (guint i = 1; i < adj_recording_get_n_stages (result.recording); i++)
    {
      const AdjGraph *graph = adj_recording_get_stage (result.recording, i)->graph;

      for (guint k = 0; k < adj_graph_get_n_nodes (graph); k++)
        {
          const AdjNode *node = adj_graph_get_node (graph, k);

          if (node->opcode == ADJ_OPCODE_OUTPUT || g_str_has_prefix (node->name, "tangents_"))
            continue;
          if (!adj_node_id_is_valid (
                  adj_recording_trace_origin (result.recording, i, (AdjNodeId){ k }, 0)))
            g_error ("%s: '%s' of '%s' comes from nowhere", (const char *) name, node->name,
                     adj_recording_get_stage (result.recording, i)->name);
          if (i == 1 && node->opcode == ADJ_OPCODE_CALL_FUNCTION)
            check_origin (node, dynamo);
          n++;
        }
    }
  g_assert_cmpuint (n, >, 0);
}

int
main (int argc, char **argv)
{
  static const char *const captures[] = {
    "dropout", "gpt2-inductor", "gpt2", "llama", "lstm", "mlp", "sac", "resnet-block", "unet",
  };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session/pipeline/partition-saved", test_partition_saved);
  g_test_add_func ("/session/pipeline/tags", test_tags);
  g_test_add_func ("/session/pipeline/calls-saved", test_calls_saved);
  g_test_add_func ("/session/pipeline/ambient-saved", test_thread_state_saved);
  g_test_add_func ("/session/pipeline/failure", test_failure);
  g_test_add_func ("/session/pipeline/bad-steps", test_bad_steps);
  g_test_add_func ("/session/pipeline/cancel", test_cancel);
  g_test_add_func ("/session/pipeline/cancel-trace", test_cancel_trace);
  g_test_add_func ("/session/pipeline/cancel-partitioner", test_cancel_partitioner);
  g_test_add_func ("/session/pipeline/blamed", test_blamed);
  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *path = g_strdup_printf ("/session/pipeline/origins/%s", captures[i]);

      g_test_add_data_func (path, captures[i], test_origins);
    }
  return g_test_run ();
}
