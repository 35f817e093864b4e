/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-tensor-stats.h"

G_BEGIN_DECLS

/* The distribution of a tensor's elements as bars, and of another one's as a line over them. */
#define ADJ_TYPE_HISTOGRAM (adj_histogram_get_type ())
G_DECLARE_FINAL_TYPE (AdjHistogram, adj_histogram, ADJ, HISTOGRAM, GtkWidget)

/* @other: (nullable): with bins of the same range */
GtkWidget *adj_histogram_new (const AdjTensorStats *stats, const AdjTensorStats *other);

G_END_DECLS
