/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Random graphs for properties of all graphs; a seed determines the graph. */

/* Any graph that the text form can express: all kinds of values and targets, annotations,
 * metadata, comments, nested graphs.  Not runnable. */
AdjGraph *adj_test_random_graph (GRand *rand, guint n_calls);

/* A graph of ATen calls on f32[4, 4] tensors that every executor can run. */
AdjGraph *adj_test_random_program (GRand *rand, guint n_calls);

G_END_DECLS
