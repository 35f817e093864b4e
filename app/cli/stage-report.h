/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* Prints stages @first to @first + @n - 1 of a recording, for `trace`; with @steps also the steps
 * of each pass. */
void adj_stage_report_text (const AdjRecording *recording, guint first, guint n, gboolean steps);
/* Adds the member "stages" to the object that @builder is in. */
void
adj_stage_report_json (const AdjRecording *recording, guint first, guint n, JsonBuilder *builder);
/* Prints the graph of the last stage with that name. */
gboolean adj_stage_report_graph (
    const AdjRecording *recording, guint first, guint n, const char *name, GError **error);

G_END_DECLS
