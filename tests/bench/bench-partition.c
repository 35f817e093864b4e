/* SPDX-License-Identifier: MIT */

/* Times the partitioning of deep joint graphs, one JSON line each: the minimum of several runs
 * of CPU time.  With a folder as argument it also writes the flow networks there for another
 * solver. */

#include <stdio.h>
#include <time.h>

#include "adjoint.h"
#include "partition/cut-private.h"
#include "partition/max-flow.h"
#include "support/layered-graph.h"

#define N_RUNS 5

static double
get_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static double
time_partition (const char *partitioner, AdjGraph *joint, const AdjPartitionOptions *options)
{
  double best = G_MAXDOUBLE;

  for (guint run = 0; run < N_RUNS; run++)
    {
      double start = get_seconds ();
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjPartition) partition =
          adj_partition (adj_partitioner_find (partitioner, NULL), joint, options, &error);

      if (partition == NULL)
        g_error ("%s: %s", partitioner, error->message);
      best = MIN (best, get_seconds () - start);
    }
  return best;
}

static void
write_network (const char *path, const GArray *edges, guint n_vertices)
{
  FILE *file = fopen (path, "w");

  if (file == NULL)
    g_error ("cannot write %s", path);
  fprintf (file, "%u\n", n_vertices);
  for (guint i = 0; i < edges->len; i++)
    {
      const AdjFlowEdge *edge = &g_array_index (edges, AdjFlowEdge, i);

      fprintf (file, "%u %u %" G_GINT64_FORMAT "\n", edge->from, edge->to, edge->capacity);
    }
  fclose (file);
}

/* Times the cut alone. */
static void
bench_cut (AdjGraph *graph, const AdjPartitionOptions *options, guint n_layers, const char *folder)
{
  CutRules rules = cut_rules_from_options (options);
  g_autoptr (Joint) joint = joint_new (graph, options, NULL);
  guint n_vertices;
  g_autoptr (GArray) edges = cut_list_edges (joint, &rules, &n_vertices);
  g_autofree guint8 *side = g_new (guint8, n_vertices);
  double best = G_MAXDOUBLE;
  gint64 value = 0;

  for (guint run = 0; run < N_RUNS; run++)
    {
      double start = get_seconds ();

      value = adj_min_cut (n_vertices, (const AdjFlowEdge *) (gpointer) edges->data, edges->len, 0,
                           1, ADJ_CUT_NEAREST_SINK, NULL, side);
      best = MIN (best, get_seconds () - start);
    }
  printf ("{\"bench\": \"cut\", \"layers\": %u, \"vertices\": %u, \"edges\": %u, "
          "\"value\": %" G_GINT64_FORMAT ", \"ms\": %.3f}\n",
          n_layers, n_vertices, edges->len, value, best * 1e3);
  if (folder != NULL)
    {
      g_autofree char *name = g_strdup_printf ("%u.network", n_layers);
      g_autofree char *path = g_build_filename (folder, name, NULL);

      write_network (path, edges, n_vertices);
    }
}

static guint
count_tangents (const AdjGraph *graph)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    n += g_str_has_prefix (adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->target,
                           "tangents");
  return n;
}

static void
bench (guint n_layers, const char *folder)
{
  g_autoptr (AdjGraph) joint = adj_test_layered_graph (n_layers, FALSE);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  static const char *const partitioners[] = { "default", "min-cut" };

  options.num_fwd_outputs = (gint) count_tangents (joint);
  for (guint i = 0; i < G_N_ELEMENTS (partitioners); i++)
    printf ("{\"bench\": \"partition\", \"partitioner\": \"%s\", \"layers\": %u, \"nodes\": %u, "
            "\"ms\": %.3f}\n",
            partitioners[i], n_layers, adj_graph_get_n_nodes (joint),
            time_partition (partitioners[i], joint, &options) * 1e3);
  bench_cut (joint, &options, n_layers, folder);
}

int
main (int argc, char **argv)
{
  const char *folder = argc > 1 ? argv[1] : NULL;

  bench (12, folder);
  bench (48, folder);
  bench (650, folder);
  return 0;
}
