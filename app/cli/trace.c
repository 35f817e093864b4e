/* SPDX-License-Identifier: MIT */
/* adjoint trace: runs the pipeline on a graph or a program, and saves the recording. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adj-warnings.h"
#include "capture-report.h"
#include "ir/adj-graph.h"
#include "json-members.h"
#include "partition-report.h"
#include "plugins.h"
#include "program.h"
#include "session/adj-wanted-gradients.h"
#include "stage-report.h"

extern const AdjCommand adj_command_trace;

/* -- reports -- */

/* @capture: (nullable): only that; @recorded: (nullable): what came from the file; @release:
 * (nullable): as which was decided */
static void
print_json (const AdjPipelineResult *result,
            const char *capture,
            const char *recorded,
            const char *release)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  adj_stage_report_json (result->recording, 0,
                         capture == NULL ? adj_capture_report_count_others (result) : 0, builder);
  if (result->captures != NULL)
    adj_capture_report_json (result, capture, builder);
  if (result->partition != NULL)
    {
      adj_partition_report_json (result->partition, builder);
      adj_json_add_string (builder, "from_file", recorded != NULL ? recorded : "");
      adj_json_add_string (builder, "as_torch", release != NULL ? release : "");
    }
  json_builder_end_object (builder);
  adj_print_json (builder);
}

/* -- the command -- */

typedef struct
{
  char *id, *out, *steps, *partitioner, *dump_after, *explain, *solver, *gradients, *version;
  char **saved, **recomputed; /* (nullable): names of nodes */
  double budget;
  gint64 memory_limit;
  gboolean compat, pareto, measure, steps_too, json;
  GArray *demands;           /* AdjPartitionDemand, of @saved and @recomputed */
  char *recorded;            /* (nullable): what of it came from the file */
  const AdjRelease *release; /* of @version, else that made the file, or the nearest */
  gboolean is_known;         /* it is that itself */
} Options;

