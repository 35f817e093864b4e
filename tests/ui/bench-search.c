/* SPDX-License-Identifier: MIT */

/* Times searches in a joint graph of a deep model whose modules are closed: milliseconds of wall
 * time and of CPU time, one JSON line for each query. */

#include <stdlib.h>
#include <time.h>

#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "model/adj-search.h"
#include "support/layered-graph.h"

#define N_RUNS 15

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

int
main (int argc, char *argv[])
{
  guint n_layers = argc > 1 ? (guint) g_ascii_strtoull (argv[1], NULL, 10) : 640;
  static const AdjLayoutOptions closed = { .fold_depth = ADJ_FOLD_BY_SIZE };
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (n_layers, FALSE);
  g_autoptr (AdjScene) scene = adj_layout_mirror (graph, &closed, NULL, NULL, NULL);
  static const char *const queries[] = { "sin", "op:mul role:saved", "module:attn shape:64",
                                         "nowhere", "bytes>1k dtype:float32" };

  for (guint q = 0; q < G_N_ELEMENTS (queries); q++)
    {
      double ms[N_RUNS], cpu[N_RUNS];
      guint n = 0;

      for (guint i = 0; i < N_RUNS; i++)
        {
          gint64 begin = g_get_monotonic_time ();
          clock_t cpu_begin = clock ();
          g_autoptr (GArray) found = adj_search_run (graph, scene, queries[q]);

          ms[i] = (g_get_monotonic_time () - begin) / 1e3;
          cpu[i] = (double) (clock () - cpu_begin) * 1e3 / CLOCKS_PER_SEC;
          n = found->len;
        }
      qsort (ms, N_RUNS, sizeof *ms, compare);
      qsort (cpu, N_RUNS, sizeof *cpu, compare);
      g_print ("{\"bench\": \"search\", \"nodes\": %u, \"query\": \"%s\", \"found\": %u, "
               "\"median_ms\": %.2f, \"cpu_ms\": %.2f, \"max_ms\": %.2f, \"limit_ms\": 50}\n",
               adj_graph_get_n_nodes (graph), queries[q], n, ms[N_RUNS / 2], cpu[N_RUNS / 2],
               ms[N_RUNS - 1]);
    }
  return 0;
}
