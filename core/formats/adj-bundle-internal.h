/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* For sessions: the fingerprint that ties a kept run to its graph, and known inputs without a call.
 */

/* (transfer full): changes when the graph computes something else. */
char *adj_bundle_graph_fingerprint (const AdjGraph *graph);

/* Known inputs of a graph without a recorded call (weights of a program without sample inputs),
 * NONE for each unknown one. (transfer none) (nullable) (array length=n) */
const AdjValue *
adj_bundle_get_weights (const AdjBundle *bundle, const AdjBundleGraph *graph, guint *n);

/* Number of threads that fit at once on the GPU of the recording machine, which its random numbers
 * depend on; 0: not recorded. */
gint64 adj_bundle_get_gpu_threads (const AdjBundle *bundle);

G_END_DECLS
