/* SPDX-License-Identifier: MIT */
/* adjoint compare: compares two graphs, a run with its recording, or two programs. */

#include <math.h>

#include "comparison-report.h"
#include "debug-report.h"
#include "device-option.h"
#include "plugins.h"
#include "program.h"

extern const AdjCommand adj_command_compare;

typedef struct
{
  char *device;
  double rtol, atol;
  char *inputs;
  gint64 seed; /* -1: none */
  gboolean nodes;
  gboolean json;
  char *explain;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->device);
  g_free (options->inputs);
  g_free (options->explain);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static AdjComparison *
compare_values (const AdjSessionRun *run, const char *path, const Options *options, GError **error)
{
  g_autoptr (GHashTable) values = adj_session_read_values (run, path, error);

  return values != NULL ? adj_session_compare_values (run, values, options->nodes, options->rtol,
                                                      options->atol, NULL, error)
                        : NULL;
}

static AdjComparison *
compare_graphs (const AdjSessionRun *run,
                AdjGpu *gpu,
                const AdjTarget *other,
                const Options *options,
                GError **error)
{
  AdjSessionRun reference = *run;

  reference.bundle = other->bundle;
  reference.graph = other->graph;
  reference.recorded = other->recorded;
  reference.executor = other->executor;
  reference.gpu = gpu;
  return adj_session_compare (run, &reference, options->nodes, options->rtol, options->atol, NULL,
                              error);
}

/* Sets the device of the side that names the GPU executor; where neither does, of @run.  @other:
 * (nullable): the executor of the other side. */
static gboolean
take_device (
    const char *device, AdjSessionRun *run, const AdjExecutor *other, AdjGpu **gpu, GError **error)
{
  const AdjExecutor *of_gpus = adj_executor_find ("cuda", NULL);
  AdjSessionRun reference = { .executor = other };

  return adj_device_option_take (
      device, other == of_gpus && run->executor != of_gpus ? &reference : run, gpu, error);
}

static gboolean
is_graph (const char *other)
{
  return !g_str_equal (other, "recorded") && !g_str_has_prefix (other, ADJ_RUN_PREFIX) &&
         !adj_session_is_values_file (other);
}

/* Compares with a log of another run, which has hashes of its values. */
static AdjExit
compare_log (AdjTarget *target, const char *path, const Options *options, GError **error)
{
  AdjSessionRun run = adj_target_run (target);
  g_autoptr (AdjDebugLog) log = adj_debug_log_load (path, NULL, error);
  g_autoptr (AdjDebugComparison) comparison = NULL;

  if (log == NULL ||
      (options->inputs != NULL && !adj_target_take_inputs (target, options->inputs, &run, error)))
    return ADJ_EXIT_BAD_INPUT;
  comparison = adj_session_compare_log (&run, log, NULL, error);
  if (comparison == NULL)
    {
      g_prefix_error (error, "%s: ", path);
      return ADJ_EXIT_BAD_INPUT;
    }
  if (options->json)
    adj_debug_report_json (target->graph->graph, comparison);
  else
    adj_debug_report_text (target->graph->graph, comparison);
  return comparison->first >= 0 ? ADJ_EXIT_DIFFERENT : ADJ_EXIT_DONE;
}

static AdjComparison *
compare_targets (AdjTarget *a, const char *other, const Options *options, GError **error)
{
  AdjProgressLine line = { 0 };
  AdjSessionRun run = adj_target_run (a);
  gboolean kept = g_str_has_prefix (other, ADJ_RUN_PREFIX);
  g_auto (AdjTarget) b = { 0 };
  g_autoptr (AdjGpu) gpu = NULL;
  AdjComparison *comparison;

  if (is_graph (other) &&
      (!adj_target_open (&b, other, NULL, error) || !adj_target_check_understood (&b, error)))
    return NULL;
  if (!take_device (options->device, &run, b.executor, &gpu, error))
    return NULL;
  run.random = options->seed >= 0;
  run.seed = (guint32) options->seed;
  run.progress = adj_progress_line;
  run.data = &line;
  if (kept && options->inputs != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s has its own inputs: leave out --inputs",
                   other);
      return NULL;
    }
  if ((kept || options->inputs != NULL) &&
      !adj_target_take_inputs (a, kept ? other : options->inputs, &run, error))
    return NULL;
  if (g_str_equal (other, "recorded") && run.kept != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                   "nothing was recorded for the inputs of %s: compare with it instead",
                   options->inputs);
      return NULL;
    }
  if (kept || g_str_equal (other, "recorded"))
    comparison = adj_session_compare_recorded (&run, options->nodes, options->rtol, options->atol,
                                               NULL, error);
  else if (b.graph == NULL)
    comparison = compare_values (&run, other, options, error);
  else
    comparison = compare_graphs (&run, gpu, &b, options, error);
  adj_progress_line_end (&line);
  if (comparison == NULL)
    g_prefix_error (error, "%s: ", a->name);
  else
    adj_target_say_inputs (&run);
  return comparison;
}