static void
options_clear (Options *options)
{
  g_free (options->id);
  g_free (options->out);
  g_free (options->steps);
  g_free (options->partitioner);
  g_free (options->dump_after);
  g_free (options->explain);
  g_free (options->solver);
  g_free (options->gradients);
  g_free (options->version);
  g_free (options->recorded);
  g_strfreev (options->saved);
  g_strfreev (options->recomputed);
  g_clear_pointer (&options->demands, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static gboolean
parse (int *argc, char ***argv, Options *options, GError **error)
{
  GOptionEntry entries[] = {
    { "graph", 'g', 0, G_OPTION_ARG_STRING, &options->id,
      "Which graph of the file, or which capture of a program (ca0)", "ID" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->out, "Save every stage", "OUT.adjoint" },
    { "pipeline", 'p', 0, G_OPTION_ARG_STRING, &options->steps,
      "Passes and partitioners by name, separated by commas (see 'adjoint passes')", "P" },
    { "partitioner", 0, 0, G_OPTION_ARG_STRING, &options->partitioner,
      "Who takes the joint graph apart, or none", "NAME" },
    { "budget", 0, 0, G_OPTION_ARG_DOUBLE, &options->budget,
      "Share of the saved bytes that may be saved, 0 to 1; else that of the file", "B" },
    { "solver", 0, 0, G_OPTION_ARG_STRING, &options->solver,
      "How a budget is filled: dp (as PyTorch), greedy, exact", "NAME" },
    { "measure", 0, 0, G_OPTION_ARG_NONE, &options->measure,
      "Run the joint graph on what was recorded, and let the times of its nodes decide", NULL },
    { "memory-limit", 0, 0, G_OPTION_ARG_INT64, &options->memory_limit,
      "Recompute as little as keeps the peak below this (by the partitioner optimal)", "BYTES" },
    { "save", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->saved,
      "A node of the joint graph that must be saved; may be given again", "NODE" },
    { "recompute", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->recomputed,
      "A node that must be computed again; may be given again", "NODE" },
    { "compat", 0, 0, G_OPTION_ARG_NONE, &options->compat,
      "Decide as the PyTorch of the file does, or the nearest that is known, 2.6 or 2.15", NULL },
    { "release", 0, 0, G_OPTION_ARG_STRING, &options->version,
      "Decide as this release of PyTorch does, not as that of the file", "VERSION" },
    { "pareto", 0, 0, G_OPTION_ARG_NONE, &options->pareto,
      "Print peaks of memory against recomputation, with PyTorch's budgets", NULL },
    { "explain", 0, 0, G_OPTION_ARG_STRING, &options->explain,
      "Say where a node of the joint graph went, and why", "NODE" },
    { "dump-after", 0, 0, G_OPTION_ARG_STRING, &options->dump_after, "Print the graph of a stage",
      "PASS" },
    { "gradients", 0, 0, G_OPTION_ARG_STRING, &options->gradients,
      "Where neither the graph nor a joint graph beside it says which inputs require a gradient: "
      "parameters, or none",
      "OF" },
    { "steps", 0, 0, G_OPTION_ARG_NONE, &options->steps_too,
      "Say what each stage did on the way, with its time", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options->json, "Print JSON", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  return adj_command_parse (&adj_command_trace, entries, 1, 1, argc, argv, error);
}

/* @target: (nullable): the file that the first stage comes from. */
static gboolean
save (const AdjPipelineResult *result, const AdjTarget *target, const char *path, GError **error)
{
  const AdjFormat *format = adj_format_for_path (path, error);
  g_autoptr (AdjBundle) bundle = NULL;

  if (format == NULL)
    return FALSE;
  bundle = adj_pipeline_result_to_bundle (result, target != NULL ? target->bundle : NULL,
                                          target != NULL ? target->graph : NULL);
  return format->save (bundle, path, NULL, NULL, error);
}

/* (nullable): the backward graph that the file has beside a joint one. */
static const AdjGraph *
find_backward (const AdjTarget *target)
{
  const AdjRegion *region;

  if (target == NULL || g_strcmp0 (target->graph->role, "joint") != 0)
    return NULL;
  region = adj_bundle_find_region (target->bundle, target->graph);
  for (guint i = 0; region != NULL && i < adj_bundle_get_n_graphs (target->bundle); i++)
    {
      const AdjBundleGraph *graph = adj_bundle_get_graph (target->bundle, i);

      if (g_strcmp0 (graph->role, "backward") == 0 &&
          adj_bundle_find_region (target->bundle, graph) == region)
        return graph->graph;
    }
  return NULL;
}

/* (nullable): the release of PyTorch that is asked for, else that of the file. */
static const char *
get_version (const Options *options, const AdjTarget *target)
{
  if (options->version != NULL)
    return options->version;
  return target != NULL && target->bundle != NULL ? adj_bundle_get_torch_version (target->bundle)
                                                  : NULL;
}

/* What the reader of a partition would not think of: settings that the file brought, and a release
 * that is not known. */
static void
print_origins (const Options *options, const AdjTarget *target)
{
  const char *version = get_version (options, target);

  if (options->recorded != NULL)
    printf ("from the file: %s\n", options->recorded);
  if (options->compat && version != NULL && !options->is_known)
    printf ("decided as PyTorch %s does, the nearest to %s that is known\n", options->release->name,
            version);
}

/* @capture: (nullable): only that */
static void
print_text (const AdjPipelineResult *result,
            const AdjTarget *target,
            const char *capture,
            const Options *options,
            const AdjPartitionOptions *partition)
{
  const guint n_others = capture == NULL ? adj_capture_report_count_others (result) : 0;

  if (n_others > 0)
    adj_stage_report_text (result->recording, 0, n_others, options->steps_too);
  if (result->partition != NULL)
    {
      adj_partition_report_text (result->partition);
      print_origins (options, target);
    }
  if (result->partition != NULL && partition->node_ns != NULL)
    printf ("what is computed again took %.3f ms when it was measured\n",
            result->partition->cost.recompute_time);
  adj_capture_report_text (result, capture, options->steps_too);
}

/* @target: (nullable): of a file, else @name is a program's. */
static gboolean
report (const AdjPipelineResult *result,
        const AdjTarget *target,
        const char *name,
        const Options *options,
        const AdjPartitionOptions *partition,
        GError **error)
{
  guint n = adj_recording_get_n_stages (result->recording);
  const AdjStage *last = adj_recording_get_stage (result->recording, n - 1);
  const char *capture = target == NULL && last->failure == NULL ? options->id : NULL;
  guint first, n_stages;
  gboolean done = TRUE;

  if (!adj_capture_report_find (result, capture, &first, &n_stages, error))
    return FALSE;
  if (options->explain != NULL && last->failure == NULL)
    done = adj_partition_report_node (result->partition, options->explain, options->json, error);
  else if (options->pareto && result->partition != NULL)
    done = adj_partition_report_pareto (result->partition, partition, find_backward (target),
                                        options->json, error);
  else if (options->dump_after != NULL)
    done = adj_stage_report_graph (result->recording, first, n_stages, options->dump_after, error);
  else if (options->json)
    print_json (result, capture, options->recorded,
                options->compat ? options->release->name : NULL);
  else
    print_text (result, target, capture, options, partition);
  if (done && last->failure != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s: %s", name, last->failure);
      return FALSE;
    }
  return done && (options->out == NULL || save (result, target, options->out, error));
}

static void
add_demands (Options *options, char **names, AdjRecompute recompute)
{
  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    {
      AdjPartitionDemand demand = { names[i], recompute };

      g_array_append_val (options->demands, demand);
    }
}

static gboolean
find_solver (const char *name, AdjBudgetSolver *solver, GError **error)
{
  static const char *const names[] = {
    [ADJ_SOLVER_DP] = "dp", [ADJ_SOLVER_GREEDY] = "greedy", [ADJ_SOLVER_EXACT] = "exact"
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (name, names[i]))
      {
        *solver = (AdjBudgetSolver) i;
        return TRUE;
      }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "no solver '%s'; there are dp, greedy, exact",
               name);
  return FALSE;
}

static gboolean
read_partition_options (Options *options, AdjPartitionOptions *partition, GError **error)
{
  options->demands = g_array_new (FALSE, FALSE, sizeof (AdjPartitionDemand));
  add_demands (options, options->saved, ADJ_RECOMPUTE_MUST_SAVE);
  add_demands (options, options->recomputed, ADJ_RECOMPUTE_MUST_RECOMPUTE);
  partition->demands = (const AdjPartitionDemand *) (gpointer) options->demands->data;
  partition->n_demands = options->demands->len;
  partition->compat = options->compat;
  if (options->version != NULL &&
      !g_regex_match_simple ("^[0-9]+[.][0-9]", options->version, G_REGEX_DEFAULT, 0))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "'%s' is no release of PyTorch, such as 2.15", options->version);
      return FALSE;
    }
  if (options->memory_limit < 0)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                   "a memory limit is a number of bytes, not %" G_GINT64_FORMAT,
                   options->memory_limit);
      return FALSE;
    }
  partition->memory_limit = (guint64) options->memory_limit;
  if (options->partitioner != NULL && !g_str_equal (options->partitioner, "none") &&
      adj_partitioner_find (options->partitioner, error) == NULL)
    return FALSE;
  if (options->memory_limit > 0 && options->partitioner == NULL && options->steps == NULL)
    options->partitioner = g_strdup ("optimal");
  else if (options->memory_limit > 0 && g_strcmp0 (options->partitioner, "optimal") != 0 &&
           (options->steps == NULL || strstr (options->steps, "optimal") == NULL))
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                           "--memory-limit is a demand on the partitioner 'optimal'");
      return FALSE;
    }
  return options->solver == NULL || find_solver (options->solver, &partition->solver, error);
}

