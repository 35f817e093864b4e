/* SPDX-License-Identifier: MIT */
/* adjoint run: runs a graph or a program, with a profile and outputs as safetensors. */

#include <stdio.h>

#include "base/adj-format-bytes.h"
#include "device-option.h"
#include "ir/adj-graph.h"
#include "json-members.h"
#include "kept-run.h"
#include "plugins.h"
#include "program.h"
#include "run-profile.h"

extern const AdjCommand adj_command_run;

typedef struct
{
  char *id;
  char *executor;
  char *device;
  char *inputs;
  char *outputs;
  char *values;
  char *keep;
  char *into;
  char *only;
  gint64 seed;
  gboolean float64;
  gboolean profile;
  gboolean json;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->id);
  g_free (options->executor);
  g_free (options->device);
  g_free (options->inputs);
  g_free (options->outputs);
  g_free (options->values);
  g_free (options->keep);
  g_free (options->into);
  g_free (options->only);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* -- outputs as safetensors: one tensor each, by name -- */

static gboolean
collect_tensor (const AdjValue *leaf, gpointer data)
{
  g_ptr_array_add (data, leaf->kind == ADJ_VALUE_DATA ? leaf->data : NULL);
  return TRUE;
}

static gboolean
write_outputs (const AdjValue *output, const char *path, GError **error)
{
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();

  adj_value_foreach (output, collect_tensor, leaves);
  for (guint i = 0; i < leaves->len; i++)
    if (leaves->pdata[i] != NULL)
      {
        g_ptr_array_add (names, g_strdup_printf (ADJ_OUTPUT_NAME, i));
        g_ptr_array_add (tensors, leaves->pdata[i]);
      }
  return adj_safetensors_save (path, (const char *const *) names->pdata,
                               (AdjTensorData *const *) tensors->pdata, tensors->len, error);
}

/* Whether safetensors has its element type. */
static gboolean
is_storable (const AdjTensorData *data)
{
  return adj_dtype_info (adj_tensor_data_get_meta (data)->dtype)->safetensors != NULL;
}

/* Writes values by node name, in the order of execution. */
static gboolean
write_values (const AdjGraph *graph, GHashTable *values, const char *path, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const char *name = adj_graph_get_node (graph, i)->name;
      AdjTensorData *data = g_hash_table_lookup (values, name);

      if (data == NULL || !is_storable (data))
        continue;
      g_ptr_array_add (names, (gpointer) name);
      g_ptr_array_add (tensors, data);
    }
  return adj_safetensors_save (path, (const char *const *) names->pdata,
                               (AdjTensorData *const *) tensors->pdata, tensors->len, error);
}

/* -- report -- */

typedef struct
{
  guint position;
  JsonBuilder *builder; /* (nullable) */
} Printing;

static gboolean
print_output (const AdjValue *leaf, gpointer data)
{
  Printing *printing = data;
  g_autoptr (GString) what = g_string_new (NULL);
  g_autofree char *values = NULL;

  if (leaf->kind == ADJ_VALUE_DATA)
    {
      adj_tensor_meta_print (adj_tensor_data_get_meta (leaf->data), NULL, what);
      values = adj_tensor_data_print (leaf->data, 12);
    }
  else
    adj_value_print (leaf, NULL, what);
  if (printing->builder == NULL)
    printf ("output %u  %s\n%s%s", printing->position, what->str, values != NULL ? values : "",
            values != NULL ? "\n" : "");
  else
    {
      json_builder_begin_object (printing->builder);
      json_builder_set_member_name (printing->builder, "value");
      json_builder_add_string_value (printing->builder, what->str);
      json_builder_end_object (printing->builder);
    }
  printing->position++;
  return TRUE;
}

/* The name of the leaf of gradient @i. */
static const char *
get_leaf (const AdjGraph *graph, const AdjRunResult *result, guint i)
{
  const AdjNode *node = adj_graph_get_node (graph, result->gradients[i].node.index);

  return adj_graph_get_node (graph, node->args.items[0].node.index)->name;
}

