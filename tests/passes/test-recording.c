/* SPDX-License-Identifier: MIT */
/* Recordings of passes: origins and notes of nodes. */

#include <glib.h>

#include "adjoint.h"
#include "passes/adj-pass-internal.h"

#define HEAD "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4][1]cpu\"):\n"

static AdjRecording *
record (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      adj_graph_parse (HEAD "        dead = torch.ops.aten.exp.default(x)\n"
                            "        sin = torch.ops.aten.sin.default(x)\n"
                            "        sin_1 = torch.ops.aten.sin.default(x)\n"
                            "        mul = torch.ops.aten.mul.Tensor(sin, sin_1)\n"
                            "        return (mul,)\n",
                       -1, adj_op_find, NULL, &error);
  static const AdjPass *const passes[] = { &adj_pass_cse, &adj_pass_dce };
  AdjRecording *recording = adj_recording_new ();
  AdjGraph *last = graph;

  g_assert_no_error (error);
  adj_recording_add (recording,
                     &(AdjStage){ .name = (char *) "source", .graph = graph, .from = -1 });
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      AdjPassResult result;
      guint index;

      adj_pass_run (passes[i], NULL, last, &result, &error);
      g_assert_no_error (error);
      index = adj_recording_add (recording, &(AdjStage){ .name = (char *) passes[i]->name,
                                                         .graph = result.graph,
                                                         .from = (gint) i,
                                                         .n_notes = result.n_notes,
                                                         .notes = result.notes });
      adj_pass_result_clear (&result);
      last = adj_recording_get_stage (recording, index)->graph;
    }
  return recording;
}

static void
test_origins (void)
{
  g_autoptr (AdjRecording) recording = record ();
  const AdjStage *last = adj_recording_get_stage (recording, 2);
  AdjNodeId mul = adj_graph_find_node (last->graph, "mul");

  g_assert_cmpuint (adj_graph_get_n_calls (last->graph), ==, 2);
  g_assert_cmpuint (mul.index, ==, 2);
  g_assert_cmpuint (adj_recording_trace_origin (recording, 2, mul, 1).index, ==, 3);
  g_assert_cmpuint (adj_recording_trace_origin (recording, 2, mul, 0).index, ==, 4);
  g_assert_false (adj_node_id_is_valid (adj_recording_trace_origin (recording, 0, mul, 2)));
}

static void
test_keeps_notes (void)
{
  g_autoptr (AdjRecording) recording = record ();

  g_assert_cmpint (adj_recording_find (recording, "cse"), ==, 1);
  g_assert_cmpint (adj_recording_find (recording, "dce"), ==, 2);
  g_assert_cmpint (adj_recording_find (recording, "joint"), ==, -1);
  g_assert_cmpuint (adj_recording_get_stage (recording, 1)->n_notes, ==, 1);
  g_assert_cmpstr (adj_recording_get_stage (recording, 1)->notes[0].reason, ==,
                   "the same call as sin");
  g_assert_cmpuint (adj_recording_get_stage (recording, 2)->n_notes, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/recording/origins", test_origins);
  g_test_add_func ("/passes/recording/notes", test_keeps_notes);
  return g_test_run ();
}
