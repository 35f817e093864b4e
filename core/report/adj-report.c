/* SPDX-License-Identifier: MIT */
/* Makes the HTML page about a graph: head, properties, pictures, source, and the parts beside
 * this file. */

#include "report/adj-report.h"

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <string.h>

#include "base/adj-file-writer.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "report/adj-properties.h"
#include "report/report-private.h"
#include "scene/paint-cairo.h"
#include "session/adj-check.h"

/* Text colours have a contrast of at least 4.5:1 on their ground, in both schemes. */
static const char style[] =
    ":root{color-scheme:light dark;--ground:#fff;--card:#f6f5f4;--text:#1d1d20;--dim:#5e5c64;"
    "--line:#d5d2ce;--link:#1a5fb4;--good:#1b6e3c;--bad:#a51d2d;--warn:#7a5200;--area:#99c1f1}\n"
    "@media(prefers-color-scheme:dark){:root{--ground:#1e1e22;--card:#2b2b30;--text:#f6f5f4;"
    "--dim:#b5b2bc;--line:#47474e;--link:#8fbcf5;--good:#7fdca0;--bad:#ff9a96;--warn:#f5cf6b;"
    "--area:#27568f}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--ground);color:var(--text);"
    "font:16px/1.5 Cantarell,'DejaVu Sans',system-ui,sans-serif}\n"
    "header,main,footer{max-width:76rem;margin:0 auto;padding:1.5rem}\n"
    "h1{font-size:1.8rem;line-height:1.2;margin:.2rem 0}h2{font-size:1.3rem;margin:2.2rem 0 "
    ".6rem}\n"
    "h3{font-size:1rem;margin:1rem 0 .3rem}\n"
    "p{margin:.4rem 0;max-width:60rem}.dim{color:var(--dim)}\n"
    "code{font:.92em/1.4 'DejaVu Sans Mono',ui-monospace,monospace;unicode-bidi:isolate;"
    "overflow-wrap:anywhere}\n"
    "a{color:var(--link)}nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;"
    "margin:.8rem 0 0;padding:0}\n"
    "dl.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.6rem;"
    "margin:1.2rem 0 0}\n"
    "dl.facts div{background:var(--card);border-radius:12px;padding:.6rem .9rem}\n"
    "dl.facts dt{color:var(--dim);font-size:.85rem}"
    "dl.facts dd{margin:0;font-size:1.15rem;font-weight:600;overflow-wrap:anywhere}\n"
    ".good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}\n"
    ".note{border-left:4px solid currentColor;background:var(--card);border-radius:0 8px 8px 0;"
    "padding:.6rem 1rem;margin:.6rem 0}.note p{color:var(--text)}.note h3{margin:0}\n"
    ".scroll,.picture{overflow:auto;border:1px solid var(--line);border-radius:12px}\n"
    ".picture{max-height:80vh;margin:.4rem 0}.picture img{display:block}"
    "#fit:checked~.picture img{width:100%;height:auto}\n"
    "figure{margin:0}figcaption{color:var(--dim);font-size:.9rem}\n"
    "table{border-collapse:collapse;width:100%;font-size:.92rem}\n"
    "caption{text-align:left;color:var(--dim);padding:.5rem .8rem}\n"
    "th,td{text-align:left;vertical-align:top;padding:.3rem .8rem;border-top:1px solid "
    "var(--line)}\n"
    "thead th{color:var(--dim);font-weight:600;border-top:0;white-space:nowrap}"
    "tbody th{font-weight:600}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\n"
    "svg.chart{width:100%;height:12rem;display:block}.area{fill:var(--area)}"
    ".turn{stroke:var(--dim);stroke-dasharray:4 4}\n"
    "summary{cursor:pointer;padding:.3rem 0}summary h3{display:inline}\n"
    "footer{color:var(--dim);font-size:.85rem}\n"
    ":focus-visible{outline:2px solid var(--link);outline-offset:2px}\n"
    "@media print{.picture{max-height:none;border:0}.picture img{width:100%;height:auto}"
    "nav,label,#fit{display:none}}\n";

static const struct
{
  const char *id, *title;
} parts[] = {
  { "picture", N_ ("Picture") },   { "comparison", N_ ("Run and Comparison") },
  { "findings", N_ ("Findings") }, { "stages", N_ ("Stages") },
  { "memory", N_ ("Memory") },     { "operators", N_ ("Operators") },
  { "log", N_ ("Log") },
};

