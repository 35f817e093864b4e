/* SPDX-License-Identifier: MIT */

/* Measures nodes per second when graphs are traced again with fake tensors, one JSON line each:
 * the median of many runs in CPU time, which a busy machine disturbs less. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "adjoint.h"
#include "ir/adj-builder.h"
#include "support/adj-test.h"

#define N_RUNS 21

static double
get_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static int
ascending (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

static void
bench (const char *name, AdjGraph *graph, guint n_repeats)
{
  guint n_nodes = adj_graph_get_n_nodes (graph);
  double times[N_RUNS];

  for (guint run = 0; run < N_RUNS; run++)
    {
      double start = get_seconds ();

      for (guint i = 0; i < n_repeats; i++)
        {
          g_autoptr (GError) error = NULL;
          g_autoptr (AdjGraph) again = adj_retrace (graph, NULL, &error);

          if (again == NULL || adj_graph_get_n_nodes (again) != n_nodes)
            g_error ("%s: %s", name, error != NULL ? error->message : "another graph");
        }
      times[run] = (get_seconds () - start) / n_repeats;
    }
  qsort (times, N_RUNS, sizeof times[0], ascending);
  printf ("{\"bench\": \"trace\", \"case\": \"%s\", \"nodes\": %u, \"ms\": %.3f, "
          "\"nodes_per_s\": %.0f}\n",
          name, n_nodes, times[N_RUNS / 2] * 1e3, n_nodes / times[N_RUNS / 2]);
}

/* Repeats the calls of @graph @n_layers times on the same inputs. */
static AdjGraph *
stack (const AdjGraph *graph, guint n_layers)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBuilder) builder =
      adj_builder_new ("Stack", adj_graph_get_symbols (graph), adj_op_find);
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, n);
  g_autoptr (GArray) results = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  AdjValue output;
  AdjGraph *made;

  for (guint layer = 0; layer < n_layers; layer++)
    {
      const AdjValue *returned =
          &adj_graph_get_node (graph, adj_graph_get_output (graph).index)->args.items[0];

      for (guint i = 0; i < n; i++)
        {
          AdjOpcode opcode = adj_graph_get_node (graph, i)->opcode;

          if (opcode == ADJ_OPCODE_PLACEHOLDER ? layer == 0 : opcode != ADJ_OPCODE_OUTPUT)
            adj_builder_copy (builder, graph, i, map);
        }
      for (guint i = 0; i < returned->n; i++)
        if (returned->items[i].kind == ADJ_VALUE_NODE)
          {
            AdjValue value = ADJ_NODE (map[returned->items[i].node.index]);

            g_array_append_val (results, value);
          }
    }
  output =
      (AdjValue){ .kind = ADJ_VALUE_LIST, .n = results->len, .items = (gpointer) results->data };
  adj_builder_output (builder, &output);
  made = adj_builder_seal (builder, &error);
  if (made == NULL)
    g_error ("%s", error->message);
  return made;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = adj_test_data_path ("graphs/gpt2.adjoint");
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  AdjGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL)->graph;
  AdjGraph *forward = adj_bundle_find_graph (bundle, "forward", NULL)->graph;
  g_autoptr (AdjGraph) deep = stack (forward, 24);

  bench ("gpt2, 2 layers, joint", joint, 20);
  bench ("gpt2, 2 layers, forward", forward, 20);
  bench ("gpt2, 48 layers, forward", deep, 2);
  return 0;
}
