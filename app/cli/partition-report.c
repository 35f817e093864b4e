/* SPDX-License-Identifier: MIT */
/* A partition as text and as JSON: its cost, one node's decision, and the curve of budgets. */

#include "partition-report.h"

#include <math.h>
#include <stdio.h>

#include "base/adj-format-bytes.h"
#include "ir/adj-graph.h"
#include "json-members.h"

#define N_BUDGETS 11

void
adj_partition_report_json (const AdjPartition *partition, JsonBuilder *builder)
{
  adj_json_add_string (builder, "partitioner", partition->partitioner);
  adj_json_add_int (builder, "saved_bytes", (gint64) partition->saved_bytes);
  adj_json_add_int (builder, "peak_bytes", (gint64) partition->cost.peak);
  adj_json_add_double (builder, "recompute_flops", partition->cost.recompute_flops);
  adj_json_add_int (builder, "fused_traffic", (gint64) partition->cost.fused_traffic);
  json_builder_set_member_name (builder, "nodes");
  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_graph_get_n_nodes (partition->joint); i++)
    {
      const AdjNodeDecision *decision = &partition->nodes[i];

      json_builder_begin_object (builder);
      adj_json_add_string (builder, "name", adj_graph_get_node (partition->joint, i)->name);
      adj_json_add_string (builder, "fate", adj_decision_kind_name (decision->kind));
      adj_json_add_string (builder, "rule", adj_partition_rule_name (decision->rule));
      adj_json_add_string (builder, "ban", adj_partition_rule_name (decision->ban));
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

void
adj_partition_report_text (const AdjPartition *partition)
{
  const AdjPartitionCost *cost = &partition->cost;
  g_autofree char *saved = adj_format_bytes (partition->saved_bytes);
  g_autofree char *forward = adj_format_bytes (cost->forward.peak);
  g_autofree char *backward = adj_format_bytes (cost->backward.peak);
  g_autofree char *moved = adj_format_bytes (cost->fused_traffic);

  printf ("%s: %u values saved, %s; %u nodes computed again, %.3g flops\n", partition->partitioner,
          partition->n_saved, saved, cost->n_recomputed, cost->recompute_flops);
  printf (
      "peak beside the inputs: forward %s, backward %s; kernels move %s when what fuses is one\n",
      forward, backward, moved);
}

/* -- one node -- */

static void
print_node_json (const AdjPartition *partition, AdjNodeId id, const char *sentence)
{
  const AdjNodeDecision *decision = &partition->nodes[id.index];
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  adj_json_add_string (builder, "name", adj_graph_get_node (partition->joint, id.index)->name);
  adj_json_add_string (builder, "fate", adj_decision_kind_name (decision->kind));
  adj_json_add_string (builder, "rule", adj_partition_rule_name (decision->rule));
  adj_json_add_string (builder, "ban", adj_partition_rule_name (decision->ban));
  adj_json_add_int (builder, "bytes", (gint64) decision->bytes);
  adj_json_add_int (builder, "weight", decision->weight);
  adj_json_add_string (builder, "sentence", sentence);
  json_builder_end_object (builder);
  adj_print_json (builder);
}

gboolean
adj_partition_report_node (const AdjPartition *partition,
                           const char *name,
                           gboolean json,
                           GError **error)
{
  g_autofree char *sentence = NULL;
  const AdjNodeMeta *meta;
  AdjNodeId id;

  if (partition == NULL)
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                           "no partitioner ran that could explain a node");
      return FALSE;
    }
  id = adj_graph_find_node (partition->joint, name);
  if (!adj_node_id_is_valid (id))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "the joint graph has no node '%s' (--dump-after joint prints it)", name);
      return FALSE;
    }
  sentence = adj_partition_explain (partition, id);
  if (json)
    {
      print_node_json (partition, id, sentence);
      return TRUE;
    }
  puts (sentence);
  meta = &adj_graph_get_node (partition->joint, id.index)->meta;
  if (meta->n_frames > 0)
    printf ("    %s:%u: %s\n", meta->frames[meta->n_frames - 1].file,
            meta->frames[meta->n_frames - 1].line, meta->frames[meta->n_frames - 1].code);
  return TRUE;
}

/* -- the curve -- */

