/* SPDX-License-Identifier: MIT */

/* A user's program, compiled against an installed tree: runs the joint graph of a capture and
 * prints its loss beside the loss PyTorch recorded. */

#include <adjoint.h>
#include <stdio.h>

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (argv[1], NULL, &error);
  AdjSessionRun run = { .bundle = bundle };
  AdjRunResult result = { 0 };

  if (bundle != NULL)
    run.graph = adj_bundle_find_graph (bundle, "joint", &error);
  if (run.graph == NULL || !adj_session_run (&run, &result, NULL, NULL, &error))
    {
      fprintf (stderr, "%s\n", error->message);
      return 1;
    }
  printf (
      "%.7g %.7g\n", adj_tensor_data_get_double (result.output.items[0].data, 0),
      adj_tensor_data_get_double (adj_bundle_find_call (bundle, run.graph, 0)->outputs[0].data, 0));
  adj_run_result_clear (&result);
  return 0;
}
