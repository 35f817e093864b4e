/* SPDX-License-Identifier: MIT */
/* A comparison as text and as JSON. */

#include "comparison-report.h"

#include <math.h>
#include <stdio.h>

#include "ir/adj-graph.h"
#include "json-members.h"

static const char *
value_name (const AdjGraph *graph, const AdjValueComparison *value)
{
  return adj_node_id_is_valid (value->node) ? adj_graph_get_node (graph, value->node.index)->name
                                            : "none";
}

static void
print_number (double number)
{
  if (isnan (number))
    printf ("  %9s", "–");
  else
    printf ("  %9.2e", number);
}

static void
print_row (const AdjGraph *graph, const AdjValueComparison *value, const char *what)
{
  printf ("%-8s %-28s", what, value_name (graph, value));
  print_number (value->difference.max_abs);
  print_number (value->difference.rel_l2);
  print_number (value->own.rel_l2);
  print_number (value->accumulated);
  print_number (value->peer);
  printf ("  %s\n", adj_value_comparison_describe (value));
}

static void
print_columns (void)
{
  printf ("%-8s %-28s  %9s  %9s  %9s  %9s  %9s  %s\n", "", "NODE", "MAX ABS", "REL L2", "LOCAL",
          "TO F64", "PEER F64", "VERDICT");
}

static void
print_evidence (const AdjValueComparison *value)
{
  g_autoptr (GArray) rows = adj_value_comparison_explain (value);

  for (guint i = 0; i < rows->len; i++)
    {
      const AdjEvidence *row = &g_array_index (rows, AdjEvidence, i);

      printf ("  %-20s", row->what);
      print_number (row->number);
      print_number (row->limit);
      printf ("%s %s\n", fabs (row->number) > row->limit ? " !" : "  ", row->origin);
    }
}

/* Prints the first node that differs, and whether the difference arose there. */
static void
print_first (const AdjGraph *graph, const AdjComparison *comparison)
{
  const AdjValueComparison *first = &comparison->nodes[comparison->first];
  const AdjNode *node = adj_graph_get_node (graph, first->node.index);

  printf ("first difference: node '%s' (%s)\n", node->name, node->target);
  if (node->meta.n_frames > 0)
    {
      const AdjFrame *frame = &node->meta.frames[node->meta.n_frames - 1];

      printf ("  %s:%u in %s: %s\n", frame->file, frame->line, frame->function, frame->code);
    }
  printf ("  its inputs %s\n", first->inputs_agree   ? "agree: the difference begins here"
                               : first->inputs_alone ? "had no values to be compared with"
                                                     : "differ already");
  printf ("  %s\n", adj_cause_describe (first->cause));
  print_evidence (first);
}

gboolean
adj_comparison_report_explain (const AdjGraph *graph,
                               const AdjComparison *comparison,
                               const char *name,
                               GError **error)
{
  gboolean nodes = comparison->nodes != NULL;
  const AdjValueComparison *values = nodes ? comparison->nodes : comparison->outputs;
  guint n = nodes ? comparison->n_nodes : comparison->n_outputs, i = 0;

  while (i < n && !g_str_equal (value_name (graph, &values[i]), name))
    i++;
  if (i == n)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "no node '%s' was compared", name);
      return FALSE;
    }
  printf ("%s: %s\n", name, adj_value_comparison_describe (&values[i]));
  if (values[i].cause != ADJ_CAUSE_NONE)
    printf ("  %s\n", adj_cause_describe (values[i].cause));
  if (values[i].alone)
    printf ("  %s\n", adj_comparison_describe_alone (comparison));
  print_evidence (&values[i]);
  return TRUE;
}

void
adj_comparison_report_text (const AdjGraph *graph, const AdjComparison *comparison)
{
  g_autofree char *summary = adj_comparison_summarize (comparison);

  print_columns ();
  for (guint i = 0; i < comparison->n_nodes; i++)
    print_row (graph, &comparison->nodes[i], "");
  for (guint i = 0; i < comparison->n_outputs; i++)
    {
      g_autofree char *what = g_strdup_printf ("output %u", i);

      print_row (graph, &comparison->outputs[i], what);
    }
  if (comparison->failure != NULL)
    printf ("the run broke down: %s\n", comparison->failure->message);
  if (comparison->first >= 0)
    print_first (graph, comparison);
  printf ("%s\n", summary);
  if (adj_comparison_draws_otherwise (comparison))
    printf (
        "not compared: what depends on random numbers, which the two draw by other operators\n");
  if (comparison->note != NULL)
    printf ("the first ran %s\n", comparison->note);
  if (comparison->peer_note != NULL)
    printf ("the second ran %s\n", comparison->peer_note);
}