static void
print_gradients (const AdjGraph *graph, const AdjRunResult *result)
{
  for (guint i = 0; i < result->n_recalled; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, result->recalled[i].index);

      printf ("'%s' was not called: %s\n", node->name,
              node->n_users > 0 ? "what it gave when it was recorded stands in"
                                : "its hook is not here, and nothing reads what it gives");
    }
  for (guint i = 0; i < result->n_gradients; i++)
    {
      AdjTensorData *grad = result->gradients[i].grad;
      g_autoptr (GString) what = g_string_new (NULL);
      g_autofree char *values = adj_tensor_data_print (grad, 12);

      adj_tensor_meta_print (adj_tensor_data_get_meta (grad), NULL, what);
      printf ("added to the gradient of '%s'  %s\n%s\n", get_leaf (graph, result, i), what->str,
              values);
    }
}

static void
add_gradients (const AdjGraph *graph, const AdjRunResult *result, JsonBuilder *builder)
{
  json_builder_set_member_name (builder, "gradients");
  json_builder_begin_array (builder);
  for (guint i = 0; i < result->n_gradients; i++)
    {
      g_autoptr (GString) what = g_string_new (NULL);

      adj_tensor_meta_print (adj_tensor_data_get_meta (result->gradients[i].grad), NULL, what);
      json_builder_begin_object (builder);
      adj_json_add_string (builder, "leaf", get_leaf (graph, result, i));
      adj_json_add_string (builder, "value", what->str);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "recorded_values");
  json_builder_begin_array (builder);
  for (guint i = 0; i < result->n_recalled; i++)
    json_builder_add_string_value (builder,
                                   adj_graph_get_node (graph, result->recalled[i].index)->name);
  json_builder_end_array (builder);
}

static char *
print_state (AdjObject *object)
{
  GString *text = g_string_new (NULL);

  adj_object_print (object, 12, text);
  return g_string_free (text, FALSE);
}

/* Prints the objects after the run, with their state before it if that differs. */
static void
print_objects (const AdjGraph *graph, const AdjRunResult *result)
{
  for (guint i = 0; i < result->n_objects; i++)
    {
      const AdjRunObject *object = &result->objects[i];
      gboolean same = adj_object_equal (object->before, object->after);
      g_autofree char *before = print_state (object->before), *after = print_state (object->after);

      printf ("'%s' %s  %s", adj_graph_get_node (graph, object->node.index)->name,
              same ? "is unchanged" : "before", before);
      if (!same)
        printf ("'%s' afterwards  %s", adj_graph_get_node (graph, object->node.index)->name, after);
    }
}

