/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A joint graph as a deep model gives one: layers of modules, parameters, a gradient for every
 * forward node with its sequence number, values saved for backward.  About 154 nodes a layer; with
 * @vary no two layers are wired alike. */
AdjGraph *adj_test_layered_graph (guint n_layers, gboolean vary);

G_END_DECLS
