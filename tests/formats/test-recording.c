/* SPDX-License-Identifier: MIT */
/* Recordings of stages: written, read back, and refused when damaged. */

#include <glib.h>
#include <string.h>

#include "adjoint.h"
#include "passes/adj-pass-internal.h"
#include "support/adj-test.h"

#define HEAD "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4][1]cpu\"):\n"

/* Makes x → cse and a failed stage after it. */
static AdjBundle *
make_bundle (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      adj_graph_parse (HEAD "        sin = torch.ops.aten.sin.default(x)\n"
                            "        sin_1 = torch.ops.aten.sin.default(x)\n"
                            "        mul = torch.ops.aten.mul.Tensor(sin, sin_1)\n"
                            "        return (mul,)\n",
                       -1, adj_op_find, NULL, &error);
  g_autoptr (AdjRecording) recording = adj_recording_new ();
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  AdjPassStep steps[] = { { (char *) "hash", (char *) "3 calls\n2 of them \"sin\"", 56 },
                          { (char *) "merge", (char *) "", 7 } };
  AdjPassResult result;

  g_assert_no_error (error);
  adj_pass_run (&adj_pass_cse, NULL, graph, &result, &error);
  g_assert_no_error (error);
  adj_recording_add (recording, &(AdjStage){ .name = (char *) "dynamo",
                                             .summary = (char *) "what was \"loaded\"",
                                             .graph = graph,
                                             .from = -1,
                                             .ns = -1 });
  adj_recording_add (recording, &(AdjStage){ .name = (char *) "cse",
                                             .graph = result.graph,
                                             .from = 0,
                                             .n_notes = result.n_notes,
                                             .notes = result.notes,
                                             .n_steps = 2,
                                             .steps = steps,
                                             .ns = 1234 });
  adj_recording_add (recording, &(AdjStage){ .name = (char *) "joint",
                                             .failure = (char *) "no gradient",
                                             .from = 1,
                                             .n_blamed = 2,
                                             .blamed = (AdjNodeId[]){ { 2 }, { 0 } } });
  adj_bundle_builder_add_graph (
      builder,
      &(AdjBundleGraph){ .id = "0-0-dynamo", .role = "dynamo", .rank = -1, .graph = graph },
      &error);
  adj_bundle_builder_add_graph (
      builder,
      &(AdjBundleGraph){ .id = "0-0-cse", .role = "cse", .rank = -1, .graph = result.graph },
      &error);
  g_assert_no_error (error);
  adj_bundle_builder_set_recording (builder, recording);
  adj_pass_result_clear (&result);
  return adj_bundle_builder_end (builder, NULL);
}

static void
test_round_trip (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "r.adjoint", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) saved = make_bundle ();
  g_autoptr (AdjBundle) bundle = NULL;
  AdjRecording *recording;
  const AdjStage *cse, *failed;

  adj_format_for_path (path, NULL)->save (saved, path, NULL, NULL, &error);
  g_assert_no_error (error);
  bundle = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  recording = adj_bundle_get_recording (bundle);
  g_assert_nonnull (recording);
  g_assert_cmpuint (adj_recording_get_n_stages (recording), ==, 3);
  g_assert_cmpstr (adj_recording_get_stage (recording, 0)->summary, ==, "what was \"loaded\"");
  g_assert_cmpint (adj_recording_get_stage (recording, 0)->ns, ==, -1);
  cse = adj_recording_get_stage (recording, 1);
  g_assert_true (cse->graph == adj_bundle_find_graph (bundle, "cse", NULL)->graph);
  g_assert_cmpint (cse->ns, ==, 1234);
  g_assert_cmpint (cse->from, ==, 0);
  g_assert_cmpuint (cse->n_notes, ==, 1);
  g_assert_cmpuint (cse->notes[0].before.index, ==, 2);
  g_assert_cmpuint (cse->notes[0].after.index, ==, 1);
  g_assert_cmpstr (cse->notes[0].reason, ==, "the same call as sin");
  g_assert_cmpuint (adj_recording_trace_origin (recording, 1, (AdjNodeId){ 2 }, 0).index, ==, 3);
  g_assert_cmpuint (cse->n_steps, ==, 2);
  g_assert_cmpstr (cse->steps[0].name, ==, "hash");
  g_assert_cmpstr (cse->steps[0].note, ==, "3 calls\n2 of them \"sin\"");
  g_assert_cmpint (cse->steps[0].ns, ==, 56);
  g_assert_cmpstr (cse->steps[1].note, ==, "");
  failed = adj_recording_get_stage (recording, 2);
  g_assert_null (failed->graph);
  g_assert_cmpstr (failed->failure, ==, "no gradient");
  g_assert_cmpuint (failed->n_blamed, ==, 2);
  g_assert_cmpuint (failed->blamed[0].index, ==, 2);
  g_assert_cmpuint (failed->blamed[1].index, ==, 0);
}

/* Replaces recording.json in the folder form and expects @message. */
static void
check_refused (const char *json, const char *message)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "r.adjoint/", NULL);
  g_autofree char *entry = g_build_filename (path, "recording.json", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) saved = make_bundle ();

  adj_format_for_path (path, NULL)->save (saved, path, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (g_file_set_contents (entry, json, -1, NULL));
  g_assert_null (adj_bundle_load (path, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_nonnull (strstr (error->message, "recording.json:"));
  if (strstr (error->message, message) == NULL)
    g_error ("'%s' does not say '%s'", error->message, message);
}

static void
test_damaged (void)
{
  check_refused ("{", "");
  check_refused ("{}", "\"stages\" must be an array");
  check_refused ("{\"stages\": [{\"name\": \"a\"}]}", "needs a name, and a graph");
  check_refused ("{\"stages\": [{\"name\": \"a\", \"graph\": \"nowhere\"}]}", "needs a name");
  check_refused ("{\"stages\": [{\"name\": \"a\", \"graph\": \"0-0-cse\", \"from\": 0}]}",
                 "comes from an earlier one");
  check_refused ("{\"stages\": [{\"name\": \"a\", \"graph\": \"0-0-cse\", \"notes\": [[null, 99, "
                 "\"x\"]]}]}",
                 "a node that is not there");
  check_refused ("{\"stages\": [{\"name\": \"a\", \"graph\": \"0-0-cse\", \"notes\": [[0]]}]}",
                 "a note is");
  check_refused ("{\"stages\": [{\"name\": \"a\", \"failure\": \"b\", \"blamed\": 1}]}",
                 "\"blamed\" must be an array");
  check_refused ("{\"stages\": [{\"name\": \"a\", \"failure\": \"b\", \"blamed\": [0]}]}",
                 "a node that is not there");
  check_refused ("{\"stages\": [{\"name\": \"a\", \"graph\": \"0-0-cse\"}, {\"name\": \"a\", "
                 "\"failure\": \"b\", \"from\": 0, \"blamed\": [99]}]}",
                 "a node that is not there");
  check_refused ("{\"stages\": [{\"name\": \"a\", \"graph\": \"0-0-cse\", \"steps\": {}}]}",
                 "\"steps\" must be an array");
  check_refused ("{\"stages\": [{\"name\": \"a\", \"graph\": \"0-0-cse\", \"steps\": [[\"a\", "
                 "\"b\", \"c\"]]}]}",
                 "a step is");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/recording/round-trip", test_round_trip);
  g_test_add_func ("/formats/recording/damaged", test_damaged);
  return g_test_run ();
}
