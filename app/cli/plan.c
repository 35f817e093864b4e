/* SPDX-License-Identifier: MIT */
/* adjoint plan: the execution plan of a graph: regions with reasons, and the arena. */

#include <stdio.h>
#include <string.h>

#include "adj-command.h"
#include "base/adj-format-bytes.h"
#include "ir/adj-graph.h"
#include "json-members.h"
#include "plugins.h"

extern const AdjCommand adj_command_plan;

/* names of nodes that are printed per region */
#define MAX_NAMES 6

/* -- text -- */

static void
print_names (const AdjGraph *graph, const AdjPlanRegion *region)
{
  guint n = MIN (region->n_nodes, MAX_NAMES);

  for (guint i = 0; i < n; i++)
    printf ("%s%s", i > 0 ? ", " : "", adj_graph_get_node (graph, region->nodes[i].index)->name);
  if (region->n_nodes > n)
    printf (" and %u more", region->n_nodes - n);
}

/* Prints the least time on a GPU, in microseconds, and whether memory or arithmetic bounds it. */
static void
print_bound (const AdjDeviceModel *model, const AdjPlan *plan, guint index)
{
  AdjDeviceBound bound = adj_device_model_bound (model, plan, index);

  printf ("%9.3f  %-10s  ", 1e6 * MAX (bound.memory, bound.arithmetic),
          bound.arithmetic > bound.memory ? "arithmetic" : "memory");
}

static void
print_regions (const AdjPlan *plan, const AdjDeviceModel *model)
{
  const AdjGraph *graph = adj_plan_get_graph (plan);

  printf ("\n%6s  %-11s  %10s  %8s  ", "REGION", "KIND", "BYTES", "MFLOP");
  if (model != NULL)
    printf ("%9s  %-10s  ", "AT LEAST", "µs, BY");
  printf ("NODES\n");
  for (guint i = 0; i < adj_plan_get_n_regions (plan); i++)
    {
      AdjPlanRegion region;
      g_autofree char *bytes = NULL;

      adj_plan_get_region (plan, i, &region);
      bytes = adj_format_bytes (region.bytes);
      printf ("%6u  %-11s  %10s  %8.3f  ", i, region.kind, bytes, region.flops / 1e6);
      if (model != NULL)
        print_bound (model, plan, i);
      print_names (graph, &region);
      printf ("%s%s\n", region.reason != NULL ? "; " : "",
              region.reason != NULL ? region.reason : "");
    }
}

static void
print_buffers (const AdjPlan *plan)
{
  const AdjGraph *graph = adj_plan_get_graph (plan);

  printf ("\n%6s  %-8s  %10s  %10s  %13s  %s\n", "BUFFER", "MEMORY", "BYTES", "OFFSET", "REGIONS",
          "NODE");
  for (guint i = 0; i < adj_plan_get_n_buffers (plan); i++)
    {
      AdjPlanBuffer buffer;
      g_autofree char *bytes = NULL;

      adj_plan_get_buffer (plan, i, &buffer);
      if (buffer.first == ADJ_PLAN_NOWHERE)
        continue;
      bytes = adj_format_bytes (buffer.bytes);
      printf ("%6u  %-8s  %10s  %10" G_GUINT64_FORMAT "  %5u – %5u  %s", i, buffer.memory, bytes,
              buffer.offset, buffer.first, buffer.last,
              adj_graph_get_node (graph, buffer.node.index)->name);
      if (buffer.taken_over != ADJ_PLAN_NOWHERE)
        printf (", in the place of %u", buffer.taken_over);
      printf ("\n");
    }
}

typedef struct
{
  guint n_calls, n_fused, n_in_fused, n_operators, n_interpreted, n_registers;
} Counts;

