/* SPDX-License-Identifier: MIT */

/* Measures readability and time of pictures, one JSON line each: every bundled graph at every
 * budget, and large graphs, with their names and with the numbered names of a log.  With a name:
 * that graph only; with a file: its joint graphs. */

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/deep.h"
#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "support/graphs.h"
#include "support/layered-graph.h"
#include "support/layout-metrics.h"
#include "support/pictured-graphs.h"

#define SEVEN_THOUSAND 76    /* layers of GPT-2 */
#define HUNDRED_THOUSAND 640 /* layers of the made-up graph */

static double
get_cpu_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * (double) now.tv_sec + 1e-6 * (double) now.tv_nsec;
}

static void
measure (const char *name, AdjGraph *graph, const AdjLayoutOptions *options, AdjLayoutCache *cache)
{
  g_autoptr (GError) error = NULL;
  gint64 start = g_get_monotonic_time ();
  double cpu = get_cpu_ms ();
  g_autoptr (AdjScene) scene = adj_layout_mirror (graph, options, cache, NULL, &error);
  double ms = (double) (g_get_monotonic_time () - start) / 1000;
  AdjLayoutMetrics m;
  struct rusage usage;

  if (!scene)
    g_error ("%s: %s", name, error->message);
  cpu = get_cpu_ms () - cpu;
  m = adj_layout_metrics_take (scene, graph);
  getrusage (RUSAGE_SELF, &usage);
  printf ("{\"bench\": \"pictures\", \"graph\": \"%s\", \"nodes\": %u, \"boxes\": %u, "
          "\"edges\": %u, \"ms\": %.1f, \"cpu_ms\": %.1f, \"mib\": %ld, \"width\": %.0f, "
          "\"height\": %.0f, "
          "\"row\": %.0f, \"gutter\": %.0f, \"median\": %.0f, \"p95\": %.0f, \"longest\": %.0f, "
          "\"crossings\": %" G_GUINT64_FORMAT
          ", \"empty\": %u, \"outside\": %u, \"first\": \"%s\"}\n",
          name, adj_graph_get_n_nodes (graph), m.n_boxes, m.n_edges, ms, cpu,
          usage.ru_maxrss / 1024, (double) m.width, (double) m.height, (double) m.row,
          (double) m.gutter, (double) m.median, (double) m.p95, (double) m.longest, m.n_crossings,
          m.n_empty, m.n_outside, m.outside ? m.outside : "");
  fflush (stdout);
}

static void
measure_one (const char *name, AdjGraph *graph, gpointer wanted)
{
  static const AdjLayoutOptions open = { 0 };

  if (wanted == NULL || g_str_has_prefix (name, wanted))
    measure (name, graph, &open, NULL);
}

/* (transfer full) (nullable): the path of the first closed module of which there are several. */
static char *
find_closed (AdjGraph *graph, const AdjLayoutOptions *options, AdjLayoutCache *cache)
{
  g_autoptr (AdjScene) scene = adj_layout_mirror (graph, options, cache, NULL, NULL);
  const AdjSceneBox *most = NULL;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->fold == ADJ_FOLD_CLOSED && (most == NULL || box->n_nodes > most->n_nodes))
        most = box;
    }
  return most != NULL ? g_strdup (most->path) : NULL;
}

/* Measures the first picture, then with the largest closed box opened, then the largest in that. */
static void
measure_folding (const char *name, AdjGraph *graph)
{
  g_autoptr (AdjLayoutCache) cache = adj_layout_cache_new (NULL);
  const char *unfolded[] = { NULL, NULL, NULL };
  AdjLayoutOptions options = { .fold_depth = ADJ_FOLD_BY_SIZE, .unfolded = unfolded };

  for (guint step = 0; step < 3; step++)
    {
      static const char *const states[] = { "closed", "the stack open", "a block in it open" };
      g_autofree char *title = g_strdup_printf ("%s, %s", name, states[step]);

      measure (title, graph, &options, cache);
      unfolded[MIN (step, 1)] = find_closed (graph, &options, cache);
    }
}

static AdjGraph *
make_joint (guint n_layers)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) dynamo = deep_gpt2_new (n_layers);
  g_autoptr (AdjAotGraph) aot =
      adj_aot_trace_graph (dynamo, &(AdjAotOptions){ .keep_input_mutations = TRUE }, NULL, &error);

  if (aot == NULL)
    g_error ("%s", error->message);
  return adj_graph_ref (adj_aot_graph_get_graph (aot));
}

static void
measure_large (const char *wanted)
{
  g_autoptr (AdjGraph) named = make_joint (SEVEN_THOUSAND);
  g_autoptr (AdjGraph) lines = adj_test_through_log (named, ADJ_TEST_LOG_LINES);
  g_autoptr (AdjGraph) nothing = adj_test_through_log (named, ADJ_TEST_LOG_NOTHING);
  g_autoptr (AdjGraph) large = adj_test_layered_graph (HUNDRED_THOUSAND, FALSE);

  measure_one ("7k", named, (gpointer) wanted);
  measure_one ("7k, lines", lines, (gpointer) wanted);
  measure_one ("7k, nothing", nothing, (gpointer) wanted);
  measure_one ("100k", large, (gpointer) wanted);
  measure_folding ("7k, lines", lines);
  measure_folding ("7k", named);
  measure_folding ("100k", large);
}

static void
measure_file (const char *path)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_bundle (path);
  g_autofree char *base = g_path_get_basename (path);

  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, i);
      g_autoptr (AdjGraph) lines = NULL, nothing = NULL;
      g_autofree char *title = g_strdup_printf ("%s#%s", base, graph->id);
      g_autofree char *by_lines = g_strdup_printf ("%s, lines", title);
      g_autofree char *by_nothing = g_strdup_printf ("%s, nothing", title);

      if (strcmp (graph->role, "joint") != 0)
        continue;
      lines = adj_test_through_log (graph->graph, ADJ_TEST_LOG_LINES);
      nothing = adj_test_through_log (graph->graph, ADJ_TEST_LOG_NOTHING);
      measure_one (title, graph->graph, NULL);
      measure_one (by_lines, lines, NULL);
      measure_one (by_nothing, nothing, NULL);
    }
}

int
main (int argc, char **argv)
{
  gpointer wanted = argc > 1 ? argv[1] : NULL;

  if (wanted != NULL && g_file_test (wanted, G_FILE_TEST_EXISTS))
    {
      measure_file (wanted);
      return 0;
    }
  if (wanted == NULL || strchr (wanted, '#') || strstr (wanted, " at "))
    adj_test_each_pictured_graph (measure_one, wanted);
  if (wanted == NULL || g_str_has_prefix (wanted, "7k") || g_str_has_prefix (wanted, "100k"))
    measure_large (wanted);
  return 0;
}
