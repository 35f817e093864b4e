/* SPDX-License-Identifier: MIT */

/* Tracing a graph and stepping through its stages, without a display. */

#include <gio/gio.h>
#include <string.h>

#include "adjoint.h"
#include "analysis/adj-blocks.h"
#include "model/adj-graph-item.h"
#include "model/adj-provenance.h"
#include "model/adj-stage-summaries.h"
#include "model/adj-stages.h"
#include "report/adj-stage-change.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "ui/adj-wait.h"

static AdjDocument *
open_traced (const char *name, const char *id)
{
  g_autoptr (AdjDocument) source = adj_wait_open (name, id);
  AdjDocument *document = adj_document_new ();

  adj_document_open_trace (document, source, NULL);
  adj_wait_for (document);
  g_assert_no_error (adj_document_get_error (document));
  return document;
}

static const AdjGraph *
get_graph (AdjDocument *document)
{
  return adj_document_get_graph (document)->graph;
}

/* The selection follows: relu of the joint graph is relu in forward, and back again. */
static void
test_steps (void)
{
  g_autoptr (AdjDocument) document = open_traced ("graphs/mlp.adjoint", "joint");

  g_assert_cmpstr (adj_document_get_title (document), ==, "mlp.adjoint, traced");
  g_assert_cmpuint (adj_recording_get_n_stages (adj_stages_get_recording (document)), ==, 3);
  g_assert_cmpint (adj_stages_get_current (document), ==, 0);
  g_assert_false (adj_stages_can_step (document, -1));
  adj_document_set_selected (document, adj_graph_find_node (get_graph (document), "relu"));

  /* Both halves side by side, then each half. */
  adj_stages_step (document, 1);
  adj_wait_for (document);
  g_assert_cmpint (adj_stages_get_current (document), ==, -1);
  g_assert_cmpstr (adj_document_get_graph (document)->role, ==, ADJ_PAIR_ROLE);
  g_assert_cmpuint (adj_document_get_selected (document).index, ==,
                    adj_graph_find_node (get_graph (document), "relu").index);
  adj_stages_step (document, 1);
  adj_wait_for (document);
  g_assert_cmpint (adj_stages_get_current (document), ==, 1);
  g_assert_cmpstr (adj_document_get_graph (document)->role, ==, "forward");
  g_assert_cmpuint (adj_document_get_selected (document).index, ==,
                    adj_graph_find_node (get_graph (document), "relu").index);

  adj_stages_show (document, 0);
  adj_wait_for (document);
  g_assert_cmpuint (adj_document_get_selected (document).index, ==,
                    adj_graph_find_node (get_graph (document), "relu").index);
  adj_stages_show (document, 2);
  adj_wait_for (document);
  g_assert_false (adj_stages_can_step (document, 1));
}

/* The graphs of a log are stages in file order; the selection follows. */
static void
test_steps_through_log (void)
{
  static const char *const roles[] = { "dynamo",      "joint",
                                       ADJ_PAIR_ROLE, "forward",
                                       "backward",    "fx_graph_runnable",
                                       "post_grad",   "fx_graph_runnable",
                                       "post_grad" };
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/torch-trace", "0-0-dynamo");

  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    {
      g_assert_cmpint (adj_stages_get_current_step (document), ==, i);
      g_assert_cmpstr (adj_document_get_graph (document)->role, ==, roles[i]);
      if (i == 1)
        adj_document_set_selected (document, adj_graph_find_node (get_graph (document), "addmm"));
      if (i == 2 || i == 3)
        g_assert_cmpstr (
            adj_graph_get_node (get_graph (document), adj_document_get_selected (document).index)
                ->name,
            ==, "addmm");
      if (i + 1 < G_N_ELEMENTS (roles))
        adj_stages_step (document, 1);
      adj_wait_for (document);
    }
  g_assert_false (adj_stages_can_step (document, 1));
  for (guint i = 0; i + 1 < G_N_ELEMENTS (roles); i++)
    {
      adj_stages_step (document, -1);
      adj_wait_for (document);
    }
  g_assert_cmpstr (adj_document_get_graph (document)->role, ==, "dynamo");
}

