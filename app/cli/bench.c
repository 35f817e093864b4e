/* SPDX-License-Identifier: MIT */
/* adjoint bench: times graphs: the first run separately, then median and spread of the others. */

#include <stdio.h>

#include "adj-command.h"
#include "base/adj-format-bytes.h"
#include "device-option.h"
#include "ir/adj-graph.h"
#include "json-members.h"
#include "plugins.h"

extern const AdjCommand adj_command_bench;

#define MAX_REPEAT 100000

typedef struct
{
  const char *name, *executor;
  guint n_nodes, n_regions, n_runs;
  double first, median, least, low, high; /* ms; low, high: quartiles of all runs but the first */
  double cpu;                             /* ms, median; summed over all threads */
  double device;                          /* ms, median; 0: nothing ran on a GPU */
  guint64 peak_bytes;
  char *note; /* (owned) (nullable) */
} Timing;

static int
ascending (const void *a, const void *b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

/* Nanoseconds of one run. */
typedef struct
{
  gint64 whole, cpu, device;
} Taken;

static gboolean
run_once (const AdjSessionRun *run, Timing *timing, Taken *taken, GError **error)
{
  gint64 started = g_get_monotonic_time ();
  AdjRunResult result = { 0 };

  if (!adj_session_run (run, &result, NULL, NULL, error))
    return FALSE;
  if (timing->n_runs == 0)
    timing->first = (double) (g_get_monotonic_time () - started) / 1e3;
  *taken = (Taken){ result.total_ns, result.cpu_ns, result.device_ns };
  timing->n_regions = result.n_regions;
  timing->peak_bytes = result.peak_bytes;
  g_free (timing->note);
  timing->note = g_steal_pointer (&result.note);
  adj_run_result_clear (&result);
  return TRUE;
}

/* The times at offset @at of @taken, sorted, in ms. */
static double *
sort_times (const Taken *taken, guint n, gsize at)
{
  gint64 *times = g_new (gint64, n);
  double *ms = g_new (double, n);

  for (guint i = 0; i < n; i++)
    times[i] = G_STRUCT_MEMBER (gint64, &taken[i], at);
  qsort (times, n, sizeof times[0], ascending);
  for (guint i = 0; i < n; i++)
    ms[i] = (double) times[i] / 1e6;
  g_free (times);
  return ms;
}

/* The first run makes the plan and touches the memory, so it is reported separately. */
static gboolean
time_runs (const AdjSessionRun *run, guint n, Timing *timing, GError **error)
{
  g_autofree Taken *taken = g_new0 (Taken, n + 1);
  g_autofree double *whole = NULL, *cpu = NULL, *device = NULL;

  for (timing->n_runs = 0; timing->n_runs <= n; timing->n_runs++)
    if (!run_once (run, timing, &taken[timing->n_runs], error))
      return FALSE;
  timing->n_runs = n;
  whole = sort_times (taken + 1, n, G_STRUCT_OFFSET (Taken, whole));
  cpu = sort_times (taken + 1, n, G_STRUCT_OFFSET (Taken, cpu));
  device = sort_times (taken + 1, n, G_STRUCT_OFFSET (Taken, device));
  timing->cpu = cpu[n / 2];
  timing->device = device[n / 2];
  timing->median = whole[n / 2];
  timing->least = whole[0];
  timing->low = whole[n / 4];
  timing->high = whole[n - 1 - n / 4];
  return TRUE;
}

static void
print_line (const Timing *timing)
{
  g_autofree char *peak = adj_format_bytes (timing->peak_bytes);

  printf ("%s  %s  %.3f ms  [%.3f – %.3f], least %.3f, first %.3f, CPU %.3f, %u runs, %u nodes",
          timing->name, timing->executor, timing->median, timing->low, timing->high, timing->least,
          timing->first, timing->cpu, timing->n_runs, timing->n_nodes);
  if (timing->n_regions > 0)
    printf (" in %u regions", timing->n_regions);
  if (timing->device > 0)
    printf (", GPU %.3f", timing->device);
  printf (", %s%s%s\n", peak, timing->note != NULL ? "; " : "",
          timing->note != NULL ? timing->note : "");
  fflush (stdout);
}

static void
add_timing (JsonBuilder *builder, const Timing *timing)
{
  json_builder_begin_object (builder);
  adj_json_add_string (builder, "graph", timing->name);
  adj_json_add_string (builder, "executor", timing->executor);
  adj_json_add_double (builder, "median_ms", timing->median);
  adj_json_add_double (builder, "least_ms", timing->least);
  adj_json_add_double (builder, "low_ms", timing->low);
  adj_json_add_double (builder, "high_ms", timing->high);
  adj_json_add_double (builder, "first_ms", timing->first);
  adj_json_add_double (builder, "cpu_ms", timing->cpu);
  if (timing->device > 0)
    adj_json_add_double (builder, "device_ms", timing->device);
  adj_json_add_int (builder, "runs", timing->n_runs);
  adj_json_add_int (builder, "nodes", timing->n_nodes);
  adj_json_add_int (builder, "regions", timing->n_regions);
  adj_json_add_int (builder, "peak_bytes", timing->peak_bytes);
  if (timing->note != NULL)
    adj_json_add_string (builder, "note", timing->note);
  json_builder_end_object (builder);
}

/* Times one graph with one executor; @builder: (nullable): %NULL: prints a line. */
static gboolean
bench_by (const AdjTarget *target,
          const AdjExecutor *executor,
          guint repeat,
          AdjGpu *gpu,
          JsonBuilder *builder,
          GError **error)
{
  AdjSessionRun run = adj_target_run (target);
  Timing timing = { .name = target->name,
                    .executor = executor->name,
                    .n_nodes = adj_graph_get_n_calls (target->graph->graph) };
  gboolean done;

  run.executor = executor;
  run.gpu = gpu;
  if (run.inputs == NULL && adj_bundle_find_call (target->bundle, target->graph, 0) == NULL &&
      target->recorded == NULL)
    {
      run.random = TRUE;
      run.seed = 1;
    }
  done = time_runs (&run, repeat, &timing, error);
  if (!done)
    g_prefix_error (error, "%s: ", target->name);
  else if (builder != NULL)
    add_timing (builder, &timing);
  else
    print_line (&timing);
  g_free (timing.note);
  return done;
}

static gboolean
bench_target (const char *name,
              char **executors,
              guint repeat,
              AdjGpu *gpu,
              JsonBuilder *builder,
              GError **error)
{
  g_auto (AdjTarget) target = { 0 };
  gboolean done = TRUE;

  if (!adj_target_open (&target, name, NULL, error) ||
      !adj_target_check_understood (&target, error))
    return FALSE;
  if (target.executor != NULL)
    return bench_by (&target, target.executor, repeat, gpu, builder, error);
  if (executors == NULL)
    {
      for (guint i = 0; done && i < adj_executors_get_n (); i++)
        if (gpu != NULL || adj_executors_get (i)->available (NULL))
          done = bench_by (&target, adj_executors_get (i), repeat, gpu, builder, error);
      return done;
    }
  for (guint i = 0; done && executors[i] != NULL; i++)
    {
      const AdjExecutor *executor = adj_executor_find (executors[i], error);

      done = executor != NULL && bench_by (&target, executor, repeat, gpu, builder, error);
    }
  return done;
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (GStrv) executors = NULL;
  g_autofree char *device = NULL;
  g_autoptr (AdjGpu) gpu = NULL;
  gint repeat = 20;
  gboolean json = FALSE, done = TRUE;
  JsonBuilder *builder = NULL;
  GOptionEntry entries[] = {
    { "executor", 'e', 0, G_OPTION_ARG_STRING_ARRAY, &executors,
      "What runs them; more than once for several; all that can when not given", "NAME" },
    { "device", 'd', 0, G_OPTION_ARG_STRING, &device, "Where executors of GPUs run them",
      "cpu|cuda[:N]|emulated" },
    { "repeat", 'n', 0, G_OPTION_ARG_INT, &repeat, "Runs after the first (20)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_bench, entries, 1, G_MAXUINT, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  if (repeat < 1 || repeat > MAX_REPEAT)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "--repeat takes 1 to %d runs", MAX_REPEAT);
      return ADJ_EXIT_BAD_INPUT;
    }
  if (!adj_device_option_open (device, &gpu, error))
    return ADJ_EXIT_BAD_INPUT;
  if (json)
    {
      builder = json_builder_new ();
      json_builder_begin_object (builder);
      json_builder_set_member_name (builder, "timings");
      json_builder_begin_array (builder);
    }
  for (int i = 1; done && i < argc; i++)
    done = bench_target (argv[i], executors, (guint) repeat, gpu, builder, error);
  if (builder != NULL && !done)
    g_object_unref (builder);
  if (builder != NULL && done)
    {
      json_builder_end_array (builder);
      json_builder_end_object (builder);
      adj_print_json (builder);
    }
  return done ? ADJ_EXIT_DONE : ADJ_EXIT_BAD_INPUT;
}

const AdjCommand adj_command_bench = {
  .name = "bench",
  .usage = "FILE[#ID][@EXECUTOR]… [--executor NAME]… [--device D] [--repeat N]",
  .summary = "Time graphs: median and spread of several runs, the first apart",
  .examples = "adjoint bench gpt2.adjoint#joint\n"
              "adjoint bench mlp.adjoint#joint unet.adjoint#forward --executor planned --json\n",
  .run = run,
};
