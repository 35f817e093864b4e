/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "comparison-report.h"
#include "program.h"

extern const AdjCommand adj_command_compare;

typedef struct
{
  double rtol, atol;
  gboolean nodes;
  gboolean json;
} Options;

static AdjComparison *
compare_targets (const AdjTarget *a, const char *other, const Options *options, GError **error)
{
  AdjProgressLine line = { 0 };
  AdjSessionRun run = {
    .bundle = a->bundle,
    .graph = a->graph,
    .recorded = a->recorded,
    .executor = a->executor,
    .progress = adj_progress_line,
    .data = &line,
  };
  g_auto (AdjTarget) b = { 0 };
  AdjComparison *comparison;

  if (g_str_equal (other, "recorded"))
    comparison = adj_session_compare_recorded (&run, options->nodes, options->rtol, options->atol,
                                               NULL, error);
  else
    {
      AdjSessionRun reference = run;

      if (!adj_target_open (&b, other, NULL, error))
        return NULL;
      reference.bundle = b.bundle;
      reference.graph = b.graph;
      reference.recorded = b.recorded;
      reference.executor = b.executor;
      comparison = adj_session_compare (&run, &reference, options->nodes, options->rtol,
                                        options->atol, NULL, error);
    }
  adj_progress_line_end (&line);
  if (comparison == NULL)
    g_prefix_error (error, "%s: ", a->name);
  return comparison;
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  Options options = { .rtol = NAN, .atol = NAN };
  g_auto (AdjTarget) target = { 0 };
  g_autoptr (AdjComparison) comparison = NULL;
  AdjProgramTarget programs[2];
  GOptionEntry entries[] = {
    { "nodes", 'n', 0, G_OPTION_ARG_NONE, &options.nodes,
      "Compare every node and find the first that differs", NULL },
    { "rtol", 0, 0, G_OPTION_ARG_DOUBLE, &options.rtol,
      "Decide by |a - b| ≤ atol + rtol |b| instead of error bands", "X" },
    { "atol", 0, 0, G_OPTION_ARG_DOUBLE, &options.atol, "See --rtol", "X" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON", NULL },
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
  if (programs[0].program != NULL || programs[1].program != NULL)
    return adj_program_target_compare (&programs[0], &programs[1], error);
  if (!adj_target_open (&target, argv[1], NULL, error) ||
      (comparison = compare_targets (&target, argv[2], &options, error)) == NULL)
    return ADJ_EXIT_BAD_INPUT;
  if (options.json)
    adj_comparison_report_json (target.graph->graph, comparison);
  else
    adj_comparison_report_text (target.graph->graph, comparison);
  return comparison->verdict == ADJ_VERDICT_DIFFERS ? ADJ_EXIT_DIFFERENT : ADJ_EXIT_DONE;
}

const AdjCommand adj_command_compare = {
  .name = "compare",
  .usage = "A[#ID][@HOW] B[#ID][@HOW]|recorded [--nodes] [--rtol X --atol X]",
  .summary = "Run a graph and compare it with what was recorded, or with another graph",
  .examples = "adjoint compare step.adjoint#joint recorded --nodes\n"
              "adjoint compare step.adjoint#forward+backward step.adjoint#joint\n"
              "adjoint compare views@eager views@traced\n",
  .run = run,
};
