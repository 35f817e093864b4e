/* SPDX-License-Identifier: MIT */

/* Times layouts of layered joint graphs, one JSON line each: the median of several runs. */

#include <stdio.h>
#include <stdlib.h>

#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "support/layered-graph.h"

#define N_RUNS 5

static int
ascending (const void *a, const void *b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

static void
bench (const char *name, guint n_layers, gboolean vary, gboolean cached)
{
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (n_layers, vary);
  g_autoptr (AdjLayoutCache) cache = cached ? adj_layout_cache_new (NULL) : NULL;
  gint64 times[N_RUNS];
  guint n_boxes = 0;

  for (guint i = 0; i < N_RUNS; i++)
    {
      g_autoptr (GError) error = NULL;
      gint64 start = g_get_monotonic_time ();
      g_autoptr (AdjScene) scene = adj_layout_mirror (graph, NULL, cache, NULL, &error);

      times[i] = g_get_monotonic_time () - start;
      if (!scene)
        g_error ("%s", error->message);
      n_boxes = adj_scene_get_n_boxes (scene);
    }
  qsort (times, N_RUNS, sizeof times[0], ascending);
  printf ("{\"bench\": \"layout\", \"case\": \"%s\", \"nodes\": %u, \"boxes\": %u, \"ms\": %.1f}\n",
          name, adj_graph_get_n_nodes (graph), n_boxes, (double) times[N_RUNS / 2] / 1000);
}

int
main (void)
{
  bench ("4 equal layers", 4, FALSE, FALSE);
  bench ("48 equal layers", 48, FALSE, FALSE);
  bench ("48 equal layers, again", 48, FALSE, TRUE);
  bench ("48 different layers", 48, TRUE, FALSE);
  bench ("640 equal layers", 640, FALSE, FALSE);
  return 0;
}