static void
add_objects (const AdjGraph *graph, const AdjRunResult *result, JsonBuilder *builder)
{
  json_builder_set_member_name (builder, "objects");
  json_builder_begin_array (builder);
  for (guint i = 0; i < result->n_objects; i++)
    {
      const AdjRunObject *object = &result->objects[i];
      g_autofree char *before = print_state (object->before), *after = print_state (object->after);

      json_builder_begin_object (builder);
      adj_json_add_string (builder, "node", adj_graph_get_node (graph, object->node.index)->name);
      adj_json_add_string (builder, "class", adj_object_get_name (object->before));
      adj_json_add_string (builder, "before", before);
      adj_json_add_string (builder, "after", after);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
print_text (const AdjGraph *graph, const AdjRunResult *result, gboolean profile)
{
  Printing printing = { 0 };
  g_autofree char *peak = adj_format_bytes (result->peak_bytes);

  adj_value_foreach (&result->output, print_output, &printing);
  print_gradients (graph, result);
  print_objects (graph, result);
  printf ("%u nodes in %.2f ms, peak memory %s\n", adj_graph_get_n_calls (graph),
          (double) result->total_ns / 1e6, peak);
  if (result->note != NULL)
    printf ("%s\n", result->note);
  if (profile)
    adj_run_profile_text (graph, result);
}

static void
print_json (const AdjGraph *graph, const AdjRunResult *result, gboolean profile)
{
  Printing printing = { .builder = json_builder_new () };
  JsonBuilder *builder = printing.builder;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "outputs");
  json_builder_begin_array (builder);
  adj_value_foreach (&result->output, print_output, &printing);
  json_builder_end_array (builder);
  if (result->n_gradients > 0 || result->n_recalled > 0)
    add_gradients (graph, result, builder);
  if (result->n_objects > 0)
    add_objects (graph, result, builder);
  adj_json_add_int (builder, "nanoseconds", result->total_ns);
  adj_json_add_int (builder, "peak_bytes", (gint64) result->peak_bytes);
  if (result->note != NULL)
    adj_json_add_string (builder, "note", result->note);
  if (profile)
    adj_run_profile_json (graph, result, builder);
  json_builder_end_object (builder);
  adj_print_json (builder);
}

static gboolean
keep (const AdjSessionRun *run,
      const AdjRunResult *result,
      GHashTable *values,
      const Options *options,
      const char *source,
      GError **error)
{
  const char *path = options->into != NULL ? options->into : source;

  if (!adj_kept_run_save (run, result, values, options->keep, options->inputs, path, error))
    return FALSE;
  if (!options->json)
    printf ("kept as '%s' in %s\n", options->keep, path);
  return TRUE;
}

/* Executors make a plan in their first run, and look for compiled kernels in the first two, so that
 * the third is profiled. */
static gboolean
run_before (const AdjSessionRun *run, GError **error)
{
  gboolean done = TRUE;

  for (guint i = 0; i < 2 && done; i++)
    {
      AdjRunResult result = { 0 };

      done = adj_session_run (run, &result, NULL, NULL, error);
      adj_run_result_clear (&result);
    }
  return done;
}

/* @part: (out) (transfer full): the graph of the nodes that were run alone. */
static gboolean
run_graph (const AdjSessionRun *run,
           const Options *options,
           GHashTable *values,
           AdjGraph **part,
           AdjRunResult *result,
           GError **error)
{
  g_auto (GStrv) nodes = NULL;

  if (options->only == NULL)
    return (!options->profile || options->executor == NULL || run_before (run, error)) &&
           adj_session_run (run, result, values, NULL, error);
  nodes = g_strsplit (options->only, ",", -1);
  return adj_session_run_nodes (run, (const char *const *) nodes, part, result, NULL, error);
}

static gboolean
check_only (const Options *options, GError **error)
{
  if (options->only == NULL)
    return TRUE;
  if (options->values != NULL || options->keep != NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                 "--only keeps no values of nodes: --outputs writes what it returns");
  else if (options->profile)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                 "--only runs its nodes once, too seldom to time them: no --profile");
  else if (options->only[0] == '\0')
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "--only takes names of nodes");
  else
    return TRUE;
  return FALSE;
}

static AdjExit
run_target (AdjTarget *target, const Options *options, GError **error)
{
  g_autoptr (GHashTable) values = NULL;
  AdjProgressLine line = { 0 };
  AdjRunResult result = { 0 };
  AdjSessionRun run = adj_target_run (target);
  g_autoptr (AdjGpu) gpu = NULL;
  g_autoptr (AdjGraph) part = NULL;
  const AdjGraph *graph;
  gboolean done;

  run.random = options->seed >= 0;
  run.seed = (guint32) options->seed;
  run.float64 = options->float64;
  run.timed = options->profile;
  run.progress = adj_progress_line;
  run.data = &line;
  if (options->executor != NULL &&
      (run.executor = adj_executor_find (options->executor, error)) == NULL)
    return ADJ_EXIT_BAD_INPUT;
  if (!check_only (options, error) ||
      !adj_device_option_take (options->device, &run, &gpu, error) ||
      !adj_target_check_understood (target, error) ||
      (options->inputs != NULL && !adj_target_take_inputs (target, options->inputs, &run, error)) ||
      (options->keep != NULL && !adj_kept_run_check (target, options->keep, options->into, error)))
    return ADJ_EXIT_BAD_INPUT;
  if (options->values != NULL || options->keep != NULL)
    values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                    (GDestroyNotify) adj_tensor_data_unref);
  done = run_graph (&run, options, values, &part, &result, error);
  graph = part != NULL ? part : target->graph->graph;
  adj_progress_line_end (&line);
  if (!done)
    g_prefix_error (error, "%s: ", target->name);
  if (done)
    adj_target_say_inputs (&run);
  if (done && options->json)
    print_json (graph, &result, options->profile);
  else if (done)
    print_text (graph, &result, options->profile);
  if (done && options->outputs != NULL)
    done = write_outputs (&result.output, options->outputs, error);
  if (done && options->values != NULL)
    done = write_values (target->graph->graph, values, options->values, error);
  if (done && options->keep != NULL)
    done = keep (&run, &result, values, options, target->path, error);
  adj_run_result_clear (&result);
  return done ? ADJ_EXIT_DONE : ADJ_EXIT_BAD_INPUT;
}

