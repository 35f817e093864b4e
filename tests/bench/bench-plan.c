/* SPDX-License-Identifier: MIT */

/* bench-plan FILE…: measures plans of captures, a GPT-2 and random graphs, one JSON line each:
 * the cost of planning, the arena against its lower bound, and runs by both executors, all in
 * CPU time. */

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/deep.h"
#include "ir/adj-graph.h"
#include "support/random-graph.h"

#define N_RUNS 15

static gint64
cpu_now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return (gint64) time.tv_sec * 1000000000 + time.tv_nsec;
}

static int
ascending (const void *a, const void *b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

/* Returns the median time of a run in ms, without the first run. */
static double
time_runs (const AdjSessionRun *run, const char *executor, guint64 *peak)
{
  AdjSessionRun by = *run;
  gint64 times[N_RUNS];

  by.executor = adj_executor_find (executor, NULL);
  for (gint i = -1; i < N_RUNS; i++)
    {
      g_autoptr (GError) error = NULL;
      AdjRunResult result = { 0 };

      if (!adj_session_run (&by, &result, NULL, NULL, &error))
        g_error ("%s: %s", run->graph->id, error->message);
      times[MAX (i, 0)] = result.cpu_ns;
      *peak = result.peak_bytes;
      adj_run_result_clear (&result);
    }
  qsort (times, N_RUNS, sizeof times[0], ascending);
  return (double) times[N_RUNS / 2] / 1e6;
}

/* Returns the minimal time of making a plan in ms. */
static double
best_planned_ms (AdjGraph *graph, guint n)
{
  gint64 best = G_MAXINT64;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GError) error = NULL;
      gint64 started = cpu_now ();
      g_autoptr (AdjPlan) plan = adj_plan_new_annotated (graph, 0, &error);

      if (plan == NULL)
        g_error ("%s", error->message);
      best = MIN (best, cpu_now () - started);
    }
  return (double) best / 1e6;
}

static void
print_plan (const char *name, AdjGraph *graph, const AdjPlan *plan)
{
  double bound = (double) MAX (adj_plan_get_lower_bound (plan), 1);

  printf ("{\"bench\": \"plan\", \"graph\": \"%s\", \"nodes\": %u, \"regions\": %u, \"plan_ms\": "
          "%.3f, \"arena_kib\": %.1f, \"arena_of_bound\": %.4f",
          name, adj_graph_get_n_calls (graph), adj_plan_get_n_regions (plan),
          (double) adj_plan_get_planned_ns (plan) / 1e6,
          (double) adj_plan_get_arena_bytes (plan) / 1024,
          adj_plan_get_lower_bound (plan) > 0 ? (double) adj_plan_get_arena_bytes (plan) / bound
                                              : 1.0);
}

static void
bench_capture (AdjBundle *bundle, const char *file, const char *role)
{
  AdjSessionRun run = { .bundle = bundle, .graph = adj_bundle_find_graph (bundle, role, NULL) };
  g_autofree char *name = g_strdup_printf ("%s#%s", file, role);
  g_autoptr (AdjPlan) plan = NULL;
  guint64 peak, planned_peak;
  double interpreter, planned;

  if (run.graph == NULL || adj_bundle_find_call (bundle, run.graph, 0) == NULL)
    return;
  plan = adj_session_plan (&run, NULL);
  interpreter = time_runs (&run, "interpreter", &peak);
  planned = time_runs (&run, "planned", &planned_peak);
  print_plan (name, run.graph->graph, plan);
  printf (", \"threads\": %d, \"interpreter_ms\": %.3f, \"planned_ms\": %.3f, \"ratio\": %.2f}\n",
          omp_get_max_threads (), interpreter, planned, interpreter / planned);
  fflush (stdout);
}

static void
bench_deep (guint n_layers)
{
  g_autoptr (AdjGraph) dynamo = deep_gpt2_new (n_layers);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjAotGraph) aot =
      adj_aot_trace_graph (dynamo, &(AdjAotOptions){ .keep_input_mutations = TRUE }, NULL, &error);
  AdjGraph *joint;

  if (aot == NULL)
    g_error ("%s", error->message);
  joint = adj_aot_graph_get_graph (aot);
  printf ("{\"bench\": \"plan-deep\", \"layers\": %u, \"nodes\": %u, \"plan_ms\": %.3f}\n",
          n_layers, adj_graph_get_n_calls (joint), best_planned_ms (joint, 5));
  fflush (stdout);
}

/* Times a graph of tiny tensors, where overhead dominates. */
static void
bench_random (guint n_calls)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (n_calls);
  g_autoptr (AdjGraph) graph = adj_test_random_program (rand, n_calls);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjPlan) plan = adj_plan_new_annotated (graph, 0, &error);
  AdjBundleGraph bundled = { .id = "random", .graph = graph };
  AdjSessionRun run = { .graph = &bundled, .random = TRUE, .seed = 1 };
  guint64 peak;
  double ms;

  if (plan == NULL)
    g_error ("%s", error->message);
  ms = time_runs (&run, "planned", &peak);
  print_plan ("random", graph, plan);
  printf (", \"planned_ms\": %.4f, \"us_per_node\": %.4f, \"plan_us_per_node\": %.3f}\n", ms,
          1e3 * ms / n_calls, 1e3 * best_planned_ms (graph, 3) / n_calls);
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
        bench_capture (bundle, name, roles[k]);
    }
  bench_deep (12);
  bench_deep (48);
  for (guint n = 100; n <= 100000; n *= 10)
    bench_random (n);
  return 0;
}