/* How PyTorch was set when the file was recorded; what is asked for on the command line comes
 * after it. */
static void
read_recorded (const AdjTarget *target,
               Options *options,
               AdjPartitionOptions *partition,
               AdjPipelineOptions *pipeline)
{
  const AdjRegion *region =
      target->graph != NULL ? adj_bundle_find_region (target->bundle, target->graph) : NULL;

  options->recorded = adj_recorded_partition_read (region, partition);
  options->release = adj_release_find (get_version (options, target), &options->is_known);
  pipeline->release = options->release;
  if (options->compat && (options->recorded == NULL || options->version != NULL))
    partition->free_parameters = options->release->free_parameters;
  pipeline->usual_partitioner = adj_recorded_partitioner (region);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjRunResult, adj_run_result_clear)

/* Times of the nodes of a joint graph that is partitioned as it is. */
static gboolean
measure (const AdjTarget *target,
         const Options *options,
         AdjRunResult *times,
         AdjPartitionOptions *partition,
         GError **error)
{
  const AdjRecordedCall *call;
  AdjRunRequest request = { 0 };

  if (target->graph == NULL || g_strcmp0 (target->graph->role, "joint") != 0 ||
      options->steps != NULL)
    {
      g_set_error_literal (
          error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
          "--measure wants a recorded joint graph, FILE#joint, without --pipeline");
      return FALSE;
    }
  call = adj_bundle_find_call (target->bundle, target->graph, 0);
  if (call == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "%s: no call was recorded to measure",
                   target->name);
      return FALSE;
    }
  request.graph = target->graph->graph;
  request.inputs = call->inputs;
  request.n_inputs = call->n_inputs;
  request.rng = call->rng;
  if (!adj_executor_run (adj_executor_find ("interpreter", NULL), &request, times, NULL, error))
    return FALSE;
  partition->runtime = ADJ_RUNTIME_MEASURED;
  partition->node_ns = times->node_ns;
  return TRUE;
}

