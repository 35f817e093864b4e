/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* Prints the time of each region of a plan, node and operator of a run of @graph, or adds those of
 * regions and nodes as members "regions" and "nodes". */
void adj_run_profile_text (const AdjGraph *graph, const AdjRunResult *result);
void adj_run_profile_json (const AdjGraph *graph, const AdjRunResult *result, JsonBuilder *builder);

G_END_DECLS
