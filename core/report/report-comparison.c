/* SPDX-License-Identifier: MIT */
/* The part of a report on a comparison. */

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "report/adj-properties.h"
#include "report/report-private.h"

#define MAX_ROWS 100

static const char *
verdict_class (AdjVerdict verdict)
{
  static const char *const classes[] = { "good", "good", "bad", "dim" };

  return classes[MIN (verdict, ADJ_VERDICT_SKIPPED)];
}

static void
add_number (GString *out, double number)
{
  g_autofree char *text = adj_properties_number (number);

  html_number (out, text);
}

static void
add_row (const AdjGraph *graph, const AdjValueComparison *value, const char *what, GString *out)
{
  const AdjNode *node =
      adj_node_id_is_valid (value->node) ? adj_graph_get_node (graph, value->node.index) : NULL;
  g_autofree char *source = node != NULL ? report_source (node) : g_strdup ("");

  g_string_append (out, "<tr>");
  html_name (out, node != NULL ? node->name : _ ("none"));
  html_cell (out, what);
  add_number (out, value->difference.max_abs);
  add_number (out, value->difference.rel_l2);
  add_number (out, value->own.rel_l2);
  add_number (out, value->accumulated);
  add_number (out, value->peer);
  g_string_append_printf (out, "<td class=\"%s\">", verdict_class (value->verdict));
  html_text (out, adj_properties_comparison (value));
  g_string_append (out, "</td>");
  html_cell (out, source);
  g_string_append (out, "</tr>\n");
}

static void
open_table (GString *out, const char *caption)
{
  html_open_table (out, caption,
                   (const char *[]){ _ ("Node"), "", _ ("#Max abs"), _ ("#Rel L2"), _ ("#Local"),
                                     _ ("#To float64"), _ ("#Peer to float64"), _ ("Verdict"),
                                     _ ("Line"), NULL });
}

static void
add_summary (const AdjComparison *comparison, GString *out)
{
  g_autofree char *summary = adj_comparison_summarize (comparison);

  g_string_append_printf (out, "<p>%s.</p>\n", summary);
}

/* The first node that differs, and whether the difference arose there. */
static void
add_first (const AdjGraph *graph, const AdjComparison *comparison, GString *out)
{
  const AdjValueComparison *first = &comparison->nodes[comparison->first];
  const AdjNode *node = adj_graph_get_node (graph, first->node.index);

  g_string_append (out, "<div class=\"note bad\"><h3>First difference: ");
  html_code (out, node->name);
  g_string_append (out, "</h3>\n<p>");
  html_code (out, adj_properties_target (node));
  g_string_append (out, first->inputs_agree ? "; its inputs agree, so the difference begins here."
                        : first->inputs_alone
                            ? "; its inputs had no values to be compared with."
                            : "; its inputs differ already, so the cause lies before it.");
  g_string_append_printf (out, " It differs: %s.", adj_cause_describe (first->cause));
  g_string_append (out, "</p>\n");
  if (node->meta.n_frames > 0)
    {
      const AdjFrame *frame = &node->meta.frames[node->meta.n_frames - 1];
      g_autofree char *place = g_strdup_printf ("%s:%u", frame->file, frame->line);

      g_string_append (out, "<p>");
      html_code (out, place);
      g_string_append (out, " <code>");
      html_text (out, frame->code);
      g_string_append (out, "</code></p>\n");
    }
  g_string_append (out, "</div>\n");
}

static void
add_nodes (const AdjGraph *graph, const AdjComparison *comparison, GString *out)
{
  guint n = 0, shown = 0;

  for (guint i = 0; i < comparison->n_nodes; i++)
    n += comparison->nodes[i].verdict == ADJ_VERDICT_DIFFERS;
  if (n == 0)
    return;
  {
    g_autofree char *caption = g_strdup_printf (
        _ ("Nodes that differ, in order of execution: %u of %u"), MIN (n, MAX_ROWS), n);

    open_table (out, caption);
  }
  for (guint i = 0; i < comparison->n_nodes && shown < MAX_ROWS; i++)
    if (comparison->nodes[i].verdict == ADJ_VERDICT_DIFFERS)
      {
        add_row (graph, &comparison->nodes[i], "", out);
        shown++;
      }
  html_close_table (out);
}

static void
add_outputs (const AdjGraph *graph, const AdjComparison *comparison, GString *out)
{
  if (comparison->n_outputs == 0)
    return;
  open_table (out, _ ("Outputs"));
  for (guint i = 0; i < comparison->n_outputs; i++)
    {
      g_autofree char *what = g_strdup_printf (_ ("output %u"), i);

      add_row (graph, &comparison->outputs[i], what, out);
    }
  html_close_table (out);
}

void
report_comparison (const AdjReport *report, GString *out)
{
  const AdjComparison *comparison = report->comparison;
  const AdjGraph *graph = report->graph->graph;

  if (comparison == NULL)
    {
      g_string_append (out, "<p class=\"dim\">");
      html_text (out, report->not_run != NULL ? report->not_run : _ ("The graph was not run."));
      g_string_append (out, "</p>\n");
      return;
    }
  g_string_append (out, "<p>");
  html_text (out, _ ("Run here and compared with "));
  html_text (out, report->compared);
  g_string_append (out, ".</p>\n");
  if (comparison->failure != NULL)
    {
      g_string_append (out, "<div class=\"note bad\"><h3>The run broke down</h3>\n<p>");
      html_text (out, comparison->failure->message);
      g_string_append (out, "</p></div>\n");
    }
  else
    add_summary (comparison, out);
  if (comparison->first >= 0)
    add_first (graph, comparison, out);
  add_nodes (graph, comparison, out);
  add_outputs (graph, comparison, out);
}