/* Adds how many values have each verdict. */
static void
add_counts (JsonBuilder *builder,
            const AdjComparison *comparison,
            const AdjComparisonCounts *counts,
            const char *what)
{
  guint alone = counts->unrecorded;
  const struct
  {
    const char *name;
    guint n;
  } members[] = { { "all", counts->n },
                  { "equal", counts->equal },
                  { "within", counts->within },
                  { "differ", counts->differ },
                  { "inherit", counts->inherit },
                  { "nothing_recorded", comparison->of_graphs ? 0 : alone },
                  { "without_counterpart", comparison->of_graphs ? alone : 0 },
                  { "not_comparable", counts->not_comparable } };

  json_builder_set_member_name (builder, what);
  json_builder_begin_object (builder);
  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      adj_json_add_int (builder, members[i].name, members[i].n);
    }
  json_builder_end_object (builder);
}

static void
add_value (JsonBuilder *builder, const AdjGraph *graph, const AdjValueComparison *value)
{
  json_builder_begin_object (builder);
  adj_json_add_string (builder, "node", value_name (graph, value));
  adj_json_add_string (builder, "verdict", adj_value_comparison_describe (value));
  if (value->cause != ADJ_CAUSE_NONE)
    adj_json_add_string (builder, "why", adj_cause_describe (value->cause));
  if (value->alone)
    {
      adj_json_add_boolean (builder, "without_value", TRUE);
    }
  adj_json_add_boolean (builder, "inputs_agree", value->inputs_agree);
  adj_json_add_double (builder, "max_abs", value->difference.max_abs);
  adj_json_add_double (builder, "rel_l2", value->difference.rel_l2);
  adj_json_add_double (builder, "local", value->own.rel_l2);
  adj_json_add_double (builder, "local_limit", value->own.rel_l2_limit);
  adj_json_add_double (builder, "slope", value->own.slope);
  adj_json_add_double (builder, "slope_limit", value->own.slope_limit);
  adj_json_add_double (builder, "element", value->own.element);
  adj_json_add_double (builder, "to_float64", value->accumulated);
  adj_json_add_double (builder, "peer_to_float64", value->peer);
  json_builder_end_object (builder);
}

void
adj_comparison_report_json (const AdjGraph *graph, const AdjComparison *comparison)
{
  JsonBuilder *builder = json_builder_new ();
  AdjComparisonCounts outputs = adj_comparison_count (comparison->outputs, comparison->n_outputs);
  AdjComparisonCounts nodes = adj_comparison_count (comparison->nodes, comparison->n_nodes);

  json_builder_begin_object (builder);
  adj_json_add_string_if_any (builder, "note", comparison->note);
  adj_json_add_string_if_any (builder, "peer_note", comparison->peer_note);
  adj_json_add_string (builder, "verdict", adj_verdict_name (comparison->verdict));
  json_builder_set_member_name (builder, "counts");
  json_builder_begin_object (builder);
  add_counts (builder, comparison, &outputs, "outputs");
  add_counts (builder, comparison, &nodes, "nodes");
  json_builder_end_object (builder);
  json_builder_set_member_name (builder, "outputs");
  json_builder_begin_array (builder);
  for (guint i = 0; i < comparison->n_outputs; i++)
    add_value (builder, graph, &comparison->outputs[i]);
  json_builder_end_array (builder);
  json_builder_set_member_name (builder, "nodes");
  json_builder_begin_array (builder);
  for (guint i = 0; i < comparison->n_nodes; i++)
    add_value (builder, graph, &comparison->nodes[i]);
  json_builder_end_array (builder);
  if (comparison->first >= 0)
    adj_json_add_string (builder, "first",
                         value_name (graph, &comparison->nodes[comparison->first]));
  if (comparison->failure != NULL)
    {
      adj_json_add_string (builder, "failure", comparison->failure->message);
    }
  json_builder_end_object (builder);
  adj_print_json (builder);
}
