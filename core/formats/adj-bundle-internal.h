/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* Whether a kept run is of a graph. */

/* (transfer full): changes when the graph computes something else. */
char *adj_bundle_graph_fingerprint (const AdjGraph *graph);

G_END_DECLS
