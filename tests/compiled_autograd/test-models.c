/* SPDX-License-Identifier: MIT */
/* Models as Dynamo read them (models/make.py): their backward, captured here, is what PyTorch of
 * the same release captured, node for node; and what it replayed is in its order. */

#include "compiled_autograd/capture.h"
#include "ir/adj-graph.h"
#include "session/adj-pipeline.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static AdjBundle *
load (const char *name, const char *release)
{
  g_autofree char *file = g_strdup_printf ("%s-%s.adjoint", name, release);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "compiled_autograd", "models", file, NULL);

  return adj_test_load_bundle (path);
}

static void
assert_is_pytorchs (AdjBundle *bundle, AdjGraph *graph)
{
  g_autofree char *theirs =
      graph_describe (adj_bundle_find_graph (bundle, "compiled_autograd", NULL)->graph);
  g_autofree char *ours = graph_describe (graph);

  if (!g_str_equal (ours, theirs))
    g_test_message ("should be\n%s\nbut is\n%s", theirs, ours);
  g_assert_true (g_str_equal (ours, theirs));
}

/* (transfer none): the last stage of what @release makes of the graph of @role. */
static AdjGraph *
run_order (AdjBundle *bundle, const char *role, const char *release, AdjPipelineResult *result)
{
  g_autofree char *steps = g_strconcat ("compiled-autograd=", release, NULL);
  const AdjPipelineOptions options = { .steps = steps };
  const AdjBundleGraph *entry = adj_bundle_find_graph (bundle, role, NULL);
  const AdjStage *last;
  g_autoptr (GError) error = NULL;

  adj_pipeline_run (entry->graph, role, &options, result, NULL, &error);
  g_assert_no_error (error);
  last = adj_recording_get_stage (result->recording,
                                  adj_recording_get_n_stages (result->recording) - 1);
  g_assert_null (last->failure);
  return last->graph;
}

typedef struct
{
  const char *name, *release;
} Model;

static void
is_captured_as_by_pytorch (gconstpointer data)
{
  const Model *model = data;
  g_autoptr (AdjBundle) bundle = load (model->name, model->release);
  g_auto (AdjPipelineResult) result = { NULL };

  assert_is_pytorchs (bundle, run_order (bundle, "dynamo", model->release, &result));
  g_assert_cmpuint (result.captures->len, ==, 1);
  g_assert_cmpuint (result.n_fallbacks, ==, 0);
}

/* Its custom function has sizes that nobody reads. */
static void
is_ordered_as_by_pytorch (gconstpointer release)
{
  g_autoptr (AdjBundle) bundle = load ("hooked", release);
  g_auto (AdjPipelineResult) result = { NULL };

  assert_is_pytorchs (bundle,
                      run_order (bundle, "compiled_autograd_pre_reordering", release, &result));
}

/* Nothing to differentiate, and an order that is not there: the stage says so, or the steps. */
static void
failures_are_told (void)
{
  g_autoptr (AdjGraph) graph =
      adj_test_parse_graph ("class G(torch.nn.Module):\n"
                            "    def forward(self, x: \"f32[3][1]cpu\"):\n"
                            "        sin: \"f32[3][1]cpu\" = torch.sin(x);  x = None\n"
                            "        return (sin,)\n");
  AdjPipelineOptions options = { .steps = "compiled-autograd=2.6" };
  g_auto (AdjPipelineResult) result = { NULL };
  AdjPipelineResult none;
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_pipeline_run (graph, "dynamo", &options, &result, NULL, &error));
  g_assert_cmpuint (adj_recording_get_n_stages (result.recording), ==, 2);
  g_assert_cmpstr (adj_recording_get_stage (result.recording, 1)->failure, ==,
                   "nothing in the graph requires a gradient: there is no backward to capture");
  options.steps = "compiled-autograd=3.0";
  g_assert_false (adj_pipeline_run (graph, "dynamo", &options, &none, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
}

int
main (int argc, char **argv)
{
  static const Model models[] = {
    { "attention", "2.6" },  { "images", "2.6" },  { "mixture", "2.6" },  { "steps", "2.6" },
    { "attention", "2.15" }, { "images", "2.15" }, { "mixture", "2.15" }, { "steps", "2.15" },
    { "spectral", "2.15" },  { "cells", "2.6" },   { "windows", "2.6" },  { "cells", "2.15" },
    { "windows", "2.15" },   { "buffers", "2.6" }, { "buffers", "2.15" }, { "edges", "2.6" },
    { "edges", "2.15" },     { "again", "2.6" },   { "again", "2.15" },   { "symbols", "2.6" },
    { "symbols", "2.15" },   { "layers", "2.6" },  { "layers", "2.15" },
  };

  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/compiled-autograd/models/%s-%s", models[i].name, models[i].release);

      g_test_add_data_func (path, &models[i], is_captured_as_by_pytorch);
    }
  g_test_add_data_func ("/compiled-autograd/models/order-2.6", "2.6", is_ordered_as_by_pytorch);
  g_test_add_data_func ("/compiled-autograd/models/order-2.15", "2.15", is_ordered_as_by_pytorch);
  g_test_add_func ("/compiled-autograd/models/failures", failures_are_told);
  return g_test_run ();
}