static Counts
count (const AdjPlan *plan)
{
  Counts counts = { 0 };

  for (guint i = 0; i < adj_plan_get_n_regions (plan); i++)
    {
      AdjPlanRegion region;

      adj_plan_get_region (plan, i, &region);
      counts.n_calls += region.n_nodes;
      if (strcmp (region.kind, "fused") == 0)
        {
          counts.n_fused++;
          counts.n_in_fused += region.n_nodes;
        }
      else if (strcmp (region.kind, "interpreter") == 0)
        counts.n_interpreted++;
      else
        counts.n_operators++;
    }
  for (guint i = 0; i < adj_plan_get_n_buffers (plan); i++)
    {
      AdjPlanBuffer buffer;

      adj_plan_get_buffer (plan, i, &buffer);
      counts.n_registers += strcmp (buffer.memory, "register") == 0;
    }
  return counts;
}

static double
ratio_of_arena (const AdjPlan *plan)
{
  guint64 bound = adj_plan_get_lower_bound (plan);

  return bound > 0 ? (double) adj_plan_get_arena_bytes (plan) / (double) bound : 1;
}

/* Prints the time of all regions in sequence, each at its bound. */
static void
print_prediction (const AdjPlan *plan, const AdjDeviceModel *model)
{
  double seconds = 0, memory = 0;
  guint n = adj_plan_get_n_regions (plan), n_memory = 0;

  for (guint i = 0; i < n; i++)
    {
      AdjDeviceBound bound = adj_device_model_bound (model, plan, i);

      seconds += MAX (bound.memory, bound.arithmetic);
      if (bound.memory >= bound.arithmetic)
        {
          memory += bound.memory;
          n_memory++;
        }
    }
  printf ("on an %s at least %.1f µs beside %u launches: %.1f µs of %u regions that memory "
          "bounds, %.1f µs of %u that arithmetic does\n",
          model->title, 1e6 * seconds, n, 1e6 * memory, n_memory, 1e6 * (seconds - memory),
          n - n_memory);
}

static void
print_text (const AdjPlan *plan, const AdjDeviceModel *model, gboolean buffers)
{
  Counts counts = count (plan);
  g_autofree char *arena = adj_format_bytes (adj_plan_get_arena_bytes (plan));
  g_autofree char *bound = adj_format_bytes (adj_plan_get_lower_bound (plan));
  g_autofree char *peak = adj_format_bytes (adj_plan_get_peak_bytes (plan));

  printf ("%u nodes compute, in %u regions: %u fused of %u nodes, %u operators, %u by the "
          "interpreter\n",
          counts.n_calls, adj_plan_get_n_regions (plan), counts.n_fused, counts.n_in_fused,
          counts.n_operators, counts.n_interpreted);
  printf (
      "%u results stay in registers; arena %s, of which %s are held at once (%.3f); with inputs, "
      "constants and outputs %s\n",
      counts.n_registers, arena, bound, ratio_of_arena (plan), peak);
  printf ("planned in %.2f ms\n", (double) adj_plan_get_planned_ns (plan) / 1e6);
  if (model != NULL)
    print_prediction (plan, model);
  print_regions (plan, model);
  if (buffers)
    print_buffers (plan);
}

/* -- JSON -- */

static void
add_bound (JsonBuilder *builder, const AdjDeviceModel *model, const AdjPlan *plan, guint index)
{
  AdjDeviceBound bound = adj_device_model_bound (model, plan, index);

  adj_json_add_double (builder, "memory_seconds", bound.memory);
  adj_json_add_double (builder, "arithmetic_seconds", bound.arithmetic);
}

static void
add_region (JsonBuilder *builder, const AdjPlan *plan, const AdjDeviceModel *model, guint index)
{
  AdjPlanRegion region;

  adj_plan_get_region (plan, index, &region);
  json_builder_begin_object (builder);
  adj_json_add_string (builder, "kind", region.kind);
  json_builder_set_member_name (builder, "nodes");
  json_builder_begin_array (builder);
  for (guint i = 0; i < region.n_nodes; i++)
    json_builder_add_string_value (
        builder, adj_graph_get_node (adj_plan_get_graph (plan), region.nodes[i].index)->name);
  json_builder_end_array (builder);
  if (region.reason != NULL)
    adj_json_add_string (builder, "reason", region.reason);
  adj_json_add_int (builder, "bytes", region.bytes);
  adj_json_add_double (builder, "flops", region.flops);
  if (model != NULL)
    add_bound (builder, model, plan, index);
  json_builder_end_object (builder);
}

