/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "report/adj-timeline.h"

G_BEGIN_DECLS

/* Live bytes over the steps of a graph, stacked by module, with axes; the peak is marked, and
 * another plan is drawn as a line.  Pointer and arrow keys choose a step, a click or Enter pins it;
 * the wheel, + and − zoom; dragging and Shift with an arrow move.
 *
 * Signals: "step-chosen" (guint step; G_MAXUINT: none), "step-pinned" (the same). */
#define ADJ_TYPE_MEMORY_CHART (adj_memory_chart_get_type ())
G_DECLARE_FINAL_TYPE (AdjMemoryChart, adj_memory_chart, ADJ, MEMORY_CHART, GtkWidget)

/* @memory: (nullable): borrowed until the next call */
void adj_memory_chart_set_memory (AdjMemoryChart *self, const AdjTimeline *memory);
/* @other: (nullable): of another plan, borrowed until the next call of this or the function above
 * @note: (nullable): describes the line in text, for screen readers */
void adj_memory_chart_set_other (AdjMemoryChart *self, const AdjTimeline *other, const char *note);
/* Marks the steps in which a value is live; both 0: none. */
void adj_memory_chart_set_stretch (AdjMemoryChart *self, guint first, guint last);
/* @step: G_MAXUINT: none */
void adj_memory_chart_pin (AdjMemoryChart *self, guint step);
/* Shows 1/@factor of the visible range, around the described step; 0: all. */
void adj_memory_chart_zoom (AdjMemoryChart *self, double factor);
/* The visible steps: from @from on, before @to. */
void adj_memory_chart_get_view (AdjMemoryChart *self, double *from, double *to);
/* The position of a step in the widget; for tests. */
graphene_point_t adj_memory_chart_get_place (AdjMemoryChart *self, guint step);
GdkRGBA adj_memory_chart_color (guint group);

G_END_DECLS
