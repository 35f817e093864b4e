/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* For sessions: whether a kept run is of a graph, and what is known of inputs without a call. */

/* (transfer full): changes when the graph computes something else. */
char *adj_bundle_graph_fingerprint (const AdjGraph *graph);

/* What the file has of the inputs of a graph that nobody called, NONE where it has nothing: weights
 * of a program without sample inputs. (transfer none) (nullable) (array length=n) */
const AdjValue *
adj_bundle_get_weights (const AdjBundle *bundle, const AdjBundleGraph *graph, guint *n);

/* How many threads fit at once on a GPU of the machine that recorded, which decides what it drew;
 * 0: the file does not say. */
gint64 adj_bundle_get_gpu_threads (const AdjBundle *bundle);

G_END_DECLS