static gboolean
is_checked (gpointer data)
{
  const AdjStageSummary *summary;

  for (guint i = 0; (summary = adj_stage_summaries_get (data, i)) != NULL; i++)
    if (summary->before >= 0 && (!summary->counted || summary->check == ADJ_CHECK_PENDING))
      return FALSE;
  return TRUE;
}

static AdjStageSummaries *
find_summaries (AdjDocument *document)
{
  AdjStageSummaries *summaries = adj_stage_summaries_of (document);

  adj_stage_summaries_update (summaries);
  g_assert_true (adj_wait_until (is_checked, summaries, 60));
  return summaries;
}

/* Computed in the background: what changed, and that the partition computes what the joint graph
 * does. */
static void
test_summaries_of_log (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/torch-trace", "0-0-joint");
  AdjStageSummaries *summaries = find_summaries (document);
  const AdjStageSummary *joint = adj_stage_summaries_get (summaries, 1);
  const AdjStageSummary *pair = adj_stage_summaries_get (summaries, 2);
  const AdjStageSummary *post_grad = adj_stage_summaries_get (summaries, 6);

  g_assert_cmpint (adj_stage_summaries_get (summaries, 0)->before, ==, -1);
  g_assert_cmpint (joint->check, >=, ADJ_CHECK_EQUAL); /* against its forward part */
  g_assert_cmpint (joint->check, <=, ADJ_CHECK_WITHIN);
  g_assert_cmpuint (joint->n_added, >, 90);
  g_assert_cmpint (pair->check, >=, ADJ_CHECK_EQUAL);
  g_assert_cmpint (pair->check, <=, ADJ_CHECK_WITHIN);
  g_assert_true (g_str_has_prefix (pair->text, "equal"));
  g_assert_cmpint (post_grad->check, >=, ADJ_CHECK_EQUAL);
  g_assert_cmpint (post_grad->check, <=, ADJ_CHECK_WITHIN);
  g_assert_null (adj_stage_summaries_get (summaries, 9));
}

static gboolean
has_kin (GArray *kin, AdjDocument *document, const char *step, const char *name)
{
  for (guint i = 0; i < kin->len; i++)
    {
      const AdjKin *one = &g_array_index (kin, AdjKin, i);
      const AdjGraph *graph =
          adj_graph_set_get (adj_document_get_graphs (document), one->graph)->graph;

      if (g_str_equal (one->step, step) &&
          g_str_equal (adj_graph_get_node (graph, one->node.index)->name, name))
        return TRUE;
    }
  return FALSE;
}

/* From the joint graph of a log back to the call in Dynamo's graph, and on to Inductor's graph. */
static void
test_provenance (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/torch-trace", "0-0-joint");
  AdjStageSummaries *summaries = find_summaries (document);
  AdjNodeId addmm = adj_graph_find_node (get_graph (document), "addmm");
  g_autoptr (GArray) kin = adj_provenance_find (document, addmm);
  const AdjGraph *dynamo = adj_graph_set_get (adj_document_get_graphs (document), 0)->graph;
  guint32 origin = adj_stage_summaries_get (summaries, 1)->origins[addmm.index];

  g_assert_cmpuint (origin, <, adj_graph_get_n_nodes (dynamo));
  g_assert_true (has_kin (kin, document, "dynamo", adj_graph_get_node (dynamo, origin)->name));
  g_assert_nonnull (strstr (adj_graph_get_node (dynamo, origin)->target, "linear"));
  g_assert_true (has_kin (kin, document, "forward", "addmm"));
  g_assert_true (has_kin (kin, document, "post_grad", "addmm"));
  g_assert_false (has_kin (kin, document, "joint", "addmm"));
}

/* The graphs of a region, and the pair of its halves, have the blocks of the joint graph. */
static void
test_blocks (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/torch-trace", "0-0-joint");
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  AdjGraph *joint = adj_document_get_graph (document)->graph;
  const char *const ids[] = { "0-0-forward", "0-0-backward", "0-0-post_grad",
                              "0-0-forward+backward" };

  g_assert_null (adj_graph_get_blocks_leader (joint));
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      guint index = adj_graph_set_find (graphs, ids[i], NULL);

      g_assert_cmpuint (index, !=, G_MAXUINT);
      g_assert_true (adj_graph_get_blocks_leader (adj_graph_set_get (graphs, index)->graph) ==
                     joint);
    }
}

