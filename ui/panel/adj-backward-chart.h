/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-stepping.h"

G_BEGIN_DECLS

/* Two lanes of steps, one for each order, with lines from a step to itself; below them what is held
 * at each step, and from where to where each input is.  Left and Right choose a step, Home and End
 * the first and last that moved, Return selects its node. */
#define ADJ_TYPE_BACKWARD_CHART (adj_backward_chart_get_type ())
G_DECLARE_FINAL_TYPE (AdjBackwardChart, adj_backward_chart, ADJ, BACKWARD_CHART, GtkWidget)

/* @backward: (nullable): borrowed; until the next call */
void adj_backward_chart_set_backward (AdjBackwardChart *self, const AdjBackward *backward);
/* Chooses the step of @node, if it is one's first. */
void adj_backward_chart_choose_node (AdjBackwardChart *self, AdjNodeId node);
/* Marks the steps with breakpoints, and the one that a run waits at.  @stepping: (nullable):
 * borrowed until the next call */
void adj_backward_chart_set_stepping (AdjBackwardChart *self, AdjStepping *stepping);
/* What is said of the chosen step, else of all. (transfer full) */
char *adj_backward_chart_describe (AdjBackwardChart *self);

G_END_DECLS
