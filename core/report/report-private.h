/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "report/adj-report.h"

G_BEGIN_DECLS

/* -- html.c: whatever stands in a text, it stays a text -- */

void html_text (GString *out, const char *text);
/* "<code>…</code>", which isolates right-to-left text. */
void html_code (GString *out, const char *text);
/* Cells of a row; numbers stand at the right. */
void html_cell (GString *out, const char *text);
void html_number (GString *out, const char *text);
void html_name (GString *out, const char *text); /* the heading of a row */
/* The beginning and the end of a table; @columns ends with %NULL, a '#' marks numbers. */
void html_open_table (GString *out, const char *caption, const char *const *columns);
void html_close_table (GString *out);

/* -- sections, each with its heading -- */

gboolean report_picture (const AdjReport *report, GString *out, GError **error);
void report_operators (const AdjReport *report, GString *out);
void report_stages (const AdjReport *report, GString *out);
void report_memory (const AdjReport *report, GString *out);
void report_comparison (const AdjReport *report, GString *out);
void report_findings (const AdjReport *report, GString *out);
void report_log (const AdjReport *report, GString *out);

/* The line of the user's program that made a node; "" when unknown.  (transfer full) */
char *report_source (const AdjNode *node);

G_END_DECLS
