/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-stepping.h"

G_BEGIN_DECLS

/* The steps of a captured backward in two lanes, one for each order, with a line from each step to
 * itself; below them the bytes held at each step, and the lifetime of each input.  Left and Right
 * choose a step, Home and End the first and last that moved, Return selects its node. */
#define ADJ_TYPE_BACKWARD_CHART (adj_backward_chart_get_type ())
G_DECLARE_FINAL_TYPE (AdjBackwardChart, adj_backward_chart, ADJ, BACKWARD_CHART, GtkWidget)

/* @backward: (nullable): borrowed; until the next call */
void adj_backward_chart_set_backward (AdjBackwardChart *self, const AdjBackward *backward);
/* Chooses the step whose first node is @node, if there is one. */
void adj_backward_chart_choose_node (AdjBackwardChart *self, AdjNodeId node);
/* Marks the steps with breakpoints, and the one where a run waits.  @stepping: (nullable): borrowed
 * until the next call */
void adj_backward_chart_set_stepping (AdjBackwardChart *self, AdjStepping *stepping);
/* The text about the chosen step, else about all. (transfer full) */
char *adj_backward_chart_describe (AdjBackwardChart *self);

G_END_DECLS