static gboolean
find_gradients (const char *name, AdjGradientsChoice *choice, GError **error)
{
  *choice = ADJ_GRADIENTS_AS_KNOWN;
  if (name == NULL)
    return TRUE;
  *choice = g_str_equal (name, "none") ? ADJ_GRADIENTS_NONE : ADJ_GRADIENTS_GUESSED;
  if (g_str_equal (name, "none") || g_str_equal (name, "parameters"))
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
               "gradients are of parameters or of none, not of '%s'", name);
  return FALSE;
}

/* A graph gets no backward when nothing says that somebody asks for one. */
static void
tell_no_backward (const AdjTarget *target)
{
  fprintf (stderr,
           "note: nothing says that an input of '%s' requires a gradient, so there is no "
           "backward; --gradients=parameters asks for one\n",
           target->graph->id);
}

/* @unasked (out): a backward is left out only because nothing asks for it. */
static gboolean
trace_graph (const AdjTarget *target,
             const Options *options,
             const AdjPipelineOptions *pipeline,
             AdjPipelineResult *result,
             gboolean *unasked,
             GError **error)
{
  g_autoptr (AdjGraph) graph = NULL;
  AdjGradientsChoice choice;
  AdjGradientsKnown known;

  if (!find_gradients (options->gradients, &choice, error))
    return FALSE;
  graph = adj_wanted_gradients_apply (target->bundle, target->graph, choice, &known, error);
  *unasked = known == ADJ_GRADIENTS_UNKNOWN && choice == ADJ_GRADIENTS_AS_KNOWN &&
             options->steps == NULL && options->dump_after == NULL;
  return graph != NULL &&
         adj_pipeline_run (graph, target->graph->role, pipeline, result, NULL, error);
}

static gboolean
check_program (const AdjProgramTarget *program, const Options *options, GError **error)
{
  const AdjFileOption of_files[] = {
    { "--gradients", options->gradients != NULL },
    { "--measure", options->measure },
  };

  return adj_program_target_refuse (program, of_files, G_N_ELEMENTS (of_files), error);
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (AdjTarget) target = { 0 };
  g_auto (AdjPipelineResult) result = { 0 };
  g_auto (AdjRunResult) times = { 0 };
  AdjProgramTarget program;
  const char *name;
  gboolean done, unasked = FALSE;
  g_auto (Options) options = { .budget = NAN };
  AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  AdjPipelineOptions pipeline = { .partition = &partition, .diags = diags };

  if (!parse (&argc, &argv, &options, error) ||
      !adj_program_target_init (&program, argv[1], error) ||
      !check_program (&program, &options, error) ||
      (program.program == NULL && (!adj_target_open (&target, argv[1], options.id, error) ||
                                   !adj_target_check_understood (&target, error))))
    return ADJ_EXIT_BAD_INPUT;
  partition.budget = options.budget;
  options.compat |= options.version != NULL;
  read_recorded (&target, &options, &partition, &pipeline);
  if (!read_partition_options (&options, &partition, error) ||
      (options.measure && !measure (&target, &options, &times, &partition, error)))
    return ADJ_EXIT_BAD_INPUT;
  pipeline.steps = options.steps;
  pipeline.partitioner = options.partitioner;
  if (program.program != NULL)
    done = adj_program_record (program.program, &pipeline, &result, error);
  else
    done = trace_graph (&target, &options, &pipeline, &result, &unasked, error);
  name = program.program != NULL ? program.program->name : target.name;
  adj_warnings_note (name, diags);
  done = done && report (&result, program.program != NULL ? NULL : &target, name, &options,
                         &partition, error);
  if (done && unasked)
    tell_no_backward (&target);
  return done ? ADJ_EXIT_DONE : ADJ_EXIT_BAD_INPUT;
}

const AdjCommand adj_command_trace = {
  .name = "trace",
  .usage = "FILE[#ID]|PROGRAM",
  .summary = "Run the passes of a pipeline on a graph or a program and report every stage",
  .examples = "adjoint trace step.adjoint#dynamo -o stages.adjoint\n"
              "adjoint trace step.adjoint#joint --partitioner min-cut --budget 0.5\n"
              "adjoint trace step.adjoint#joint --save mm_1 --explain mm_1\n"
              "adjoint trace mutation --dump-after joint\n"
              "adjoint trace hooked --pipeline compiled-autograd=2.6 -o captured.adjoint\n",
  .run = run,
};