static gboolean
check_program (const AdjProgramTarget *program, const Options *options, GError **error)
{
  const AdjFileOption of_files[] = {
    { "--graph", options->id != NULL },        { "--executor", options->executor != NULL },
    { "--device", options->device != NULL },   { "--inputs", options->inputs != NULL },
    { "--outputs", options->outputs != NULL }, { "--values", options->values != NULL },
    { "--keep", options->keep != NULL },       { "--into", options->into != NULL },
    { "--only", options->only != NULL },       { "--seed", options->seed >= 0 },
    { "--float64", options->float64 },         { "--profile", options->profile },
  };

  return adj_program_target_refuse (program, of_files, G_N_ELEMENTS (of_files), error);
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (Options) options = { .seed = -1 };
  g_auto (AdjTarget) target = { 0 };
  AdjProgramTarget program;
  GOptionEntry entries[] = {
    { "graph", 'g', 0, G_OPTION_ARG_STRING, &options.id, "Which graph of the file", "ID" },
    { "executor", 'e', 0, G_OPTION_ARG_STRING, &options.executor, "What runs it", "NAME" },
    ADJ_DEVICE_OPTION (&options.device),
    { "inputs", 'i', 0, G_OPTION_ARG_FILENAME, &options.inputs,
      "Inputs by placeholder name, or those of a run that was kept", "F.safetensors|run:NAME" },
    { "outputs", 'o', 0, G_OPTION_ARG_FILENAME, &options.outputs, "Write the outputs there",
      "F.safetensors" },
    { "values", 'v', 0, G_OPTION_ARG_FILENAME, &options.values,
      "Write the value of every node there", "F.safetensors" },
    { "keep", 'k', 0, G_OPTION_ARG_STRING, &options.keep,
      "Keep inputs, outputs and the values of nodes in the file", "NAME" },
    { "into", 0, 0, G_OPTION_ARG_FILENAME, &options.into, "Keep them in a copy of the file instead",
      "OUT.adjoint" },
    { "only", 0, 0, G_OPTION_ARG_STRING, &options.only,
      "Run these nodes alone, on the values that they read", "NODE,…" },
    { "seed", 's', 0, G_OPTION_ARG_INT64, &options.seed, "Draw random inputs", "N" },
    { "float64", 0, 0, G_OPTION_ARG_NONE, &options.float64, "Compute floating values in double",
      NULL },
    { "profile", 'p', 0, G_OPTION_ARG_NONE, &options.profile,
      "Print the time of every node, and of every region of a plan", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_run, entries, 1, 1, &argc, &argv, error) ||
      !adj_program_target_init (&program, argv[1], error))
    return ADJ_EXIT_BAD_INPUT;
  if (!check_program (&program, &options, error))
    return ADJ_EXIT_BAD_INPUT;
  if (program.program != NULL)
    return adj_program_target_run (&program, options.json, error);
  if (!adj_target_open (&target, argv[1], options.id, error))
    return ADJ_EXIT_BAD_INPUT;
  return run_target (&target, &options, error);
}

const AdjCommand adj_command_run = {
  .name = "run",
  .usage =
      "FILE[#ID]|PROGRAM[@traced|@captured] [--device D] [--inputs F | --seed N] [--outputs F] "
      "[--keep NAME] [--profile]",
  .summary = "Run a graph on its recorded, given or random inputs",
  .examples = "adjoint run step.adjoint#joint --profile\n"
              "adjoint run mlp\n"
              "adjoint run step.adjoint#joint --only tanh,mm_2 --device cuda\n"
              "adjoint run step.adjoint#joint --keep before\n"
              "adjoint run graph.txt --seed 1 --outputs out.safetensors\n",
  .run = run,
};
