/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A joint graph like that of a deep model: layers of modules, parameters, a gradient for every
 * forward node with its sequence number, and values saved for backward.  About 154 nodes per
 * layer; with @vary no two layers have equal edges. */
AdjGraph *adj_test_layered_graph (guint n_layers, gboolean vary);

G_END_DECLS