static void
add_buffer (JsonBuilder *builder, const AdjPlan *plan, guint index)
{
  AdjPlanBuffer buffer;

  adj_plan_get_buffer (plan, index, &buffer);
  json_builder_begin_object (builder);
  adj_json_add_string (builder, "node",
                       adj_graph_get_node (adj_plan_get_graph (plan), buffer.node.index)->name);
  adj_json_add_string (builder, "memory", buffer.memory);
  adj_json_add_int (builder, "bytes", buffer.bytes);
  if (strcmp (buffer.memory, "arena") == 0)
    adj_json_add_int (builder, "offset", buffer.offset);
  if (buffer.first != ADJ_PLAN_NOWHERE)
    {
      adj_json_add_int (builder, "first", buffer.first);
      adj_json_add_int (builder, "last", buffer.last);
    }
  if (buffer.taken_over != ADJ_PLAN_NOWHERE)
    adj_json_add_int (builder, "taken_over", buffer.taken_over);
  json_builder_end_object (builder);
}

static void
print_json (const AdjPlan *plan, const AdjDeviceModel *model)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  adj_json_add_int (builder, "arena_bytes", adj_plan_get_arena_bytes (plan));
  adj_json_add_int (builder, "lower_bound", adj_plan_get_lower_bound (plan));
  adj_json_add_int (builder, "peak_bytes", adj_plan_get_peak_bytes (plan));
  adj_json_add_int (builder, "planned_ns", (guint64) adj_plan_get_planned_ns (plan));
  json_builder_set_member_name (builder, "regions");
  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_plan_get_n_regions (plan); i++)
    add_region (builder, plan, model, i);
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "buffers");
  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_plan_get_n_buffers (plan); i++)
    add_buffer (builder, plan, i);
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  adj_print_json (builder);
}

/* Prints why a graph has no plan: it is one region of the interpreter. */
static void
print_refusal (const char *why, gboolean json)
{
  JsonBuilder *builder;

  if (!json)
    {
      printf ("the interpreter runs all of it: %s\n", why);
      return;
    }
  builder = json_builder_new ();
  json_builder_begin_object (builder);
  adj_json_add_string (builder, "by_interpreter", why);
  json_builder_end_object (builder);
  adj_print_json (builder);
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (AdjTarget) target = { 0 };
  g_autoptr (AdjPlan) plan = NULL;
  g_autofree char *id = NULL;
  g_autofree char *name = NULL;
  const AdjDeviceModel *model = NULL;
  gboolean json = FALSE, buffers = FALSE;
  AdjSessionRun session;
  GOptionEntry entries[] = {
    { "graph", 'g', 0, G_OPTION_ARG_STRING, &id, "Which graph of the file", "ID" },
    { "buffers", 'b', 0, G_OPTION_ARG_NONE, &buffers, "Print where every result lies, and when",
      NULL },
    { "device-model", 0, 0, G_OPTION_ARG_STRING, &name,
      "Say how long a GPU needs for each region at least: t4, a100-80, h100, h200 …", "NAME" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_plan, entries, 1, 1, &argc, &argv, error) ||
      (name != NULL && (model = adj_device_model_find (name, error)) == NULL) ||
      !adj_target_open (&target, argv[1], id, error) ||
      !adj_target_check_understood (&target, error))
    return ADJ_EXIT_BAD_INPUT;
  session = adj_target_run (&target);
  plan = adj_session_plan (&session, error);
  if (plan == NULL)
    {
      g_prefix_error (error, "%s: ", target.name);
      return ADJ_EXIT_BAD_INPUT;
    }
  if (adj_plan_get_refusal (plan) != NULL)
    print_refusal (adj_plan_get_refusal (plan), json);
  else if (json)
    print_json (plan, model);
  else
    print_text (plan, model, buffers);
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_plan = {
  .name = "plan",
  .usage = "FILE[#ID] [--buffers] [--device-model GPU]",
  .summary = "Show how the planned executor runs a graph: regions, why they end, the arena",
  .examples = "adjoint plan gpt2.adjoint#joint\n"
              "adjoint plan gpt2.adjoint#joint --device-model h200\n",
  .run = run,
};
