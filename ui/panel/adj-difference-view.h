/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-difference-map.h"

G_BEGIN_DECLS

/* The image of an AdjDifferenceMap: one hue, darker for larger differences, with a cross where
 * values cannot be compared.  A click, a drag or the arrows choose an element; the described
 * element is the one under the pointer, or the chosen one.
 *
 * Signal: "described": the described element changed. */
#define ADJ_TYPE_DIFFERENCE_VIEW (adj_difference_view_get_type ())
G_DECLARE_FINAL_TYPE (AdjDifferenceView, adj_difference_view, ADJ, DIFFERENCE_VIEW, GtkWidget)

/* @map: (nullable): not copied; to be set again after it changed */
void adj_difference_view_set_map (AdjDifferenceView *self, const AdjDifferenceMap *map);
gint64 adj_difference_view_get_element (AdjDifferenceView *self);   /* row-major; -1: none */
gint64 adj_difference_view_get_described (AdjDifferenceView *self); /* row-major; -1: none */
void adj_difference_view_set_element (AdjDifferenceView *self, gint64 index);

G_END_DECLS