/* If one source line has several calls, each node originates from its own: from the call that
 * reads its weight, else from the next one in order. */
static void
test_one_line (void)
{
  static const struct
  {
    const char *name, *target;
  } made[] = { { "addmm_1", "linear" }, { "erf", "gelu" }, { "mul_1", "gelu" } };
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/torch-trace", "0-0-joint");
  AdjStageSummaries *summaries = find_summaries (document);
  const AdjGraph *dynamo = adj_graph_set_get (adj_document_get_graphs (document), 0)->graph;

  for (guint i = 0; i < G_N_ELEMENTS (made); i++)
    {
      AdjNodeId node = adj_graph_find_node (get_graph (document), made[i].name);
      guint32 origin = adj_stage_summaries_get (summaries, 1)->origins[node.index];

      g_assert_cmpuint (origin, <, adj_graph_get_n_nodes (dynamo));
      g_assert_nonnull (strstr (adj_graph_get_node (dynamo, origin)->target, made[i].target));
    }
}

/* (transfer full): a region of two graphs of x and exp = exp (x), in which @first and @second
 * make mul_4 of exp. */
static AdjDocument *
open_pair (const char *first, const char *second)
{
  static const char *const ids[] = { "0-0-user", "0-0-broken" }, *const roles[] = { "user",
                                                                                    "broken" };
  const char *const lines[] = { first, second };
  AdjDocument *document = adj_document_new ();
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  AdjRegion region = { .id = "0-0", .rank = -1, .num_fwd_outputs = -1, .n_graphs = 2 };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "fault.adjoint", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (AdjBundle) bundle = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *text = g_strdup_printf (
          "class G(torch.nn.Module):\n    def forward(self, x: \"f32[4][1]cpu\"):\n"
          "        exp: \"f32[4][1]cpu\" = torch.ops.aten.exp.default(x)\n%s"
          "        neg: \"f32[4][1]cpu\" = torch.ops.aten.neg.default(mul_4)\n"
          "        return (neg,)\n",
          lines[i]);
      g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
      AdjBundleGraph entry = { .id = ids[i], .role = roles[i], .graph = graph, .rank = -1 };

      g_assert_true (adj_bundle_builder_add_graph (builder, &entry, NULL));
    }
  g_assert_true (adj_bundle_builder_add_region (builder, &region, ids, NULL));
  bundle = adj_bundle_builder_end (builder, NULL);
  g_assert_true (adj_format_for_path (path, NULL)->save (bundle, path, NULL, NULL, NULL));
  adj_document_open (document, file, "0-0-user");
  adj_wait_for (document);
  return document;
}

static void
test_summaries_of_fault (void)
{
  g_autoptr (AdjDocument) document =
      open_pair ("        mul_4: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(exp)\n",
                 "        mul_4: \"f32[4][1]cpu\" = torch.ops.aten.cos.default(exp)\n");
  const AdjStageSummary *summary = adj_stage_summaries_get (find_summaries (document), 1);

  g_assert_cmpint (summary->check, ==, ADJ_CHECK_DIFFERS);
  g_assert_cmpstr (summary->text, ==, "first differs at mul_4");
  g_assert_cmpuint (summary->first.index, ==, 2);
  g_assert_cmpuint (summary->n_changed, ==, 1);
}

/* PyTorch 2.4's Dynamo graph calls modules that are not in the log: the joint graph's summary
 * says so, and later graphs are still judged. */
static void
test_summaries_of_module_calls (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "trace-2.4.log", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (AdjDocument) document = adj_document_new ();
  AdjStageSummaries *summaries;
  const AdjStageSummary *joint, *pair;

  adj_document_open (document, file, "0-0-joint");
  adj_wait_for (document);
  g_assert_no_error (adj_document_get_error (document));
  summaries = find_summaries (document);
  joint = adj_stage_summaries_get (summaries, 1);
  pair = adj_stage_summaries_get (summaries, 2);
  g_assert_cmpint (joint->check, ==, ADJ_CHECK_NONE);
  g_assert_cmpstr (joint->text, ==,
                   "made of a graph that calls modules the file lacks, the first is fn_0");
  g_assert_cmpuint (joint->n_added, >, 20);
  g_assert_cmpint (pair->check, >=, ADJ_CHECK_EQUAL);
  g_assert_cmpint (pair->check, <=, ADJ_CHECK_WITHIN);
}

