/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"
#include "session/adj-debug-comparison.h"

G_BEGIN_DECLS

/* Prints the comparison of a graph with a log of DebugMode, for `compare`. */
void adj_debug_report_text (const AdjGraph *graph, const AdjDebugComparison *comparison);
void adj_debug_report_json (const AdjGraph *graph, const AdjDebugComparison *comparison);

G_END_DECLS
