/* SPDX-License-Identifier: MIT */
/* What a log has beside the graph: its kernels, and the texts of its region. */

#include <glib/gi18n.h>
#include <string.h>

#include "base/adj-format-bytes.h"
#include "formats/adj-kernels.h"
#include "ir/adj-graph.h"
#include "report/report-private.h"

#define MAX_TEXT (32 << 10)   /* bytes of one text */
#define MAX_TEXTS (512 << 10) /* of all */

static void
add_kernel (const AdjGraph *graph, const AdjKernel *kernel, GString *out)
{
  g_autoptr (GString) nodes = g_string_new (NULL), lines = g_string_new (NULL);
  g_autofree char *line = kernel->line > 0 ? g_strdup_printf ("%u", kernel->line) : g_strdup ("–");

  for (guint i = 0; i < kernel->n_nodes; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, kernel->nodes[i].index);
      g_autofree char *source = report_source (node);

      g_string_append_printf (nodes, "%s%s", i > 0 ? ", " : "", node->name);
      if (*source != '\0' && strstr (lines->str, source) == NULL)
        g_string_append_printf (lines, "%s%s", lines->len > 0 ? ", " : "", source);
    }
  g_string_append (out, "<tr>");
  html_name (out, kernel->name);
  html_number (out, line);
  html_cell (out, nodes->str);
  html_cell (out, lines->str);
  g_string_append (out, "</tr>\n");
}

static void
add_kernels (const AdjReport *report, GString *out)
{
  g_autoptr (AdjKernels) kernels = adj_kernels_new (report->bundle, report->graph);

  if (kernels == NULL)
    return;
  html_open_table (out, _ ("Kernels that Inductor made of it, and where its code calls them"),
                   (const char *[]){ _ ("Kernel"), _ ("#Line"), _ ("Nodes"), _ ("Source"), NULL });
  for (guint i = 0; i < adj_kernels_get_n (kernels); i++)
    add_kernel (report->graph->graph, adj_kernels_get (kernels, i), out);
  html_close_table (out);
}

/* Returns how many bytes of the text were added to the page. */
static gsize
add_text (const AdjBundleFact *fact, gsize room, GString *out)
{
  gsize length = g_bytes_get_size (fact->text), shown = MIN (MIN (length, MAX_TEXT), room);
  g_autofree char *text = g_strndup (g_bytes_get_data (fact->text, NULL), shown);
  g_autofree char *valid = g_utf8_make_valid (text, -1);
  g_autofree char *size = adj_format_bytes (length);

  g_string_append (out, "<details><summary>");
  html_code (out, fact->name);
  html_text (out, ", ");
  html_text (out, size);
  g_string_append (out, "</summary>\n<pre>");
  html_text (out, valid);
  g_string_append (out, "</pre>\n");
  if (shown < length)
    {
      g_string_append (out, "<p class=\"dim\">");
      html_text (out, _ ("That was its beginning; “adjoint show --fact” prints all of it."));
      g_string_append (out, "</p>\n");
    }
  g_string_append (out, "</details>\n");
  return shown;
}

void
report_log (const AdjReport *report, GString *out)
{
  const AdjRegion *region = adj_bundle_find_region (report->bundle, report->graph);
  gsize room = MAX_TEXTS;
  guint n = 0;

  add_kernels (report, out);
  for (guint i = 0; region != NULL && i < adj_bundle_get_n_facts (report->bundle); i++)
    {
      const AdjBundleFact *fact = adj_bundle_get_fact (report->bundle, i);

      if (fact->region != region)
        continue;
      n++;
      room -= add_text (fact, room, out);
    }
  if (n > 0)
    return;
  g_string_append (out, "<p>");
  html_text (out, _ ("The file says nothing beside this graph."));
  g_string_append (out, "</p>\n");
}
