/* SPDX-License-Identifier: MIT */
/* adjoint memory: the state and history of a GPU's allocator, from a snapshot that PyTorch dumped;
 * with a graph, also its estimated memory. */

#include <stdio.h>

#include "adj-command.h"
#include "base/adj-format-bytes.h"
#include "formats/adj-memory-snapshot.h"
#include "ir/adj-graph.h"
#include "json-members.h"
#include "plugins.h"
#include "report/adj-timeline.h"

extern const AdjCommand adj_command_memory;

static void
print_segments (const AdjMemorySnapshot *snapshot)
{
  guint n = adj_memory_snapshot_get_n_segments (snapshot);

  printf ("%6s %-6s %10s %10s %8s\n", "DEVICE", "TYPE", "RESERVED", "IN USE", "BLOCKS");
  for (guint i = 0; i < n; i++)
    {
      const AdjMemorySegment *segment = adj_memory_snapshot_get_segment (snapshot, i);
      g_autofree char *total = adj_format_bytes (segment->total);
      g_autofree char *allocated = adj_format_bytes (segment->allocated);

      printf ("%6u %-6s %10s %10s %8u\n", segment->device, segment->type, total, allocated,
              segment->n_blocks);
    }
}

static void
print_events (const AdjMemorySnapshot *snapshot)
{
  guint n = adj_memory_snapshot_get_n_events (snapshot);
  gint64 start = n > 0 ? adj_memory_snapshot_get_event (snapshot, 0)->time_us : 0;

  printf ("%6s %10s %-18s %10s %10s  %-24s %s\n", "DEVICE", "MS", "ACTION", "SIZE", "IN USE",
          "NODE", "WHERE");
  for (guint i = 0; i < n; i++)
    {
      const AdjMemoryEvent *event = adj_memory_snapshot_get_event (snapshot, i);
      g_autofree char *size = adj_format_bytes (event->size);
      g_autofree char *allocated = adj_format_bytes (event->allocated);

      printf ("%6u %10.3f %-18s %10s %10s  %-24s %s\n", event->device,
              (double) (event->time_us - start) / 1000, event->action, size, allocated,
              event->node != NULL ? event->node : "", event->frame != NULL ? event->frame : "");
    }
}

/* Prints the event after which most memory was in use. */
static void
print_peak (const AdjMemorySnapshot *snapshot)
{
  guint n = adj_memory_snapshot_get_n_events (snapshot), peak = 0;
  const AdjMemoryEvent *event;
  g_autofree char *allocated = NULL;

  for (guint i = 1; i < n; i++)
    if (adj_memory_snapshot_get_event (snapshot, i)->allocated >
        adj_memory_snapshot_get_event (snapshot, peak)->allocated)
      peak = i;
  if (n == 0)
    {
      printf ("\nno history was recorded\n");
      return;
    }
  event = adj_memory_snapshot_get_event (snapshot, peak);
  allocated = adj_format_bytes (event->allocated);
  printf ("\n%u events; most in use: %s, behind event %u%s%s\n", n, allocated, peak + 1,
          event->frame != NULL ? ", in " : "", event->frame != NULL ? event->frame : "");
}

static void
print_json (const AdjMemorySnapshot *snapshot)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "segments");
  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_memory_snapshot_get_n_segments (snapshot); i++)
    {
      const AdjMemorySegment *segment = adj_memory_snapshot_get_segment (snapshot, i);

      json_builder_begin_object (builder);
      adj_json_add_int (builder, "device", segment->device);
      adj_json_add_int (builder, "reserved", segment->total);
      adj_json_add_int (builder, "allocated", segment->allocated);
      adj_json_add_int (builder, "active", segment->active);
      adj_json_add_int (builder, "blocks", segment->n_blocks);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "events");
  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_memory_snapshot_get_n_events (snapshot); i++)
    {
      const AdjMemoryEvent *event = adj_memory_snapshot_get_event (snapshot, i);

      json_builder_begin_object (builder);
      adj_json_add_int (builder, "device", event->device);
      adj_json_add_string (builder, "action", event->action);
      adj_json_add_int (builder, "size", event->size);
      adj_json_add_int (builder, "allocated", event->allocated);
      adj_json_add_int (builder, "time_us", (guint64) event->time_us);
      adj_json_add_string (builder, "frame", event->frame);
      adj_json_add_string (builder, "node", event->node);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  adj_print_json (builder);
}

/* -- beside a graph -- */

