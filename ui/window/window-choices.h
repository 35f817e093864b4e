/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/window-commands.h"

G_BEGIN_DECLS

/* Prefix of the targets of win.inputs that name a run. */
#define ADJ_RUN_PREFIX "run-"

/* Commands that choose: their state is that of the document.  States are floating. */

GVariant *adj_chosen_view (AdjDocument *document);
void adj_choose_view (AdjWindow *self, GVariant *value);
GVariant *adj_chosen_only_changed (AdjDocument *document);
void adj_choose_only_changed (AdjWindow *self, GVariant *value);
GVariant *adj_chosen_coloring (AdjDocument *document);
void adj_choose_coloring (AdjWindow *self, GVariant *value);
GVariant *adj_chosen_labeling (AdjDocument *document);
void adj_choose_labeling (AdjWindow *self, GVariant *value);
GVariant *adj_chosen_inputs (AdjDocument *document);
void adj_choose_inputs (AdjWindow *self, GVariant *value);
GVariant *adj_chosen_float64 (AdjDocument *document);
void adj_choose_float64 (AdjWindow *self, GVariant *value);

extern const AdjCommandTarget adj_view_targets[];
extern const AdjCommandTarget adj_coloring_targets[];
extern const AdjCommandTarget adj_labeling_targets[];
/* The pages at the bottom. */
extern const AdjCommandTarget adj_page_targets[];

G_END_DECLS
