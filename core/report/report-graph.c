/* SPDX-License-Identifier: MIT */

/* The parts of a graph, its stages, and the findings of the checks. */

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "report/adj-properties.h"
#include "report/adj-selection-totals.h"
#include "report/adj-stage-change.h"
#include "report/report-private.h"
#include "session/adj-check.h"

#define MAX_ROWS 200
#define MAX_CHANGES 60

/* -- operators -- */

static GArray *
list_calls (const AdjGraph *graph)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      AdjOpcode opcode = adj_graph_get_node (graph, i)->opcode;

      if (opcode != ADJ_OPCODE_PLACEHOLDER && opcode != ADJ_OPCODE_OUTPUT)
        g_array_append_val (nodes, i);
    }
  return nodes;
}

void
report_operators (const AdjReport *report, GString *out)
{
  g_autoptr (GArray) nodes = list_calls (report->graph->graph);
  g_autoptr (AdjSelectionTotals) totals =
      adj_selection_totals_new (report->graph->graph, report->scene, nodes);
  guint n = MIN (totals->operators->len, MAX_ROWS);
  g_autofree char *caption = g_strdup_printf (_ ("%u of %u operators, the most frequent first"), n,
                                              totals->operators->len);

  html_open_table (out, caption, (const char *[]){ _ ("Operator"), _ ("#Calls"), NULL });
  for (guint i = 0; i < n; i++)
    {
      const AdjOperatorCount *count = &g_array_index (totals->operators, AdjOperatorCount, i);
      g_autofree char *number = g_strdup_printf ("%u", count->n);

      g_string_append (out, "<tr>");
      html_name (out, count->target);
      html_number (out, number);
      g_string_append (out, "</tr>\n");
    }
  html_close_table (out);
}

/* -- stages -- */

static void
count_changes (GListModel *changes, guint *counts, guint n_kinds)
{
  for (guint i = 0; i < g_list_model_get_n_items (changes); i++)
    {
      g_autoptr (AdjStageChange) change = g_list_model_get_item (changes, i);
      guint kind = adj_stage_change_get_kind (change);

      if (kind < n_kinds)
        counts[kind] += adj_stage_change_get_count (change);
    }
}

static void
add_stage_row (const AdjRecording *recording, guint index, GListModel *changes, GString *out)
{
  const AdjStage *stage = adj_recording_get_stage (recording, index);
  guint counts[8] = { 0 };
  g_autofree char *number = g_strdup_printf ("%u", index + 1);
  g_autofree char *nodes = stage->graph != NULL
                               ? g_strdup_printf ("%u", adj_graph_get_n_calls (stage->graph))
                               : g_strdup ("–");
  g_autofree char *time =
      stage->ns >= 0 ? adj_properties_time ((double) stage->ns) : g_strdup ("–");
  g_autofree char *change = NULL;

  if (changes != NULL)
    count_changes (changes, counts, G_N_ELEMENTS (counts));
  change = g_strdup_printf ("+%u −%u ~%u", counts[ADJ_CHANGE_ADDED], counts[ADJ_CHANGE_REMOVED],
                            counts[ADJ_CHANGE_CHANGED]);
  g_string_append (out, "<tr>");
  html_number (out, number);
  html_name (out, stage->name);
  html_number (out, nodes);
  /* Halves of a partition have no counts: they list reasons for nodes. */
  html_number (out, changes != NULL && (counts[ADJ_CHANGE_ADDED] + counts[ADJ_CHANGE_REMOVED] +
                                                counts[ADJ_CHANGE_CHANGED] >
                                            0 ||
                                        g_list_model_get_n_items (changes) == 0)
                        ? change
                        : "–");
  html_number (out, time);
  g_string_append (out, stage->failure != NULL ? "<td class=\"bad\">" : "<td>");
  html_text (out, stage->failure != NULL   ? stage->failure
                  : stage->summary != NULL ? stage->summary
                                           : "");
  g_string_append (out, "</td></tr>\n");
}

