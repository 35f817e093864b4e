/* SPDX-License-Identifier: MIT */
/* adjoint devices: what can run graphs here, and why the rest cannot. */

#include <stdio.h>

#include "adj-command.h"
#include "base/adj-format-bytes.h"

extern const AdjCommand adj_command_devices;

/* What can run graphs here, and why the rest cannot. */
typedef struct
{
  const char *name, *summary;
  char *reason; /* (owned) (nullable): why not */
} Device;

static void
device_clear (gpointer device)
{
  g_free (((Device *) device)->reason);
}

static GArray *
list_devices (void)
{
  GArray *devices = g_array_new (FALSE, FALSE, sizeof (Device));
  gboolean has_cuda = FALSE;

  g_array_set_clear_func (devices, device_clear);
  for (guint i = 0; i < adj_executors_get_n (); i++)
    {
      const AdjExecutor *executor = adj_executors_get (i);
      g_autoptr (GError) error = NULL;
      Device device = { executor->name, executor->summary, NULL };

      if (!executor->available (&error))
        device.reason = g_strdup (error->message);
      has_cuda = has_cuda || g_str_equal (executor->name, "cuda");
      g_array_append_val (devices, device);
    }
  if (!has_cuda)
    {
      Device device = { "cuda", "On a GPU", NULL };

      device.reason = g_strdup ("no CUDA device: this build has no CUDA executor");
      g_array_append_val (devices, device);
    }
  return devices;
}

static void
print_text (const GArray *devices)
{
  g_autofree char *memory = adj_format_bytes (adj_memory_get_available ());

  for (guint i = 0; i < devices->len; i++)
    {
      const Device *device = &g_array_index (devices, Device, i);

      if (device->reason == NULL)
        printf ("%-12s  ready  %s\n", device->name, device->summary);
      else
        printf ("%-12s  –      %s\n", device->name, device->reason);
    }
  printf ("\n%u processors, %s of memory free\n", g_get_num_processors (), memory);
}

static void
print_json (const GArray *devices)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < devices->len; i++)
    {
      const Device *device = &g_array_index (devices, Device, i);

      json_builder_begin_object (builder);
      json_builder_set_member_name (builder, "executor");
      json_builder_add_string_value (builder, device->name);
      json_builder_set_member_name (builder, "summary");
      json_builder_add_string_value (builder, device->summary);
      json_builder_set_member_name (builder, "available");
      json_builder_add_boolean_value (builder, device->reason == NULL);
      json_builder_set_member_name (builder, "reason");
      if (device->reason != NULL)
        json_builder_add_string_value (builder, device->reason);
      else
        json_builder_add_null_value (builder);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  adj_print_json (builder);
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  gboolean json = FALSE;
  g_autoptr (GArray) devices = NULL;
  GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_devices, entries, 0, 0, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  devices = list_devices ();
  if (json)
    print_json (devices);
  else
    print_text (devices);
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_devices = {
  .name = "devices",
  .usage = "",
  .summary = "List what can run graphs here, and why the rest cannot",
  .examples = "adjoint devices --json\n",
  .run = run,
};