/* A graph that the compiler made of a half names that half, whatever its role. */
static void
test_titles (void)
{
  static const struct
  {
    const char *id, *role, *title;
    gboolean backward;
  } rows[] = {
    { "0-0-forward", "forward", "Forward", FALSE },
    { "0-0-backward", "backward", "Backward", TRUE },
    { "0-0-before_post_grad", "before_post_grad", "Forward, before post-grad", FALSE },
    { "0-0-before_post_grad-2", "before_post_grad", "Backward, before post-grad", TRUE },
  };
  const char *const texts[] = {
    "class G(torch.nn.Module):\n    def forward(self, primals_1: \"f32[4][1]cpu\"):\n"
    "        exp: \"f32[4][1]cpu\" = torch.ops.aten.exp.default(primals_1)\n"
    "        return (exp, exp)\n",
    "class G(torch.nn.Module):\n    def forward(self, exp: \"f32[4][1]cpu\", "
    "tangents_1: \"f32[4][1]cpu\"):\n"
    "        mul: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, exp)\n"
    "        return (mul,)\n",
  };
  const char *ids[G_N_ELEMENTS (rows)];
  AdjRegion region = { .id = "0-0", .rank = -1, .num_fwd_outputs = 1, .n_graphs = 4 };
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  g_autoptr (AdjGraphSet) graphs = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (AdjGraph) graph = adj_test_parse_graph (texts[rows[i].backward]);
      AdjBundleGraph entry = { .id = rows[i].id, .role = rows[i].role, .graph = graph, .rank = -1 };

      ids[i] = rows[i].id;
      g_assert_true (adj_bundle_builder_add_graph (builder, &entry, NULL));
    }
  g_assert_true (adj_bundle_builder_add_region (builder, &region, ids, NULL));
  graphs = adj_graph_set_new (adj_bundle_builder_end (builder, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (AdjGraphItem) item = adj_graph_item_new (graphs, i);

      g_assert_cmpstr (adj_graph_item_get_title (item), ==, rows[i].title);
    }
}

/* Inductor draws other numbers, from seeds, which is not reported as an error. */
static void
test_summaries_of_draws (void)
{
  g_autoptr (AdjDocument) document = open_pair (
      "        rand: \"f32[4][1]cpu\" = torch.ops.aten.rand.default([4], dtype = torch.float32, "
      "device = device(type='cpu'), pin_memory = False)\n"
      "        mul_4: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(exp, rand)\n",
      "        seeds: \"i64[1][1]cpu\" = torch.ops.prims.inductor_seeds.default(1, "
      "device(type='cpu'))\n"
      "        seed: \"i64[][]cpu\" = torch.ops.prims.inductor_lookup_seed.default(seeds, 0)\n"
      "        rand: \"f32[4][1]cpu\" = torch.ops.prims.inductor_random.default([4], seed, "
      "'rand')\n"
      "        mul_4: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(exp, rand)\n");
  const AdjStageSummary *summary = adj_stage_summaries_get (find_summaries (document), 1);

  g_assert_cmpint (summary->check, ==, ADJ_CHECK_NONE);
  g_assert_nonnull (strstr (summary->text, "random"));
}

/* A fault in a node before the draw is reported nevertheless, and so is one after numbers that
 * both draw. */
