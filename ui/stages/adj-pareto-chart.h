/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-plan-item.h"

G_BEGIN_DECLS

/* Plans on the plane of peak memory and of what is computed again.  Arrows walk the points, Enter
 * and a click choose one; hovering shows its numbers.
 *
 * Signal: "plan-chosen" (AdjPlanItem *item). */
#define ADJ_TYPE_PARETO_CHART (adj_pareto_chart_get_type ())
G_DECLARE_FINAL_TYPE (AdjParetoChart, adj_pareto_chart, ADJ, PARETO_CHART, GtkWidget)

/* @plans: (nullable): of AdjPlanItem, as adj_tradeoff_start() makes them; what is selected there is
 * what the arrows move. */
void adj_pareto_chart_set_plans (AdjParetoChart *self, GtkSingleSelection *plans);
/* Where the point of a plan is, in the coordinates of the widget. */
graphene_point_t adj_pareto_chart_get_place (AdjParetoChart *self, guint position);
/* What is spoken of: under the pointer, walked to, or shown; GTK_INVALID_LIST_POSITION: none. */
guint adj_pareto_chart_get_subject (AdjParetoChart *self);

/* Draws the sign of a kind of plan around (@x, @y); of SHOWN the ring that marks what is shown. */
void adj_pareto_chart_draw_sign (
    cairo_t *cr, AdjPlanKind kind, double x, double y, gboolean is_dominated);
/* That of a plan that is another program. */
void adj_pareto_chart_draw_wrong (cairo_t *cr, double x, double y);

G_END_DECLS
