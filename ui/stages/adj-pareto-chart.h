/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-plan-item.h"

G_BEGIN_DECLS

/* Plans by peak memory and recomputation.  Arrows move between the points, Enter and a click choose
 * one; the pointer shows its numbers.
 *
 * Signal: "plan-chosen" (AdjPlanItem *item). */
#define ADJ_TYPE_PARETO_CHART (adj_pareto_chart_get_type ())
G_DECLARE_FINAL_TYPE (AdjParetoChart, adj_pareto_chart, ADJ, PARETO_CHART, GtkWidget)

/* @plans: (nullable): of AdjPlanItem, as adj_tradeoff_start() makes them; the arrows move its
 * selection. */
void adj_pareto_chart_set_plans (AdjParetoChart *self, GtkSingleSelection *plans);
/* The position of a plan's point in the widget. */
graphene_point_t adj_pareto_chart_get_place (AdjParetoChart *self, guint position);
/* The described plan: under the pointer, selected by keys, or shown; GTK_INVALID_LIST_POSITION:
 * none. */
guint adj_pareto_chart_get_subject (AdjParetoChart *self);

/* Draws the sign of a kind of plan around (@x, @y); for SHOWN the ring of the plan of the file. */
void adj_pareto_chart_draw_sign (
    cairo_t *cr, AdjPlanKind kind, double x, double y, gboolean is_dominated);
/* Draws the sign of a plan that would be another program. */
void adj_pareto_chart_draw_wrong (cairo_t *cr, double x, double y);

G_END_DECLS
