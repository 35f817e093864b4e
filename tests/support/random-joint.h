/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A joint graph on f32 matrices that every executor can run; the same seed makes the same graph.
 * Nothing in it is the gradient of anything: forward, helpers that read no tangent, and what
 * depends on tangents, with views, reductions, several results, random operators, gradients that
 * are inputs or missing, and in about half of them tags in regions; in a quarter all sizes are
 * symbols. */
AdjGraph *adj_test_random_joint (GRand *rand, guint *num_fwd_outputs);

G_END_DECLS