static void
test_summaries_of_fault_beside_draws (void)
{
  static const char line[] = "        rand: \"f32[4][1]cpu\" = torch.ops.aten.rand.default([4], "
                             "dtype = torch.float32, device = device(type='cpu'), pin_memory = "
                             "False)\n";
  static const char seeds[] =
      "        seeds: \"i64[1][1]cpu\" = torch.ops.prims.inductor_seeds.default(1, "
      "device(type='cpu'))\n"
      "        seed: \"i64[][]cpu\" = torch.ops.prims.inductor_lookup_seed.default(seeds, 0)\n"
      "        rand: \"f32[4][1]cpu\" = torch.ops.prims.inductor_random.default([4], seed, "
      "'rand')\n";
  static const struct
  {
    const char *draws[2], *calls[2], *with[2], *first;
  } rows[] = {
    { { line, seeds }, { "sin.default", "cos.default" }, { "mul", "mul" }, "part" },
    { { line, line }, { "sin.default", "sin.default" }, { "mul", "add" }, "mul_4" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      char *lines[2];
      g_autofree char *text = g_strdup_printf ("first differs at %s", rows[i].first);
      g_autoptr (AdjDocument) document = NULL;
      const AdjStageSummary *summary;

      for (guint k = 0; k < 2; k++)
        lines[k] = g_strdup_printf (
            "        part: \"f32[4][1]cpu\" = torch.ops.aten.%s(exp)\n%s"
            "        mul_4: \"f32[4][1]cpu\" = torch.ops.aten.%s.Tensor(part, rand)\n",
            rows[i].calls[k], rows[i].draws[k], rows[i].with[k]);
      document = open_pair (lines[0], lines[1]);
      summary = adj_stage_summaries_get (find_summaries (document), 1);
      g_assert_cmpint (summary->check, ==, ADJ_CHECK_DIFFERS);
      g_assert_cmpstr (summary->text, ==, text);
      g_free (lines[0]);
      g_free (lines[1]);
    }
}

/* Equal changes are one row; each row has nodes, and a kind with a sign. */
static void
test_changes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      adj_graph_parse ("class GraphModule(torch.nn.Module):\n"
                       "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                       "        sin = torch.ops.aten.sin.default(x)\n"
                       "        sin_1 = torch.ops.aten.sin.default(x)\n"
                       "        sin_2 = torch.ops.aten.sin.default(x)\n"
                       "        exp = torch.ops.aten.exp.default(x)\n"
                       "        mul = torch.ops.aten.mul.Tensor(sin_1, sin_2)\n"
                       "        add = torch.ops.aten.add.Tensor(mul, sin)\n"
                       "        return (add,)\n",
                       -1, adj_op_find, NULL, &error);
  AdjPipelineOptions options = { .steps = "cse,dce" };
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (GListModel) merged = NULL;
  g_autoptr (GListModel) dropped = NULL;
  g_autoptr (GListModel) none = NULL;
  g_autoptr (AdjStageChange) row = NULL;
  g_autoptr (AdjStageChange) exp = NULL;

  g_assert_no_error (error);
  adj_pipeline_run (graph, "user", &options, &result, NULL, &error);
  g_assert_no_error (error);

  none = adj_stage_changes_list (result.recording, 0);
  g_assert_cmpuint (g_list_model_get_n_items (none), ==, 0);
  merged = adj_stage_changes_list (result.recording, 1);
  row = g_list_model_get_item (merged, 0);
  g_assert_cmpint (adj_stage_change_get_kind (row), ==, ADJ_CHANGE_REMOVED);
  g_assert_cmpuint (adj_stage_change_get_count (row), ==, 2);
  g_assert_cmpstr (adj_stage_change_get_what (row), ==, "sin_1, sin_2");
  g_assert_cmpstr (adj_stage_change_get_why (row), ==, "the same call as sin");
  g_assert_false (adj_node_id_is_valid (adj_stage_change_get_after (row)));
  g_assert_cmpuint (adj_stage_change_get_before (row).index, ==, 2);

  dropped = adj_stage_changes_list (result.recording, 2);
  g_assert_cmpuint (g_list_model_get_n_items (dropped), ==, 1);
  exp = g_list_model_get_item (dropped, 0);
  g_assert_cmpstr (adj_stage_change_get_what (exp), ==, "exp");
}

/* A saved trace contains the stages that the window shows. */
static void
test_saves (void)
{
  g_autoptr (AdjDocument) document = open_traced ("graphs/mlp.adjoint", "joint");
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "traced.adjoint", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;

  g_assert_true (adj_document_is_unsaved (document));
  adj_document_save (document, path, NULL);
  adj_wait_for (document);
  g_assert_false (adj_document_is_unsaved (document));
  bundle = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_recording_get_n_stages (adj_bundle_get_recording (bundle)), ==, 3);
}

