/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* The stages of the capture @id, "ca1"; %NULL: all stages.  @first, @n (out).  %FALSE with
 * ADJ_ERROR_NOT_FOUND when there is no such capture. */
gboolean adj_capture_report_find (
    const AdjPipelineResult *result, const char *id, guint *first, guint *n, GError **error);

/* Prints the backwards that a program ran, for `trace`.  @id: (nullable): only that capture */
void adj_capture_report_text (const AdjPipelineResult *result, const char *id, gboolean steps);
/* Adds members to the object that @builder is in. */
void
adj_capture_report_json (const AdjPipelineResult *result, const char *id, JsonBuilder *builder);

/* The number of stages that belong to no capture. */
guint adj_capture_report_count_others (const AdjPipelineResult *result);

G_END_DECLS
