/* SPDX-License-Identifier: MIT */
/* The part of a report on memory: a chart and the heaviest tensors. */

#include <glib/gi18n.h>

#include "analysis/adj-modules.h"
#include "ir/adj-graph.h"
#include "report/adj-properties.h"
#include "report/adj-timeline.h"
#include "report/report-private.h"

#define MAX_ROWS 100
#define CHART_WIDTH 1000
#define CHART_HEIGHT 180

/* The maximum over the steps that share a place of the chart's width. */
static guint64
most_at (const AdjTimeline *memory, guint place, guint n_places)
{
  guint from = (guint) ((guint64) place * memory->n_steps / n_places);
  guint to = (guint) ((guint64) (place + 1) * memory->n_steps / n_places);
  guint64 most = 0;

  for (guint i = from; i < MAX (to, from + 1) && i < memory->n_steps; i++)
    most = MAX (most, memory->live[i]);
  return most;
}

static void
add_chart (const AdjTimeline *memory, GString *out)
{
  guint n = MIN (memory->n_steps, CHART_WIDTH);
  double peak = MAX ((double) memory->live[memory->peak], 1);
  g_autofree char *bytes = adj_properties_bytes ((gint64) memory->live[memory->peak]);
  g_autofree char *title =
      g_strdup_printf (_ ("Bytes held at each of %u steps; the most, %s, at step %u."),
                       memory->n_steps, bytes, memory->peak + 1);

  g_string_append_printf (out,
                          "<figure>\n<svg class=\"chart\" viewBox=\"0 0 %d %d\" "
                          "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
                          CHART_WIDTH, CHART_HEIGHT);
  html_text (out, title);
  g_string_append_printf (out, "\"><path class=\"area\" d=\"M0 %d", CHART_HEIGHT);
  for (guint i = 0; i < n; i++)
    {
      double y = CHART_HEIGHT * (1 - (double) most_at (memory, i, n) / peak);

      g_string_append_printf (out, "L%.1f %.1fL%.1f %.1f", (double) i * CHART_WIDTH / n, y,
                              (double) (i + 1) * CHART_WIDTH / n, y);
    }
  g_string_append_printf (out, "L%d %dZ\"/>", CHART_WIDTH, CHART_HEIGHT);
  if (memory->turn < memory->n_steps)
    {
      double x = (double) memory->turn * CHART_WIDTH / memory->n_steps;

      g_string_append_printf (out,
                              "<line class=\"turn\" x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" y2=\"%d\"/>",
                              x, x, CHART_HEIGHT);
    }
  g_string_append (out, "</svg>\n<figcaption>");
  html_text (out, title);
  if (memory->turn < memory->n_steps)
    html_text (out, _ (" Backward begins at the dashed line."));
  g_string_append (out, "</figcaption>\n</figure>\n");
}

static void
add_row (const AdjGraph *graph, const AdjHeld *held, GString *out)
{
  const AdjNode *node = adj_graph_get_node (graph, held->node.index);
  g_autofree char *shape = adj_properties_annotation (graph, node);
  g_autofree char *bytes = adj_properties_bytes (held->bytes);
  g_autofree char *steps = g_strdup_printf ("%u → %u", held->first + 1, held->last + 1);
  g_autofree char *source = report_source (node);
  g_autofree char *why = adj_held_get_reason (held, graph);

  g_string_append (out, "<tr>");
  html_name (out, node->name);
  html_cell (out, adj_node_get_module_path (node));
  html_cell (out, shape);
  html_number (out, bytes);
  html_number (out, steps);
  html_cell (out, why);
  html_cell (out, source);
  g_string_append (out, "</tr>\n");
}

static void
open_table (GString *out, const char *caption)
{
  html_open_table (out, caption,
                   (const char *[]){ _ ("Value"), _ ("Module"), _ ("Shape"), _ ("#Bytes"),
                                     _ ("#Steps"), _ ("Why"), _ ("Line"), NULL });
}

static gint
by_bytes (gconstpointer a, gconstpointer b)
{
  const AdjHeld *x = *(const AdjHeld *const *) a, *y = *(const AdjHeld *const *) b;

  return (y->bytes > x->bytes) - (y->bytes < x->bytes);
}

static void
add_saved (const AdjTimeline *memory, GString *out)
{
  g_autoptr (GPtrArray) saved = g_ptr_array_new ();
  g_autofree char *caption = NULL, *bytes = NULL;
  gint64 sum = 0;

  for (guint i = 0; i < memory->held->len; i++)
    {
      AdjHeld *held = &g_array_index (memory->held, AdjHeld, i);

      if (held->saved == 0)
        continue;
      g_ptr_array_add (saved, held);
      sum += held->saved;
    }
  if (saved->len == 0)
    return;
  g_ptr_array_sort (saved, by_bytes);
  bytes = adj_properties_bytes (sum);
  caption =
      g_strdup_printf (_ ("Saved for backward, each storage once: %u of %u values, %s in all"),
                       MIN (saved->len, MAX_ROWS), saved->len, bytes);
  open_table (out, caption);
  for (guint i = 0; i < MIN (saved->len, MAX_ROWS); i++)
    add_row (memory->graph, saved->pdata[i], out);
  html_close_table (out);
}

static void
add_heaviest (const AdjTimeline *memory, GString *out)
{
  guint n = MIN (memory->held->len, 20);
  g_autofree char *caption = g_strdup_printf (
      _ ("Heaviest by bytes × steps held: %u of %u storages"), n, memory->held->len);

  open_table (out, caption);
  for (guint i = 0; i < n; i++)
    add_row (memory->graph, &g_array_index (memory->held, AdjHeld, i), out);
  html_close_table (out);
}

void
report_memory (const AdjReport *report, GString *out)
{
  g_autoptr (AdjTimeline) memory = adj_timeline_new (report->graph->graph);

  if (memory->held->len == 0 || memory->n_steps == 0)
    {
      g_string_append (out, "<p class=\"dim\">Nothing of this graph says how large it is.</p>\n");
      return;
    }
  add_chart (memory, out);
  add_saved (memory, out);
  add_heaviest (memory, out);
}
