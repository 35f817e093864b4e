/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* What `compare` prints of a comparison of @graph. */
void adj_comparison_report_text (const AdjGraph *graph, const AdjComparison *comparison);
void adj_comparison_report_json (const AdjGraph *graph, const AdjComparison *comparison);

G_END_DECLS
