/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"
#include "session/adj-debug-comparison.h"

G_BEGIN_DECLS

/* What `compare` prints of a graph and a log of DebugMode. */
void adj_debug_report_text (const AdjGraph *graph, const AdjDebugComparison *comparison);
void adj_debug_report_json (const AdjGraph *graph, const AdjDebugComparison *comparison);

G_END_DECLS
