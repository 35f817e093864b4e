/* SPDX-License-Identifier: MIT */
/* A comparison with the log of an eager run, as text and as JSON. */

#include "debug-report.h"

#include <math.h>
#include <stdio.h>

#include "ir/adj-graph.h"
#include "json-members.h"

static const char *
name_of (const AdjGraph *graph, const AdjDebugRow *row)
{
  return adj_node_id_is_valid (row->node) ? adj_graph_get_node (graph, row->node.index)->name : "–";
}

static void
print_number (double number)
{
  if (isnan (number))
    printf ("  %12s", "–");
  else
    printf ("  %12.6g", number);
}

static void
print_row (const AdjGraph *graph, const AdjDebugRow *row)
{
  const AdjDebugCall *call = row->call;

  printf ("%-24s %-30s", name_of (graph, row), call != NULL ? call->op : "–");
  print_number (row->norm);
  print_number (row->logged);
  print_number (row->exact);
  printf ("  %s%s%s\n", adj_logged_describe (row->verdict),
          call != NULL && call->module != NULL ? "  " : "",
          call != NULL && call->module != NULL ? call->module : "");
}

static void
print_first (const AdjGraph *graph, const AdjDebugRow *row)
{
  printf ("first difference: node '%s' (%s)\n", name_of (graph, row), row->call->op);
  printf ("  its inputs %s\n", row->inputs_agree
                                   ? "agree, as far as the log has them: the difference begins here"
                                   : "differ already");
  if (!isnan (row->limit))
    printf ("  the log is %.2e from the float64 run, of which rounding explains %.2e\n",
            fabs (row->logged - row->exact), row->limit);
}

void
adj_debug_report_text (const AdjGraph *graph, const AdjDebugComparison *comparison)
{
  guint n = 0;

  printf ("%-24s %-30s  %12s  %12s  %12s  %s\n", "NODE", "CALL", "NORM", "LOGGED", "FLOAT64",
          "VERDICT");
  for (guint i = 0; i < comparison->rows->len; i++)
    print_row (graph, &g_array_index (comparison->rows, AdjDebugRow, i));
  if (comparison->first >= 0)
    print_first (graph, &g_array_index (comparison->rows, AdjDebugRow, comparison->first));
  printf ("%u values:", comparison->rows->len);
  for (guint i = 0; i < G_N_ELEMENTS (comparison->n_by); i++)
    if (comparison->n_by[i] > 0)
      printf ("%s %u %s", n++ > 0 ? "," : "", comparison->n_by[i],
              i == ADJ_LOGGED_DIFFERS ? "differ" : adj_logged_describe ((AdjLogged) i));
  printf ("\n");
}

/* NaN is left out and infinity becomes the largest double, since JSON has neither. */
void
adj_debug_report_json (const AdjGraph *graph, const AdjDebugComparison *comparison)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "values");
  json_builder_begin_array (builder);
  for (guint i = 0; i < comparison->rows->len; i++)
    {
      const AdjDebugRow *row = &g_array_index (comparison->rows, AdjDebugRow, i);

      json_builder_begin_object (builder);
      if (adj_node_id_is_valid (row->node))
        adj_json_add_string (builder, "node", name_of (graph, row));
      if (row->call != NULL)
        adj_json_add_string (builder, "call", row->call->op);
      if (row->call != NULL && row->call->module != NULL)
        adj_json_add_string (builder, "module", row->call->module);
      adj_json_add_double (builder, "norm", row->norm);
      adj_json_add_double (builder, "logged", row->logged);
      adj_json_add_double (builder, "float64", row->exact);
      adj_json_add_double (builder, "limit", row->limit);
      adj_json_add_string (builder, "verdict", adj_logged_describe (row->verdict));
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  if (comparison->first >= 0)
    adj_json_add_int (builder, "first", comparison->first);
  json_builder_end_object (builder);
  adj_print_json (builder);
}
