/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "ir/adj-compare.h"

G_BEGIN_DECLS

/* The texts of two graphs side by side, aligned nodes in one line, scrolled and selected together.
 * In lines that differ the difference is marked. Signals: "selected" (guint own, guint other): a
 * line was clicked; G_MAXUINT: there is no node on that side. */
#define ADJ_TYPE_TEXT_PAIR (adj_text_pair_get_type ())
G_DECLARE_FINAL_TYPE (AdjTextPair, adj_text_pair, ADJ, TEXT_PAIR, GtkWidget)

/* @alignment: of @other (a) with @own (b); all (nullable): shows nothing */
void adj_text_pair_set (AdjTextPair *self,
                        const AdjAlignment *alignment,
                        const AdjGraph *other,
                        const AdjGraph *own);
/* Marks the line of a node, and scrolls to it; ADJ_NO_NODE: none. */
void adj_text_pair_select (AdjTextPair *self, AdjNodeId own, AdjNodeId other);
/* The index of the marked line; -1: none. */
gint adj_text_pair_get_selected (AdjTextPair *self);
guint adj_text_pair_get_n_lines (AdjTextPair *self);
GtkTextView *adj_text_pair_get_view (AdjTextPair *self, guint side); /* 0: own, 1: other */

G_END_DECLS
