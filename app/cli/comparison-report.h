/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* Explains the verdict on node @name: its numbers, their limits and where these come from; on an
 * output where nodes were not compared.  %FALSE with ADJ_ERROR_NOT_FOUND. */
gboolean adj_comparison_report_explain (const AdjGraph *graph,
                                        const AdjComparison *comparison,
                                        const char *name,
                                        GError **error);
/* Prints a comparison of @graph, for `compare`. */
void adj_comparison_report_text (const AdjGraph *graph, const AdjComparison *comparison);
void adj_comparison_report_json (const AdjGraph *graph, const AdjComparison *comparison);

G_END_DECLS