static void
count_remark (AdjDocument *document, const char *text, guint *n)
{
  ++*n;
}

/* Opening asks nothing: a file of stages opens at its first stage. */
static void
test_opens_without_joint (void)
{
  g_autoptr (AdjDocument) source = adj_wait_open ("graphs/mlp.adjoint", "backward");
  g_autoptr (AdjDocument) document = adj_document_new ();
  const AdjPipelineOptions options = { .steps = "cse,dce" };
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "stages.adjoint", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (GError) error = NULL;
  guint n_remarks = 0;

  adj_pipeline_run (adj_document_get_graph (source)->graph, "backward", &options, &result, NULL,
                    &error);
  g_assert_no_error (error);
  bundle = adj_pipeline_result_to_bundle (&result, NULL, NULL);
  adj_format_for_path (path, NULL)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_signal_connect (document, "remark", G_CALLBACK (count_remark), &n_remarks);
  adj_document_open (document, file, NULL);
  adj_wait_for (document);
  g_assert_no_error (adj_document_get_error (document));
  g_assert_cmpuint (n_remarks, ==, 0);
  g_assert_cmpint (adj_stages_get_current (document), ==, 0);
  g_assert_cmpstr (adj_document_get_graph (document)->role, ==, "backward");
}

/* Nor is a subgraph of another graph opened first, although it is first in the file. */
static void
test_opens_without_stages (void)
{
  static const char *const ids[] = { "0-0-part", "0-0-backward" };
  static const char *const roles[] = { "subgraph", "backward" };
  g_autoptr (AdjDocument) document = adj_document_new ();
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (
      "class G(torch.nn.Module):\n    def forward(self, x):\n        return x\n");
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "parts.adjoint", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (AdjBundle) bundle = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      AdjBundleGraph entry = { .id = ids[i], .role = roles[i], .graph = graph, .rank = -1 };

      g_assert_true (adj_bundle_builder_add_graph (builder, &entry, NULL));
    }
  bundle = adj_bundle_builder_end (builder, NULL);
  g_assert_true (adj_format_for_path (path, NULL)->save (bundle, path, NULL, NULL, NULL));
  adj_document_open (document, file, NULL);
  adj_wait_for (document);
  g_assert_cmpstr (adj_document_get_graph (document)->id, ==, "0-0-backward");
}

static void
test_failure (void)
{
  g_autoptr (AdjDocument) source = adj_document_new ();
  g_autoptr (AdjDocument) document = adj_document_new ();
  static const char text[] = "class GraphModule(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                             "        foo = torch.ops.mine.foo.default(x)\n"
                             "        return (foo,)\n";
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));

  adj_document_open_text (source, bytes);
  adj_wait_for (source);
  adj_document_open_trace (document, source, NULL);
  adj_wait_for (document);
  g_assert_nonnull (adj_document_get_error (document));
  g_assert_nonnull (strstr (adj_document_get_error (document)->message, "mine.foo"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/stages/steps", test_steps);
  g_test_add_func ("/ui/stages/steps-through-log", test_steps_through_log);
  g_test_add_func ("/ui/stages/summaries-of-log", test_summaries_of_log);
  g_test_add_func ("/ui/stages/provenance", test_provenance);
  g_test_add_func ("/ui/stages/one-line", test_one_line);
  g_test_add_func ("/ui/stages/blocks", test_blocks);
  g_test_add_func ("/ui/stages/summaries-of-fault", test_summaries_of_fault);
  g_test_add_func ("/ui/stages/summaries-of-module-calls", test_summaries_of_module_calls);
  g_test_add_func ("/ui/stages/titles", test_titles);
  g_test_add_func ("/ui/stages/summaries-of-draws", test_summaries_of_draws);
  g_test_add_func ("/ui/stages/summaries-of-fault-beside-draws",
                   test_summaries_of_fault_beside_draws);
  g_test_add_func ("/ui/stages/changes", test_changes);
  g_test_add_func ("/ui/stages/saves", test_saves);
  g_test_add_func ("/ui/stages/opens-without-joint", test_opens_without_joint);
  g_test_add_func ("/ui/stages/opens-without-stages", test_opens_without_stages);
  g_test_add_func ("/ui/stages/failure", test_failure);
  return g_test_run ();
}