char *
report_source (const AdjNode *node)
{
  const AdjFrame *frame =
      node->meta.n_frames > 0 ? &node->meta.frames[node->meta.n_frames - 1] : NULL;
  g_autofree char *base = frame != NULL ? g_path_get_basename (frame->file) : NULL;

  return frame != NULL ? g_strdup_printf ("%s:%u", base, frame->line) : g_strdup ("");
}

/* -- the head -- */

/* @value: (transfer full); @class: (nullable) */
static void
add_fact (GString *out, const char *title, char *value, const char *class)
{
  g_string_append (out, "<div><dt>");
  html_text (out, title);
  g_string_append_printf (out, "</dt><dd%s%s%s>", class != NULL ? " class=\"" : "",
                          class != NULL ? class : "", class != NULL ? "\"" : "");
  html_text (out, value);
  g_string_append (out, "</dd></div>\n");
  g_free (value);
}

static void
add_verdict (const AdjReport *report, GString *out)
{
  const AdjComparison *comparison = report->comparison;

  if (comparison == NULL)
    add_fact (out, _ ("Run"), g_strdup (_ ("not compared")), "dim");
  else if (comparison->first < 0 && comparison->failure == NULL)
    add_fact (out, _ ("Run"), g_strdup_printf (_ ("agrees with %s"), report->compared), "good");
  else
    add_fact (out, _ ("Run"), g_strdup_printf (_ ("differs from %s"), report->compared), "bad");
}

static void
add_facts (const AdjReport *report, GString *out)
{
  guint n_findings = adj_findings_get_n (report->findings);
  const AdjGraph *graph = report->graph->graph;
  gint64 saved = adj_scene_get_saved_bytes (report->scene);

  g_string_append (out, "<dl class=\"facts\">\n");
  add_fact (out, _ ("Graph"), g_strdup (report->graph->id), NULL);
  add_fact (out, _ ("Nodes"), g_strdup_printf ("%u", adj_graph_get_n_calls (graph)), NULL);
  add_fact (out, _ ("Placeholders"), g_strdup_printf ("%u", adj_graph_get_n_inputs (graph)), NULL);
  add_fact (out, _ ("Peak with inputs"),
            adj_properties_bytes ((gint64) adj_graph_estimate_memory (graph, FALSE)), NULL);
  if (saved > 0)
    add_fact (out, _ ("Saved for backward"), adj_properties_bytes (saved), NULL);
  add_verdict (report, out);
  add_fact (out, _ ("Findings"), g_strdup_printf ("%u", n_findings),
            n_findings > 0 ? "warn" : "good");
  g_string_append (out, "</dl>\n");
}

static void
add_head (const AdjReport *report, GString *out)
{
  g_autofree char *title =
      g_strdup_printf ("%s — %s", report->file, adj_properties_role_title (report->graph->role));

  g_string_append (out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                        "<meta name=\"viewport\" content=\"width=device-width, "
                        "initial-scale=1\"/>\n<meta http-equiv=\"Content-Security-Policy\" "
                        "content=\"default-src 'none'; img-src data:; style-src "
                        "'unsafe-inline'\"/>\n<meta name=\"generator\" content=\"");
  html_text (out, report->generator);
  g_string_append (out, "\"/>\n<title>");
  html_text (out, title);
  g_string_append_printf (out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<header>\n<h1>",
                          style);
  html_text (out, title);
  g_string_append (out, "</h1>\n<p class=\"dim\">");
  html_text (out, adj_bundle_get_description (report->bundle));
  g_string_append (out, "</p>\n");
  add_facts (report, out);
  g_string_append (out, "<nav aria-label=\"Contents\"><ul>\n");
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    g_string_append_printf (out, "<li><a href=\"#%s\">%s</a></li>\n", parts[i].id,
                            _ (parts[i].title));
  g_string_append (out, "</ul></nav>\n</header>\n<main>\n");
}

/* -- the picture -- */

/* With more boxes the page shows only the upper part: it holds the picture twice and must stay
 * small enough to be opened. */
#define MAX_BOXES 1500

static AdjRect
shown_part (const AdjReport *report)
{
  AdjRect part = adj_scene_get_bounds (report->scene);
  guint n = adj_scene_get_n_boxes (report->scene);

  if (n > MAX_BOXES)
    part.height *= (float) MAX_BOXES / (float) n;
  return part;
}

