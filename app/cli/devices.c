/* SPDX-License-Identifier: MIT */
/* adjoint devices: executors and devices that can run graphs here, and why others cannot. */

#include <stdio.h>

#include "adj-command.h"
#include "base/adj-format-bytes.h"
#include "json-members.h"
#include "ops/adj-ops.h"

extern const AdjCommand adj_command_devices;

/* An executor or device, and whether it can run graphs here. */
typedef struct
{
  const char *name, *summary;
  char *reason; /* (owned) (nullable): why it cannot */
} Executor;

static void
executor_clear (gpointer executor)
{
  g_free (((Executor *) executor)->reason);
}

static GArray *
list_executors (void)
{
  GArray *executors = g_array_new (FALSE, FALSE, sizeof (Executor));

  g_array_set_clear_func (executors, executor_clear);
  for (guint i = 0; i < adj_executors_get_n (); i++)
    {
      const AdjExecutor *executor = adj_executors_get (i);
      g_autoptr (GError) error = NULL;
      Executor row = { executor->name, executor->summary, NULL };

      if (!executor->available (&error))
        row.reason = g_strdup (error->message);
      g_array_append_val (executors, row);
    }
  return executors;
}

/* (transfer full): AdjGpu: those that CUDA finds, then the emulated one, which always exists. */
static GPtrArray *
list_gpus (void)
{
  GPtrArray *gpus = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_gpu_unref);
  guint n = adj_gpu_count (NULL);
  AdjGpu *emulated = adj_gpu_open ("emulated", NULL);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("cuda:%u", i);
      AdjGpu *gpu = adj_gpu_open (name, NULL);

      if (gpu != NULL)
        g_ptr_array_add (gpus, gpu);
    }
  if (emulated != NULL)
    g_ptr_array_add (gpus, emulated);
  return gpus;
}

/* -- text -- */

static void
print_gpu (const AdjGpu *gpu)
{
  AdjGpuInfo info;
  g_autoptr (GError) error = NULL;
  g_autofree char *all = NULL;
  g_autofree char *there = NULL;

  if (!adj_gpu_describe (gpu, &info, &error))
    {
      printf ("%-12s  –      %s\n", adj_gpu_get_name (gpu), error->message);
      return;
    }
  all = adj_format_bytes (info.memory_bytes);
  there = adj_format_bytes (info.free_bytes);
  printf ("%-12s  %s, %u.%u, %u multiprocessors, %s of %s free, driver for CUDA %u.%u, runtime "
          "%u.%u\n",
          adj_gpu_get_name (gpu), info.name, info.major, info.minor, info.n_processors, there, all,
          info.driver_version / 1000, info.driver_version % 1000 / 10, info.runtime_version / 1000,
          info.runtime_version % 1000 / 10);
  if (adj_gpu_find_missing (gpu) != NULL)
    printf ("              %s\n", adj_gpu_find_missing (gpu));
}

static void
print_text (const GArray *executors, const GPtrArray *gpus)
{
  g_autofree char *memory = adj_format_bytes (adj_memory_get_available ());
  const char *text;
  gboolean available;

  for (guint i = 0; i < executors->len; i++)
    {
      const Executor *executor = &g_array_index (executors, Executor, i);

      if (executor->reason == NULL)
        printf ("%-12s  ready  %s\n", executor->name, executor->summary);
      else
        printf ("%-12s  –      %s\n", executor->name, executor->reason);
    }
  text = adj_ops_describe_lapack (&available);
  printf ("%-12s  %s  %s\n", "LAPACK", available ? "ready" : "–    ", text);
  printf ("\ncpu           %u processors, %s of memory free\n", g_get_num_processors (), memory);
  for (guint i = 0; i < gpus->len; i++)
    print_gpu (gpus->pdata[i]);
}

/* -- JSON -- */

static void
add_executor (JsonBuilder *builder, const Executor *executor)
{
  json_builder_begin_object (builder);
  adj_json_add_string (builder, "executor", executor->name);
  adj_json_add_string (builder, "summary", executor->summary);
  adj_json_add_boolean (builder, "available", executor->reason == NULL);
  adj_json_add_string (builder, "reason", executor->reason);
  json_builder_end_object (builder);
}

static void
add_lapack (JsonBuilder *builder)
{
  gboolean available;
  const char *text = adj_ops_describe_lapack (&available);

  json_builder_begin_object (builder);
  adj_json_add_string (builder, "library", "LAPACK");
  adj_json_add_boolean (builder, "available", available);
  adj_json_add_string (builder, available ? "summary" : "reason", text);
  json_builder_end_object (builder);
}

static void
add_gpu (JsonBuilder *builder, const AdjGpu *gpu)
{
  AdjGpuInfo info;
  g_autoptr (GError) error = NULL;
  gboolean known = adj_gpu_describe (gpu, &info, &error);

  json_builder_begin_object (builder);
  adj_json_add_string (builder, "device", adj_gpu_get_name (gpu));
  adj_json_add_boolean (builder, "available", known);
  adj_json_add_string (builder, "reason", known ? NULL : error->message);
  if (known)
    {
      adj_json_add_string (builder, "name", info.name);
      adj_json_add_string (builder, "missing", adj_gpu_find_missing (gpu));
      adj_json_add_int (builder, "memory_bytes", info.memory_bytes);
      adj_json_add_int (builder, "free_bytes", info.free_bytes);
      adj_json_add_int (builder, "major", info.major);
      adj_json_add_int (builder, "minor", info.minor);
      adj_json_add_int (builder, "multiprocessors", info.n_processors);
      adj_json_add_int (builder, "driver_version", info.driver_version);
      adj_json_add_int (builder, "runtime_version", info.runtime_version);
    }
  json_builder_end_object (builder);
}

static void
print_json (const GArray *executors, const GPtrArray *gpus)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < executors->len; i++)
    add_executor (builder, &g_array_index (executors, Executor, i));
  add_lapack (builder);
  for (guint i = 0; i < gpus->len; i++)
    add_gpu (builder, gpus->pdata[i]);
  json_builder_end_array (builder);
  adj_print_json (builder);
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  gboolean json = FALSE;
  g_autoptr (GArray) executors = NULL;
  g_autoptr (GPtrArray) gpus = NULL;
  GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_devices, entries, 0, 0, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  executors = list_executors ();
  gpus = list_gpus ();
  if (json)
    print_json (executors, gpus);
  else
    print_text (executors, gpus);
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_devices = {
  .name = "devices",
  .usage = "",
  .summary = "List what can run graphs here, and why the rest cannot",
  .examples = "adjoint devices --json\n",
  .run = run,
};
