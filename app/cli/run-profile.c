/* SPDX-License-Identifier: MIT */
/* The profile of a run: the time of its nodes, operators and regions. */

#include "run-profile.h"

#include <stdio.h>

#include "base/adj-format-bytes.h"
#include "ir/adj-graph.h"
#include "json-members.h"

/* One row of a profile: a node, or all nodes of one target. */
typedef struct
{
  const char *name, *target;
  gint64 ns;
  guint n;
} Cost;

static gint
by_time (gconstpointer a, gconstpointer b)
{
  const Cost *x = a, *y = b;

  return (y->ns > x->ns) - (y->ns < x->ns);
}

static GArray *
costs_of_nodes (const AdjGraph *graph, const AdjRunResult *result)
{
  GArray *costs = g_array_new (FALSE, FALSE, sizeof (Cost));

  for (guint i = 0; i < result->n_nodes; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      Cost cost = { node->name, node->target, result->node_ns[i], 1 };

      if (node->opcode == ADJ_OPCODE_CALL_FUNCTION)
        g_array_append_val (costs, cost);
    }
  g_array_sort (costs, by_time);
  return costs;
}

static GArray *
costs_of_targets (const GArray *nodes)
{
  g_autoptr (GHashTable) places = g_hash_table_new (g_str_hash, g_str_equal);
  GArray *costs = g_array_new (FALSE, FALSE, sizeof (Cost));

  for (guint i = 0; i < nodes->len; i++)
    {
      Cost cost = g_array_index (nodes, Cost, i);
      guint place = GPOINTER_TO_UINT (g_hash_table_lookup (places, cost.target));

      if (place == 0)
        {
          g_array_append_val (costs, cost);
          g_hash_table_insert (places, (gpointer) cost.target, GUINT_TO_POINTER (costs->len));
          continue;
        }
      g_array_index (costs, Cost, place - 1).ns += cost.ns;
      g_array_index (costs, Cost, place - 1).n++;
    }
  g_array_sort (costs, by_time);
  return costs;
}

/* Prints the most expensive nodes, then operators. */
static void
print_costs (const AdjGraph *graph, const AdjRunResult *result)
{
  g_autoptr (GArray) nodes = costs_of_nodes (graph, result);
  g_autoptr (GArray) targets = costs_of_targets (nodes);
  double total = MAX ((double) result->total_ns, 1);

  printf ("\n%10s  %6s  %s\n", "µs", "SHARE", "NODE");
  for (guint i = 0; i < nodes->len; i++)
    {
      const Cost *cost = &g_array_index (nodes, Cost, i);

      printf ("%10.1f  %5.1f%%  %s  %s\n", (double) cost->ns / 1e3, 100 * (double) cost->ns / total,
              cost->name, cost->target);
    }
  printf ("\n%10s  %6s  %5s  %s\n", "µs", "SHARE", "CALLS", "OPERATOR");
  for (guint i = 0; i < targets->len; i++)
    {
      const Cost *cost = &g_array_index (targets, Cost, i);

      printf ("%10.1f  %5.1f%%  %5u  %s\n", (double) cost->ns / 1e3,
              100 * (double) cost->ns / total, cost->n, cost->target);
    }
}

/* Prints regions in the order in which they ran. */
static void
print_regions (const AdjGraph *graph, const AdjRunResult *result)
{
  double total = MAX ((double) result->total_ns, 1);

  printf ("\n%6s  %10s  %6s  %10s  %7s  %7s  %-11s  %5s  %s\n", "REGION", "µs", "SHARE", "BYTES",
          "GB/s", "GFLOP/s", "KIND", "NODES", "LAST NODE");
  for (guint i = 0; i < result->n_regions; i++)
    {
      const AdjRunRegion *region = &result->regions[i];
      double ns = MAX ((double) region->ns, 1);
      g_autofree char *bytes = adj_format_bytes (region->bytes);

      printf ("%6u  %10.1f  %5.1f%%  %10s  %7.2f  %7.2f  %-11s  %5u  %s\n", i, ns / 1e3,
              100 * ns / total, bytes, (double) region->bytes / ns, region->flops / ns,
              region->kind, region->n_nodes, adj_graph_get_node (graph, region->last.index)->name);
    }
}

static void
add_regions (const AdjGraph *graph, const AdjRunResult *result, JsonBuilder *builder)
{
  json_builder_set_member_name (builder, "regions");
  json_builder_begin_array (builder);
  for (guint i = 0; i < result->n_regions; i++)
    {
      const AdjRunRegion *region = &result->regions[i];

      json_builder_begin_object (builder);
      adj_json_add_string (builder, "kind", region->kind);
      adj_json_add_string (builder, "last", adj_graph_get_node (graph, region->last.index)->name);
      adj_json_add_int (builder, "nodes", region->n_nodes);
      adj_json_add_int (builder, "nanoseconds", (guint64) region->ns);
      adj_json_add_int (builder, "bytes", region->bytes);
      adj_json_add_double (builder, "flops", region->flops);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

void
adj_run_profile_text (const AdjGraph *graph, const AdjRunResult *result)
{
  if (result->n_regions > 0)
    print_regions (graph, result);
  print_costs (graph, result);
}

void
adj_run_profile_json (const AdjGraph *graph, const AdjRunResult *result, JsonBuilder *builder)
{
  if (result->n_regions > 0)
    add_regions (graph, result, builder);
  json_builder_set_member_name (builder, "nodes");
  json_builder_begin_object (builder);
  for (guint i = 0; i < result->n_nodes; i++)
    adj_json_add_int (builder, adj_graph_get_node (graph, i)->name, result->node_ns[i]);
  json_builder_end_object (builder);
}