static gboolean
check_programs (const AdjProgramTarget *programs, const Options *options, GError **error)
{
  const AdjFileOption of_files[] = {
    { "--nodes", options->nodes },
    { "--inputs", options->inputs != NULL },
    { "--seed", options->seed >= 0 },
    { "--device", options->device != NULL },
    { "--rtol", !isnan (options->rtol) },
    { "--atol", !isnan (options->atol) },
    { "--explain", options->explain != NULL },
  };

  for (guint i = 0; i < 2; i++)
    if (!adj_program_target_refuse (&programs[i], of_files, G_N_ELEMENTS (of_files), error))
      return FALSE;
  return TRUE;
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (Options) options = { .rtol = NAN, .atol = NAN, .seed = -1 };
  g_auto (AdjTarget) target = { 0 };
  g_autoptr (AdjComparison) comparison = NULL;
  AdjProgramTarget programs[2];
  GOptionEntry entries[] = {
    { "nodes", 'n', 0, G_OPTION_ARG_NONE, &options.nodes,
      "Compare every node and find the first that differs", NULL },
    { "inputs", 'i', 0, G_OPTION_ARG_FILENAME, &options.inputs, "Inputs by placeholder name",
      "F.safetensors|run:NAME" },
    { "seed", 's', 0, G_OPTION_ARG_INT64, &options.seed, "Draw random inputs", "N" },
    ADJ_DEVICE_OPTION (&options.device),
    { "rtol", 0, 0, G_OPTION_ARG_DOUBLE, &options.rtol,
      "Decide by |a - b| ≤ atol + rtol |b| instead of error bands", "X" },
    { "atol", 0, 0, G_OPTION_ARG_DOUBLE, &options.atol, "See --rtol", "X" },
    { "explain", 'e', 0, G_OPTION_ARG_STRING, &options.explain,
      "Print why a node was judged as it was: its numbers, their limits, where these come from",
      "NODE" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_compare, entries, 2, 2, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  if (isnan (options.rtol) != isnan (options.atol))
    {
      options.rtol = isnan (options.rtol) ? 0 : options.rtol;
      options.atol = isnan (options.atol) ? 0 : options.atol;
    }
  if (!adj_program_target_init (&programs[0], argv[1], error) ||
      !adj_program_target_init (&programs[1], argv[2], error))
    return ADJ_EXIT_BAD_INPUT;
  if (!check_programs (programs, &options, error))
    return ADJ_EXIT_BAD_INPUT;
  options.nodes = options.nodes || options.explain != NULL;
  if (programs[0].program != NULL || programs[1].program != NULL)
    return adj_program_target_compare (&programs[0], &programs[1], options.json, error);
  if (!adj_target_open (&target, argv[1], NULL, error) ||
      !adj_target_check_understood (&target, error))
    return ADJ_EXIT_BAD_INPUT;
  if (adj_debug_log_is (argv[2]))
    return compare_log (&target, argv[2], &options, error);
  if ((comparison = compare_targets (&target, argv[2], &options, error)) == NULL)
    return ADJ_EXIT_BAD_INPUT;
  if (options.explain != NULL)
    {
      if (!adj_comparison_report_explain (target.graph->graph, comparison, options.explain, error))
        return ADJ_EXIT_BAD_INPUT;
    }
  else if (options.json)
    adj_comparison_report_json (target.graph->graph, comparison);
  else
    adj_comparison_report_text (target.graph->graph, comparison);
  return comparison->verdict == ADJ_VERDICT_DIFFERS ? ADJ_EXIT_DIFFERENT : ADJ_EXIT_DONE;
}

const AdjCommand adj_command_compare = {
  .name = "compare",
  .usage = "A[#ID][@HOW] B[#ID][@HOW]|VALUES.safetensors|LOG.json|run:NAME|recorded "
           "[--nodes] [--device D] [--inputs F|--seed N] [--rtol X --atol X]",
  .summary = "Run a graph and compare it with what was recorded, with values that somebody else "
             "computed, with the log of a run under DebugMode, with a run that was kept, or with "
             "another graph",
  .examples = "adjoint compare step.adjoint#joint recorded --nodes\n"
              "adjoint compare step.adjoint#forward+backward step.adjoint#joint\n"
              "adjoint compare step.adjoint#joint values.safetensors --nodes\n"
              "adjoint compare step.adjoint#joint eager.json\n"
              "adjoint compare step.adjoint#joint run:before --nodes\n"
              "adjoint compare views@eager views@traced\n"
              "adjoint compare training@eager training@captured\n",
  .run = run,
};