static gboolean
append_picture (const AdjReport *report, AdjScheme scheme, GString *out, GError **error)
{
  AdjRect part = shown_part (report);
  AdjPaintOptions options = {
    .scheme = scheme, .legend = TRUE, .part = &part, .cancellable = report->cancellable
  };
  g_autoptr (GBytes) svg = adj_scene_render_svg (report->scene, &options, error);
  g_autofree char *text = NULL;
  gsize length;
  const guchar *data;

  if (svg == NULL)
    return FALSE;
  data = g_bytes_get_data (svg, &length);
  text = g_base64_encode (data, length);
  g_string_append (out, "data:image/svg+xml;base64,");
  g_string_append (out, text);
  return TRUE;
}

/* One picture for the light and one for the dark scheme; the reader's browser chooses. */
gboolean
report_picture (const AdjReport *report, GString *out, GError **error)
{
  AdjRect bounds = shown_part (report);
  guint n = adj_scene_get_n_boxes (report->scene);
  g_autofree char *size =
      g_strdup_printf (_ ("%u nodes of %s, forward downwards, backward upwards; what is saved for "
                          "backward crosses the middle."),
                       adj_graph_get_n_calls (report->graph->graph), report->graph->id);

  g_string_append (out, "<figure>\n<input type=\"checkbox\" id=\"fit\" checked=\"\"/> "
                        "<label for=\"fit\">Fit the width</label>\n"
                        "<div class=\"picture\" tabindex=\"0\" role=\"region\" "
                        "aria-label=\"Picture of the graph\">"
                        "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"");
  if (!append_picture (report, ADJ_SCHEME_DARK, out, error))
    return FALSE;
  g_string_append_printf (out, "\"/><img width=\"%.0f\" height=\"%.0f\" alt=\"", bounds.width,
                          bounds.height + 40);
  html_text (out, size);
  g_string_append (out, "\" src=\"");
  if (!append_picture (report, ADJ_SCHEME_LIGHT, out, error))
    return FALSE;
  g_string_append (out, "\"/></picture></div>\n<figcaption>");
  html_text (out, size);
  if (n > MAX_BOXES)
    {
      g_autofree char *rest = g_strdup_printf (
          _ (" This is the upper part of it, about %u of %u boxes: the window and “adjoint render” "
             "show all of them."),
          MAX_BOXES, n);

      html_text (out, rest);
    }
  g_string_append (out, "</figcaption>\n</figure>\n");
  return TRUE;
}

/* -- all of it -- */

/* Steps of progress: the checks come first. */
#define FIRST_SECTION 1
#define N_STEPS (FIRST_SECTION + G_N_ELEMENTS (parts))

/* %FALSE when it was cancelled. */
static gboolean
go_on (const AdjReport *report, guint done, GError **error)
{
  if (g_cancellable_set_error_if_cancelled (report->cancellable, error))
    return FALSE;
  if (report->progress != NULL)
    report->progress (done, N_STEPS, report->data);
  return TRUE;
}

static void
open_part (GString *out, guint part)
{
  g_string_append_printf (out, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n",
                          parts[part].id, parts[part].id, _ (parts[part].title));
}

static char *
make (const AdjReport *report, GError **error)
{
  static void (*const sections[]) (const AdjReport *report, GString *out) = {
    NULL,          report_comparison, report_findings, report_stages,
    report_memory, report_operators,  report_log,
  };
  g_autoptr (GString) out = g_string_new (NULL);

  G_STATIC_ASSERT (G_N_ELEMENTS (sections) == G_N_ELEMENTS (parts));
  add_head (report, out);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      open_part (out, i);
      if (sections[i] != NULL)
        sections[i](report, out);
      else if (!report_picture (report, out, error))
        return NULL;
      if (!go_on (report, FIRST_SECTION + i + 1, error))
        return NULL;
      g_string_append (out, "</section>\n");
    }
  g_string_append (out, "</main>\n<footer>");
  html_text (out, report->generator);
  g_string_append (out, "</footer>\n</body>\n</html>\n");
  return g_string_free (g_steal_pointer (&out), FALSE);
}

char *
adj_report_make (const AdjReport *report, GError **error)
{
  AdjReport complete = *report;
  g_autoptr (AdjFindings) findings = NULL;

  if (report->findings == NULL)
    {
      complete.findings = findings = adj_bundle_check (report->bundle, report->cancellable, error);
      if (findings == NULL)
        return NULL;
    }
  return go_on (report, FIRST_SECTION, error) ? make (&complete, error) : NULL;
}

gboolean
adj_report_write (const AdjReport *report, const char *path, GError **error)
{
  g_autofree char *page = adj_report_make (report, error);

  return page != NULL && adj_file_write (path, page, strlen (page), ADJ_FILE_LASTING, error);
}
