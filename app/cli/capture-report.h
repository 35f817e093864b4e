/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* What `trace` prints of the backwards that a program ran. */
void adj_capture_report_text (const AdjPipelineResult *result, gboolean steps);
/* Adds members to the object that @builder is in. */
void adj_capture_report_json (const AdjPipelineResult *result, JsonBuilder *builder);

/* The stages to look for one in: those of the capture @id, "ca1"; %NULL: all.  @first, @n (out). */
gboolean adj_capture_report_find (
    const AdjPipelineResult *result, const char *id, guint *first, guint *n, GError **error);
/* How many stages are of no capture. */
guint adj_capture_report_count_others (const AdjPipelineResult *result);

G_END_DECLS
