/* SPDX-License-Identifier: MIT */

/* bench-run FILE…: times the interpreter on captures, one JSON line per graph: the median of
 * several forward, backward and joint runs on inputs drawn according to the annotations. */

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "adjoint.h"

#define N_RUNS 9

static int
ascending (const void *a, const void *b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

static void
bench (AdjBundle *bundle, const char *file, const char *role)
{
  AdjSessionRun run = { .bundle = bundle, .random = TRUE, .seed = 1 };
  gint64 times[N_RUNS];
  guint64 peak = 0;

  run.graph = adj_bundle_find_graph (bundle, role, NULL);
  if (run.graph == NULL)
    return;
  for (guint i = 0; i < N_RUNS; i++)
    {
      g_autoptr (GError) error = NULL;
      AdjRunResult result = { 0 };

      if (!adj_session_run (&run, &result, NULL, NULL, &error))
        g_error ("%s#%s: %s", file, role, error->message);
      times[i] = result.total_ns;
      peak = result.peak_bytes;
      adj_run_result_clear (&result);
    }
  qsort (times, N_RUNS, sizeof times[0], ascending);
  printf ("{\"bench\": \"run\", \"by\": \"interpreter\", \"graph\": \"%s#%s\", \"nodes\": %u, "
          "\"threads\": %d, \"ms\": %.3f, \"peak_kib\": %" G_GUINT64_FORMAT "}\n",
          file, role, adj_graph_get_n_calls (run.graph->graph), omp_get_max_threads (),
          (double) times[N_RUNS / 2] / 1e6, peak / 1024);
  fflush (stdout);
}

int
main (int argc, char **argv)
{
  static const char *const roles[] = { "forward", "backward", "joint" };

  for (int i = 1; i < argc; i++)
    {
      g_autofree char *name = g_path_get_basename (argv[i]);
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjBundle) bundle = adj_bundle_load (argv[i], NULL, &error);

      if (bundle == NULL)
        g_error ("%s", error->message);
      for (guint k = 0; k < G_N_ELEMENTS (roles); k++)
        bench (bundle, name, roles[k]);
    }
  return 0;
}
