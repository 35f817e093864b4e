/* SPDX-License-Identifier: MIT */

/* Opens a capture, lists its graphs, runs one on the inputs that PyTorch recorded and compares each
 * node with what PyTorch computed. */

#include <adjoint.h>
#include <math.h>
#include <stdio.h>

static gboolean
show (AdjBundle *bundle, const AdjBundleGraph *graph, GError **error)
{
  const AdjSessionRun run = { .bundle = bundle, .graph = graph };
  g_autoptr (AdjComparison) comparison = NULL;
  g_autofree char *summary = NULL;
  AdjRunResult result = { 0 };

  if (!adj_session_run (&run, &result, NULL, NULL, error))
    return FALSE;
  printf ("loss %.6f\n", adj_tensor_data_get_double (result.output.items[0].data, 0));
  adj_run_result_clear (&result);
  comparison = adj_session_compare_recorded (&run, TRUE, NAN, NAN, NULL, error);
  if (comparison == NULL)
    return FALSE;
  summary = adj_comparison_summarize (comparison);
  printf ("%s: %s\n", summary, adj_verdict_name (comparison->verdict));
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = argc > 1 ? adj_bundle_load (argv[1], NULL, &error) : NULL;
  const AdjBundleGraph *joint = NULL;

  for (guint i = 0; bundle != NULL && i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, i);

      printf ("%s: %u calls\n", graph->id, adj_graph_get_n_calls (graph->graph));
    }
  if (bundle != NULL)
    joint = adj_bundle_find_graph (bundle, "joint", &error);
  if (joint != NULL && show (bundle, joint, &error))
    return 0;
  fprintf (stderr, "%s\n", error != NULL ? error->message : "usage: open-and-run FILE");
  return 1;
}
