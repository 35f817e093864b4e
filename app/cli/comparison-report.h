/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* Why node @name was judged as it was: its numbers, their limits and where these come from; of the
 * outputs where nodes were not compared.  %FALSE with ADJ_ERROR_NOT_FOUND. */
gboolean adj_comparison_report_explain (const AdjGraph *graph,
                                        const AdjComparison *comparison,
                                        const char *name,
                                        GError **error);
/* What `compare` prints of a comparison of @graph. */
void adj_comparison_report_text (const AdjGraph *graph, const AdjComparison *comparison);
void adj_comparison_report_json (const AdjGraph *graph, const AdjComparison *comparison);

G_END_DECLS
