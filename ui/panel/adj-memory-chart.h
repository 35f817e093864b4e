/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "report/adj-timeline.h"

G_BEGIN_DECLS

/* Bytes held over the steps of a graph, stacked by module; the peak is marked.  Pointer and arrow
 * keys choose a step.
 *
 * Signal: "step-chosen" (guint step; G_MAXUINT: none any more). */
#define ADJ_TYPE_MEMORY_CHART (adj_memory_chart_get_type ())
G_DECLARE_FINAL_TYPE (AdjMemoryChart, adj_memory_chart, ADJ, MEMORY_CHART, GtkWidget)

/* @memory: (nullable): borrowed until the next call */
void adj_memory_chart_set_memory (AdjMemoryChart *self, const AdjTimeline *memory);
/* Marks the stretch in which a value is held; both 0: none. */
void adj_memory_chart_set_stretch (AdjMemoryChart *self, guint first, guint last);
GdkRGBA adj_memory_chart_color (guint group);

G_END_DECLS
