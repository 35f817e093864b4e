/* SPDX-License-Identifier: MIT */

/* Times the way from Dynamo's graph of GPT-2 to the joint graph by depth, one JSON line each:
 * the median of several runs in milliseconds of CPU time. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/deep.h"
#include "ir/adj-graph.h"

#define N_RUNS 9

static double
get_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * (double) now.tv_sec + 1e-6 * (double) now.tv_nsec;
}

static int
ascending (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

/* Does not count detach: PyTorch has four of them behind a softmax where Adjoint has one. */
static guint
count_calls (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_calls (graph);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    n -= g_str_equal (adj_graph_get_node (graph, i)->target, "torch.ops.aten.detach.default");
  return n;
}

static void
bench (AdjGraph *dynamo, guint n_layers)
{
  double times[N_RUNS];
  guint n_calls = 0;

  for (guint run = 0; run < N_RUNS; run++)
    {
      g_autoptr (GError) error = NULL;
      double start = get_ms ();
      g_autoptr (AdjAotGraph) aot = adj_aot_trace_graph (
          dynamo, &(AdjAotOptions){ .keep_input_mutations = TRUE }, NULL, &error);

      times[run] = get_ms () - start;
      if (aot == NULL || !adj_aot_graph_is_joint (aot))
        g_error ("%u layers: %s", n_layers, error != NULL ? error->message : "no joint graph");
      n_calls = count_calls (adj_aot_graph_get_graph (aot));
    }
  qsort (times, N_RUNS, sizeof times[0], ascending);
  printf ("{\"bench\": \"joint\", \"layers\": %u, \"dynamo_nodes\": %u, \"nodes\": %u, "
          "\"ms\": %.3f}\n",
          n_layers, adj_graph_get_n_calls (dynamo), n_calls, times[N_RUNS / 2]);
  fflush (stdout);
}

int
main (void)
{
  static const guint layers[] = { 2, 12, 48 };

  for (guint i = 0; i < G_N_ELEMENTS (layers); i++)
    {
      g_autoptr (AdjGraph) deep = deep_gpt2_new (layers[i]);

      bench (deep, layers[i]);
    }
  return 0;
}
