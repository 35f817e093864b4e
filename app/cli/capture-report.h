/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* Prints the backwards that a program ran, for `trace`. */
void adj_capture_report_text (const AdjPipelineResult *result, gboolean steps);
/* Adds members to the object that @builder is in. */
void adj_capture_report_json (const AdjPipelineResult *result, JsonBuilder *builder);

/* The stages to search: those of the capture @id, "ca1"; %NULL: all.  @first, @n (out). */
gboolean adj_capture_report_find (
    const AdjPipelineResult *result, const char *id, guint *first, guint *n, GError **error);
/* The number of stages that belong to no capture. */
guint adj_capture_report_count_others (const AdjPipelineResult *result);

G_END_DECLS