/* The bytes that each step allocated.  (transfer full) */
static guint64 *
sum_allocated (const AdjTimeline *measured)
{
  guint64 *bytes = g_new0 (guint64, measured->n_steps);

  for (guint i = 0; i < measured->held->len; i++)
    {
      const AdjHeld *held = &g_array_index (measured->held, AdjHeld, i);

      bytes[held->first] += (guint64) held->bytes;
    }
  return bytes;
}

static void
print_sides (const AdjTimeline *estimated, const AdjTimeline *measured)
{
  const AdjTimeline *const sides[] = { estimated, measured };
  g_autofree guint64 *bytes = sum_allocated (measured);

  printf ("%6s %-32s %10s %10s %10s\n", "STEP", "NODE", "ALLOCATED", "ESTIMATE", "IN USE");
  for (guint i = 0; i < measured->n_steps; i++)
    {
      g_autofree char *allocated = adj_format_bytes (bytes[i]);
      g_autofree char *estimate = adj_format_bytes (estimated->live[i]);
      g_autofree char *in_use = adj_format_bytes (measured->live[i]);

      if (bytes[i] > 0)
        printf ("%6u %-32s %10s %10s %10s\n", i + 1, adj_graph_get_node (measured->graph, i)->name,
                allocated, estimate, in_use);
    }
  putchar ('\n');
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    {
      g_autofree char *most = adj_format_bytes (sides[i]->live[sides[i]->peak]);

      printf ("%s peak: %s with inputs, at %s\n", i == 0 ? "estimated" : "measured", most,
              adj_graph_get_node (sides[i]->graph, sides[i]->peak)->name);
    }
}

static void
print_sides_json (const AdjTimeline *estimated, const AdjTimeline *measured)
{
  g_autofree guint64 *bytes = sum_allocated (measured);
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "steps");
  json_builder_begin_array (builder);
  for (guint i = 0; i < measured->n_steps; i++)
    {
      json_builder_begin_object (builder);
      adj_json_add_string (builder, "node", adj_graph_get_node (measured->graph, i)->name);
      adj_json_add_int (builder, "allocated", bytes[i]);
      adj_json_add_int (builder, "estimated", estimated->live[i]);
      adj_json_add_int (builder, "measured", measured->live[i]);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  adj_print_json (builder);
}

static AdjExit
lay_over (const AdjMemorySnapshot *snapshot,
          const char *path,
          const char *name,
          gboolean json,
          GError **error)
{
  g_auto (AdjTarget) target = { 0 };
  g_autoptr (AdjTimeline) estimated = NULL;
  g_autoptr (AdjTimeline) measured = NULL;

  if (!adj_target_open (&target, name, NULL, error))
    return ADJ_EXIT_BAD_INPUT;
  measured = adj_timeline_new_measured (target.graph->graph, snapshot, error);
  if (measured == NULL)
    {
      g_prefix_error (error, "%s: ", path);
      return ADJ_EXIT_BAD_INPUT;
    }
  estimated = adj_timeline_new (target.graph->graph);
  (json ? print_sides_json : print_sides) (estimated, measured);
  return ADJ_EXIT_DONE;
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  gboolean events = FALSE, json = FALSE;
  g_autoptr (AdjMemorySnapshot) snapshot = NULL;
  GOptionEntry entries[] = {
    { "events", 'e', 0, G_OPTION_ARG_NONE, &events, "List every event too", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    PLUGIN_OPTION,
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_memory, entries, 1, 2, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  snapshot = adj_memory_snapshot_load (argv[1], NULL, error);
  if (snapshot == NULL)
    return ADJ_EXIT_BAD_INPUT;
  if (argc > 2)
    return lay_over (snapshot, argv[1], argv[2], json, error);
  if (json)
    {
      print_json (snapshot);
      return ADJ_EXIT_DONE;
    }
  print_segments (snapshot);
  if (events)
    {
      putchar ('\n');
      print_events (snapshot);
    }
  print_peak (snapshot);
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_memory = {
  .name = "memory",
  .usage = "SNAPSHOT.pickle [--events] | SNAPSHOT.pickle FILE[#ID]",
  .summary = "List what the allocator of a GPU held, of a snapshot that PyTorch dumped; with a "
             "graph, what each of its nodes allocated beside what it is estimated to hold",
  .examples = "adjoint memory snapshot.pickle\n"
              "adjoint memory snapshot.pickle --events\n"
              "adjoint memory snapshot.pickle log#0-0-forward\n",
  .run = run,
};
