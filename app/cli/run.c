/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "adj-command.h"

extern const AdjCommand adj_command_run;

typedef struct
{
  char *id;
  char *executor;
  char *inputs;
  char *outputs;
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
  g_free (options->inputs);
  g_free (options->outputs);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* -- inputs and outputs as safetensors: one tensor per placeholder or output, by name -- */

static AdjSafetensors *
read_tensors (const char *path, GError **error)
{
  g_autoptr (GMappedFile) file = g_mapped_file_new (path, FALSE, error);
  g_autoptr (GBytes) bytes = NULL;

  if (file == NULL)
    return NULL;
  bytes = g_mapped_file_get_bytes (file);
  return adj_safetensors_read (bytes, path, error);
}

static AdjValue *
take_inputs (const AdjGraph *graph, const AdjSafetensors *file, const char *path, GError **error)
{
  guint n = adj_graph_get_n_inputs (graph);
  g_autofree AdjValue *inputs = g_new0 (AdjValue, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const char *name = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->name;
      AdjTensorData *data = adj_safetensors_find (file, name);

      if (data == NULL)
        {
          g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "%s: holds no tensor '%s'", path,
                       name);
          return NULL;
        }
      inputs[i] = ADJ_DATA (data);
    }
  return g_steal_pointer (&inputs);
}

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
  g_autoptr (GBytes) bytes = NULL;

  adj_value_foreach (output, collect_tensor, leaves);
  for (guint i = 0; i < leaves->len; i++)
    if (leaves->pdata[i] != NULL)
      {
        g_ptr_array_add (names, g_strdup_printf ("output_%u", i));
        g_ptr_array_add (tensors, leaves->pdata[i]);
      }
  bytes = adj_safetensors_write ((const char *const *) names->pdata,
                                 (AdjTensorData *const *) tensors->pdata, tensors->len, error);
  return bytes != NULL && g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                               (gssize) g_bytes_get_size (bytes), error);
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

static void
print_profile (const AdjGraph *graph, const AdjRunResult *result)
{
  printf ("\n%10s  %s\n", "µs", "NODE");
  for (guint i = 0; i < result->n_nodes; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (node->opcode == ADJ_OPCODE_CALL_FUNCTION)
        printf ("%10.1f  %s  %s\n", (double) result->node_ns[i] / 1e3, node->name, node->target);
    }
}

static void
print_text (const AdjGraph *graph, const AdjRunResult *result, gboolean profile)
{
  Printing printing = { 0 };
  g_autofree char *peak = g_format_size_full (result->peak_bytes, G_FORMAT_SIZE_IEC_UNITS);

  adj_value_foreach (&result->output, print_output, &printing);
  printf ("%u nodes in %.2f ms, peak memory %s\n", adj_graph_get_n_calls (graph),
          (double) result->total_ns / 1e6, peak);
  if (profile)
    print_profile (graph, result);
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
  json_builder_set_member_name (builder, "nanoseconds");
  json_builder_add_int_value (builder, result->total_ns);
  json_builder_set_member_name (builder, "peak_bytes");
  json_builder_add_int_value (builder, (gint64) result->peak_bytes);
  if (profile)
    {
      json_builder_set_member_name (builder, "nodes");
      json_builder_begin_object (builder);
      for (guint i = 0; i < result->n_nodes; i++)
        {
          json_builder_set_member_name (builder, adj_graph_get_node (graph, i)->name);
          json_builder_add_int_value (builder, result->node_ns[i]);
        }
      json_builder_end_object (builder);
    }
  json_builder_end_object (builder);
  adj_print_json (builder);
}

static AdjExit
run_target (const AdjTarget *target, const Options *options, GError **error)
{
  g_autoptr (AdjSafetensors) file = NULL;
  g_autofree AdjValue *inputs = NULL;
  AdjProgressLine line = { 0 };
  AdjRunResult result = { 0 };
  AdjSessionRun run = {
    .bundle = target->bundle,
    .graph = target->graph,
    .recorded = target->recorded,
    .executor = target->executor,
    .random = options->seed >= 0,
    .seed = (guint32) options->seed,
    .float64 = options->float64,
    .progress = adj_progress_line,
    .data = &line,
  };
  gboolean done;

  if (options->executor != NULL &&
      (run.executor = adj_executor_find (options->executor, error)) == NULL)
    return ADJ_EXIT_BAD_INPUT;
  if (options->inputs != NULL)
    {
      file = read_tensors (options->inputs, error);
      inputs =
          file != NULL ? take_inputs (target->graph->graph, file, options->inputs, error) : NULL;
      if (inputs == NULL)
        return ADJ_EXIT_BAD_INPUT;
      run.inputs = inputs;
      run.n_inputs = adj_graph_get_n_inputs (target->graph->graph);
    }
  done = adj_session_run (&run, &result, NULL, NULL, error);
  adj_progress_line_end (&line);
  if (!done)
    g_prefix_error (error, "%s: ", target->name);
  if (done && options->json)
    print_json (target->graph->graph, &result, options->profile);
  else if (done)
    print_text (target->graph->graph, &result, options->profile);
  if (done && options->outputs != NULL)
    done = write_outputs (&result.output, options->outputs, error);
  adj_run_result_clear (&result);
  return done ? ADJ_EXIT_DONE : ADJ_EXIT_BAD_INPUT;
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (Options) options = { .seed = -1 };
  g_auto (AdjTarget) target = { 0 };
  GOptionEntry entries[] = {
    { "graph", 'g', 0, G_OPTION_ARG_STRING, &options.id, "Which graph of the file", "ID" },
    { "executor", 'e', 0, G_OPTION_ARG_STRING, &options.executor, "What runs it", "NAME" },
    { "inputs", 'i', 0, G_OPTION_ARG_FILENAME, &options.inputs, "Inputs by placeholder name",
      "F.safetensors" },
    { "outputs", 'o', 0, G_OPTION_ARG_FILENAME, &options.outputs, "Write the outputs there",
      "F.safetensors" },
    { "seed", 's', 0, G_OPTION_ARG_INT64, &options.seed, "Draw random inputs", "N" },
    { "float64", 0, 0, G_OPTION_ARG_NONE, &options.float64, "Compute floating values in double",
      NULL },
    { "profile", 'p', 0, G_OPTION_ARG_NONE, &options.profile, "Print the time of every node",
      NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON", NULL },
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_run, entries, 1, 1, &argc, &argv, error) ||
      !adj_target_open (&target, argv[1], options.id, error))
    return ADJ_EXIT_BAD_INPUT;
  return run_target (&target, &options, error);
}

const AdjCommand adj_command_run = {
  .name = "run",
  .usage = "FILE[#ID] [--inputs F | --seed N] [--outputs F] [--profile]",
  .summary = "Run a graph on its recorded, given or random inputs",
  .run = run,
};
