/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Graphs for tests that must hold for all of them; the same seed makes the same graph. */

/* Any graph that the text form can hold: all kinds of values and targets, annotations, metadata,
 * comments, nested graphs.  Not meant to be run. */
AdjGraph *adj_test_random_graph (GRand *rand, guint n_calls);

/* A graph of ATen calls on f32[4, 4] tensors that every executor can run. */
AdjGraph *adj_test_random_program (GRand *rand, guint n_calls);

G_END_DECLS
