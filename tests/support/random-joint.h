/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A joint graph on f32 matrices that every executor can run; a seed determines it.  Its backward
 * is not the gradient of its forward: it has forward nodes, helpers that read no tangent, and
 * nodes that depend on tangents, with views, reductions, several results, random operators,
 * gradients that are inputs or missing, tags in regions in about half of the graphs, and
 * symbolic sizes in a quarter. */
AdjGraph *adj_test_random_joint (GRand *rand, guint *num_fwd_outputs);

G_END_DECLS
