/* SPDX-License-Identifier: MIT */
/* The graphs of a log as stages, and the gradients known from their joint graph. */

#include "adjoint.h"
#include "session/adj-region-stages.h"
#include "session/adj-wanted-gradients.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static AdjBundle *
load_log (void)
{
  g_autofree char *path = adj_test_data_path ("graphs/torch-trace");
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

static const AdjBundleGraph *
find (AdjBundle *bundle, const char *id)
{
  const AdjBundleGraph *graph = adj_bundle_find_graph (bundle, id, NULL);

  g_assert_nonnull (graph);
  return graph;
}

/* The previous stage of each graph follows from its role and inputs. */
static void
test_log (void)
{
  static const struct
  {
    const char *name;
    gint from;
  } wanted[] = { { "dynamo", -1 },           { "joint", 0 },
                 { "forward", 1 },           { "backward", 1 },
                 { "fx_graph_runnable", 2 }, { "post_grad", 4 },
                 { "fx_graph_runnable", 3 }, { "post_grad", 6 } };
  g_autoptr (AdjBundle) bundle = load_log ();

  for (guint region = 0; region < 2; region++)
    {
      g_autoptr (AdjRecording) stages = adj_region_stages_new (
          bundle, find (bundle, region == 0 ? "0-0-backward" : "0-1-dynamo"));

      g_assert_cmpuint (adj_recording_get_n_stages (stages), ==, G_N_ELEMENTS (wanted));
      for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
        {
          g_assert_cmpstr (adj_recording_get_stage (stages, i)->name, ==, wanted[i].name);
          g_assert_cmpint (adj_recording_get_stage (stages, i)->from, ==, wanted[i].from);
        }
      g_assert_true (adj_region_stages_contain (
          stages, find (bundle, region == 0 ? "0-0-joint" : "0-1-joint")->graph));
      g_assert_false (adj_region_stages_contain (
          stages, find (bundle, region == 0 ? "0-1-joint" : "0-0-joint")->graph));
    }
}

/* A recording made here is kept unchanged. */
static void
test_recording (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("mlp");
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjBundle) made = NULL;
  g_autoptr (AdjRecording) stages = NULL;

  g_assert_true (adj_pipeline_run (joint->graph, "joint", NULL, &result, NULL, NULL));
  made = adj_pipeline_result_to_bundle (&result, bundle, joint);
  stages = adj_region_stages_new (made, adj_bundle_find_graph (made, "backward", NULL));
  g_assert_true (stages == result.recording);
}

/* The joint graph returns gradients of 6 parameters; the log's text of Dynamo's graph does not
 * mention gradients. */
static void
test_gradients (void)
{
  g_autoptr (AdjBundle) bundle = load_log ();
  const AdjBundleGraph *dynamo = find (bundle, "0-0-dynamo");
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) wanted = NULL;
  g_autoptr (AdjGraph) graph = NULL;
  g_auto (AdjPipelineResult) result = { 0 };
  AdjGradientsKnown known;
  guint n = 0;

  g_assert_cmpint (adj_wanted_gradients_find (bundle, dynamo, &wanted), ==,
                   ADJ_GRADIENTS_FROM_JOINT);
  for (guint i = 0; i < wanted->len; i++)
    n += g_array_index (wanted, gboolean, i);
  g_assert_cmpuint (n, ==, 6);
  graph = adj_wanted_gradients_apply (bundle, dynamo, ADJ_GRADIENTS_AS_KNOWN, &known, &error);
  g_assert_no_error (error);
  g_assert_true (adj_graph_equal_structure (graph, dynamo->graph));
  g_assert_true (adj_pipeline_run (graph, "dynamo", NULL, &result, NULL, &error));
  g_assert_cmpstr (adj_recording_get_stage (result.recording, 1)->name, ==, "joint");
  g_assert_cmpuint (adj_recording_get_n_stages (result.recording), ==, 4);
}

/* Without a joint graph the wanted gradients are unknown; those of parameters can be requested. */
static void
test_unknown (void)
{
  static const char *const text = "class G(torch.nn.Module):\n"
                                  "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                                  "        sin = torch.ops.aten.sin.default(x)\n"
                                  "        return (sin,)\n";
  g_autoptr (AdjBundle) bundle = adj_bundle_load_text (text, -1, "text", NULL);
  const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, 0);
  AdjGradientsKnown known;
  g_autoptr (AdjGraph) same =
      adj_wanted_gradients_apply (bundle, graph, ADJ_GRADIENTS_AS_KNOWN, &known, NULL);
  g_autoptr (AdjGraph) guessed =
      adj_wanted_gradients_apply (bundle, graph, ADJ_GRADIENTS_GUESSED, NULL, NULL);

  g_assert_cmpint (known, ==, ADJ_GRADIENTS_UNKNOWN);
  g_assert_true (same == graph->graph);
  g_assert_true (adj_graph_get_node (guessed, 0)->val.meta->requires_grad);
  g_assert_cmpstr (adj_graph_get_node (guessed, 1)->name, ==, "sin");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session/region-stages/log", test_log);
  g_test_add_func ("/session/region-stages/recording", test_recording);
  g_test_add_func ("/session/region-stages/gradients", test_gradients);
  g_test_add_func ("/session/region-stages/unknown", test_unknown);
  return g_test_run ();
}