/* The name of the partitioner of a plan. */
static const char *
by (const AdjParetoPoint *point)
{
  if (g_str_equal (point->partitioner, "optimal"))
    return "optimal";
  return g_str_equal (point->partitioner, "pair") ? "the file" : "PyTorch";
}

static const char *
mark_of (const AdjParetoPoint *point)
{
  if (point->wrong != NULL)
    return "  !";
  return point->is_dominated ? "" : "  *";
}

/* Prints each reason once. */
static void
print_wrongs (const GArray *points)
{
  for (guint i = 0; i < points->len; i++)
    {
      const char *wrong = g_array_index (points, AdjParetoPoint, i).wrong;
      gboolean is_known = wrong == NULL;

      for (guint k = 0; k < i && !is_known; k++)
        is_known = g_array_index (points, AdjParetoPoint, k).wrong == wrong;
      if (!is_known)
        printf ("! is another program: %s\n", wrong);
    }
}

static void
print_points (const GArray *points)
{
  printf ("%6s  %-10s %12s %12s %12s\n", "BUDGET", "BY", "PEAK", "SAVED", "FLOPS AGAIN");
  for (guint i = 0; i < points->len; i++)
    {
      const AdjParetoPoint *point = &g_array_index (points, AdjParetoPoint, i);
      g_autofree char *peak = adj_format_bytes (point->peak);
      g_autofree char *saved = adj_format_bytes (point->saved_bytes);

      if (isnan (point->budget))
        printf ("%6s  ", "");
      else
        printf ("%6.2g  ", point->budget);
      printf ("%-10s %12s %12s %12.4g%s\n", by (point), peak, saved, point->recompute_flops,
              mark_of (point));
    }
  printf ("* no other plan has a lower peak without more flops\n");
  print_wrongs (points);
}

static void
print_points_json (const GArray *points)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "points");
  json_builder_begin_array (builder);
  for (guint i = 0; i < points->len; i++)
    {
      const AdjParetoPoint *point = &g_array_index (points, AdjParetoPoint, i);

      json_builder_begin_object (builder);
      adj_json_add_string (builder, "by", by (point));
      if (isnan (point->budget))
        {
          json_builder_set_member_name (builder, "budget");
          json_builder_add_null_value (builder);
        }
      adj_json_add_double (builder, "budget", point->budget);
      adj_json_add_int (builder, "peak_bytes", (gint64) point->peak);
      adj_json_add_int (builder, "saved_bytes", (gint64) point->saved_bytes);
      adj_json_add_double (builder, "recompute_flops", point->recompute_flops);
      adj_json_add_int (builder, "recompute_traffic", (gint64) point->recompute_traffic);
      json_builder_set_member_name (builder, "wrong");
      if (point->wrong != NULL)
        json_builder_add_string_value (builder, point->wrong);
      else
        json_builder_add_null_value (builder);
      adj_json_add_boolean (builder, "dominated", point->is_dominated);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  adj_print_json (builder);
}

/* Adds the plan of the file to the others. */
static void
add_recorded (GArray *points,
              const AdjPartition *partition,
              const AdjGraph *backward,
              const AdjPartitionOptions *options)
{
  AdjParetoPoint point;

  if (backward == NULL ||
      !adj_partition_measure (partition->joint, backward, options, &point, NULL))
    return;
  for (guint i = 0; i < points->len && !point.is_dominated; i++)
    {
      const AdjParetoPoint *other = &g_array_index (points, AdjParetoPoint, i);

      point.is_dominated =
          other->wrong == NULL && other->peak <= point.peak &&
          other->recompute_flops <= point.recompute_flops &&
          (other->peak < point.peak || other->recompute_flops < point.recompute_flops);
    }
  g_array_append_val (points, point);
}

gboolean
adj_partition_report_pareto (const AdjPartition *partition,
                             const AdjPartitionOptions *options,
                             const AdjGraph *backward,
                             gboolean json,
                             GError **error)
{
  AdjPartitionOptions at = *options;
  g_autoptr (GArray) points = NULL;

  at.num_fwd_outputs = (gint) partition->num_fwd_outputs;
  points = adj_partition_pareto (partition->joint,
                                 &(AdjParetoOptions){ .partition = &at, .n_budgets = N_BUDGETS },
                                 NULL, error);
  if (points == NULL)
    return FALSE;
  add_recorded (points, partition, backward, &at);
  (json ? print_points_json : print_points) (points);
  return TRUE;
}
