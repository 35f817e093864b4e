/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-difference-map.h"

G_BEGIN_DECLS

/* The picture of an AdjDifferenceMap: one hue, darker where values lie further apart, a cross where
 * they cannot be compared.  A click, a drag or the arrows choose an element; what is told of is the
 * one below the pointer, or the chosen one.
 *
 * Signal: "described": it is another one. */
#define ADJ_TYPE_DIFFERENCE_VIEW (adj_difference_view_get_type ())
G_DECLARE_FINAL_TYPE (AdjDifferenceView, adj_difference_view, ADJ, DIFFERENCE_VIEW, GtkWidget)

/* @map: (nullable): not copied; again after it changed */
void adj_difference_view_set_map (AdjDifferenceView *self, const AdjDifferenceMap *map);
gint64 adj_difference_view_get_element (AdjDifferenceView *self);   /* row-major; -1: none */
gint64 adj_difference_view_get_described (AdjDifferenceView *self); /* row-major; -1: none */
void adj_difference_view_set_element (AdjDifferenceView *self, gint64 index);

G_END_DECLS