static void
add_changes (const AdjStage *stage, GListModel *changes, GString *out)
{
  guint n = g_list_model_get_n_items (changes);
  g_autofree char *caption =
      g_strdup_printf (_ ("%u of %u changes, equal ones once"), MIN (n, MAX_CHANGES), n);

  g_string_append (out, "<details><summary><h3>");
  html_code (out, stage->name);
  g_string_append (out, "</h3></summary>\n");
  html_open_table (out, caption,
                   (const char *[]){ "", _ ("#Times"), _ ("Nodes"), _ ("Why"), NULL });
  for (guint i = 0; i < MIN (n, MAX_CHANGES); i++)
    {
      static const char *const signs[] = {
        [ADJ_CHANGE_ADDED] = "+", [ADJ_CHANGE_REMOVED] = "−", [ADJ_CHANGE_CHANGED] = "~"
      };
      g_autoptr (AdjStageChange) change = g_list_model_get_item (changes, i);
      guint kind = adj_stage_change_get_kind (change);
      g_autofree char *times = g_strdup_printf ("%u", adj_stage_change_get_count (change));

      g_string_append (out, "<tr>");
      html_cell (out, kind < G_N_ELEMENTS (signs) && signs[kind] != NULL ? signs[kind] : "");
      html_number (out, times);
      html_name (out, adj_stage_change_get_what (change));
      html_cell (out, adj_stage_change_get_why (change));
      g_string_append (out, "</tr>\n");
    }
  html_close_table (out);
  g_string_append (out, "</details>\n");
}

void
report_stages (const AdjReport *report, GString *out)
{
  AdjRecording *recording = adj_bundle_get_recording (report->bundle);
  guint n = recording != NULL ? adj_recording_get_n_stages (recording) : 0;
  g_autoptr (GPtrArray) changes = g_ptr_array_new ();

  if (n == 0)
    {
      g_string_append (out, "<p class=\"dim\">The file does not record how its graphs came "
                            "about.</p>\n");
      return;
    }
  html_open_table (out, _ ("What each pass made of the graph before it"),
                   (const char *[]){ _ ("#No."), _ ("Stage"), _ ("#Nodes"), _ ("#Changes"),
                                     _ ("#Time"), _ ("Remark"), NULL });
  for (guint i = 0; i < n && !g_cancellable_is_cancelled (report->cancellable); i++)
    {
      const AdjStage *stage = adj_recording_get_stage (recording, i);
      GListModel *list =
          stage->graph != NULL && stage->from >= 0 ? adj_stage_changes_list (recording, i) : NULL;

      g_ptr_array_add (changes, list);
      add_stage_row (recording, i, list, out);
    }
  html_close_table (out);
  for (guint i = 0; i < changes->len; i++)
    if (changes->pdata[i] != NULL)
      {
        if (g_list_model_get_n_items (changes->pdata[i]) > 0)
          add_changes (adj_recording_get_stage (recording, i), changes->pdata[i], out);
        g_object_unref (changes->pdata[i]);
      }
}

/* -- findings -- */

/* Blank lines separate paragraphs. */
static void
add_paragraphs (const char *markdown, GString *out)
{
  g_auto (GStrv) blocks = g_strsplit (markdown, "\n\n", -1);

  for (guint i = 0; blocks[i] != NULL; i++)
    {
      g_string_append (out, "<p>");
      html_text (out, blocks[i]);
      g_string_append (out, "</p>\n");
    }
}

static void
add_finding (const AdjReport *report, const AdjFinding *finding, GString *out)
{
  const AdjBundleGraph *entry = adj_bundle_find_entry (report->bundle, finding->graph);

  g_string_append (out, "<div class=\"note warn\"><h3>");
  html_text (out, finding->check->summary);
  g_string_append (out, "</h3>\n<p>");
  if (entry != NULL)
    html_code (out, entry->id);
  g_string_append (out, ": ");
  html_text (out, finding->message);
  g_string_append (out, ".</p>\n<p>");
  for (guint i = 0; i < finding->n_nodes; i++)
    {
      const AdjNode *node = adj_graph_get_node (finding->graph, finding->nodes[i].index);
      g_autofree char *source = report_source (node);

      html_code (out, node->name);
      if (*source != '\0')
        {
          g_string_append (out, " (");
          html_text (out, source);
          g_string_append (out, ")");
        }
      g_string_append (out, i + 1 < finding->n_nodes ? ", " : "");
    }
  g_string_append (out, "</p>\n<details><summary>What this is, and what to do</summary>\n");
  add_paragraphs (finding->check->explain, out);
  g_string_append (out, "<p class=\"dim\">PyTorch ");
  html_text (out, finding->check->versions);
  g_string_append (out, "</p>\n</details></div>\n");
}

void
report_findings (const AdjReport *report, GString *out)
{
  guint n = adj_findings_get_n (report->findings);

  g_string_append_printf (out, "<p%s>", n == 0 ? " class=\"good\"" : "");
  if (n == 0)
    g_string_append_printf (out,
                            "%u checks for known ways in which a graph is silently wrong "
                            "found nothing in this file.",
                            adj_checks_get_n ());
  else
    g_string_append_printf (out, "%u checks of this file, %u findings:", adj_checks_get_n (), n);
  g_string_append (out, "</p>\n");
  for (guint i = 0; i < n; i++)
    add_finding (report, adj_findings_get (report->findings, i), out);
}
