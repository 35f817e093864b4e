/* SPDX-License-Identifier: MIT */
/* adjoint report: one HTML page about a graph. */

#include <math.h>

#include "adj-command.h"
#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "plugins.h"
#include "report/adj-report.h"

extern const AdjCommand adj_command_report;

#define OPEN_UP_TO 2000 /* nodes; in larger graphs modules are closed from the second level on */

typedef struct
{
  char *id;
  char *output;
  gint fold;
  gboolean no_run;
  gboolean json;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->id);
  g_free (options->output);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static void
show_layout (guint done, guint total, guint n_equal, gpointer data)
{
  adj_progress_line (done, total, data);
}

static AdjScene *
lay_out (const AdjTarget *target, gint fold, GError **error)
{
  AdjProgressLine line = { .what = "blocks laid out" };
  AdjGraph *graph = target->graph->graph;
  g_autoptr (AdjCaptured) captured = adj_captured_new (graph, target->bundle);
  AdjLayoutOptions options = { .captured = captured,
                               .undecided = adj_bundle_graph_is_undecided (target->graph),
                               .progress = show_layout,
                               .progress_data = &line };
  AdjScene *scene;

  if (fold >= 0)
    options.fold_depth = (guint) fold;
  else
    options.fold_depth = adj_graph_get_n_calls (graph) > OPEN_UP_TO ? 2 : 0;
  scene = adj_layout_mirror (graph, &options, NULL, NULL, error);
  adj_progress_line_end (&line);
  return scene;
}

/* %NULL without an error: there is no recording to compare with. */
static AdjComparison *
compare (const AdjTarget *target, GError **error)
{
  AdjProgressLine line = { 0 };
  AdjSessionRun run = { .bundle = target->bundle,
                        .graph = target->graph,
                        .recorded = target->recorded,
                        .executor = target->executor,
                        .progress = adj_progress_line,
                        .data = &line };
  const AdjBundleGraph *recorded = target->recorded != NULL ? target->recorded : target->graph;
  AdjComparison *comparison;

  if (adj_bundle_find_call (target->bundle, recorded, 0) == NULL)
    return NULL;
  comparison = adj_session_compare_recorded (&run, TRUE, NAN, NAN, NULL, error);
  adj_progress_line_end (&line);
  return comparison;
}

static gboolean
write_report (const AdjTarget *target, const Options *options, GError **error)
{
  g_auto (AdjGraphName) name = { 0 };
  g_autofree char *file = NULL;
  g_autoptr (AdjScene) scene = NULL;
  g_autoptr (AdjComparison) comparison = NULL;
  g_autoptr (GError) why = NULL;
  AdjReport report = { .generator = "Adjoint " ADJ_VERSION,
                       .bundle = target->bundle,
                       .graph = target->graph,
                       .compared = "what was recorded",
                       .not_run = options->no_run ? "The graph was not run."
                                                  : "No call was recorded to compare with." };

  adj_graph_name_init (&name, target->name);
  report.file = file = g_path_get_basename (name.path);
  report.scene = scene = lay_out (target, options->fold, error);
  if (scene == NULL)
    return FALSE;
  if (!options->no_run)
    report.comparison = comparison = compare (target, &why);
  /* The report of a graph that cannot run here says why. */
  if (why != NULL)
    report.not_run = why->message;
  return adj_report_write (&report, options->output, error);
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (Options) options = { .fold = -1 };
  g_auto (AdjTarget) target = { 0 };
  GOptionEntry entries[] = {
    { "graph", 'g', 0, G_OPTION_ARG_STRING, &options.id, "Which graph of the file", "ID" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "Where to write", "FILE" },
    { "fold", 'f', 0, G_OPTION_ARG_INT, &options.fold, "Close modules this deep; 0: none",
      "DEPTH" },
    { "no-run", 0, 0, G_OPTION_ARG_NONE, &options.no_run,
      "Do not run the graph to compare it with what was recorded", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Say as JSON what was written", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_report, entries, 1, 1, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  if (options.output == NULL)
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                           "report: say where to write with -o FILE.html");
      return ADJ_EXIT_BAD_INPUT;
    }
  if (!adj_target_open (&target, argv[1], options.id, error) ||
      !write_report (&target, &options, error))
    return ADJ_EXIT_BAD_INPUT;
  if (options.json)
    adj_print_written (options.output, target.graph->id);
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_report = {
  .name = "report",
  .usage = "FILE[#ID] -o X.html [--no-run] [--fold DEPTH]",
  .summary = "Write one page of HTML that tells all about a graph",
  .examples = "adjoint report step.adjoint#joint -o step.html\n",
  .run = run,
};
