/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* The graphs of a region as stages, each made from an earlier one, by PyTorch or by us. */

/**
 * adj_region_stages_new:
 * @graph: of @bundle
 *
 * The recording of @bundle where @graph is one of its stages.  Else the graphs of its region in the
 * order of the file, each `from` the one that it was made of as their roles and inputs say: joint
 * of what was captured, forward and backward of joint, what a compiler made of either; origins of
 * nodes are not known then, adj_graph_align_made() aligns by what is alike.  Subgraphs are no
 * stages.  A graph without a region is one stage.
 *
 * Returns: (transfer full)
 */
AdjRecording *adj_region_stages_new (AdjBundle *bundle, const AdjBundleGraph *graph);

/* Whether the graph of a stage of @recording is @graph. */
gboolean adj_region_stages_contain (const AdjRecording *recording, const AdjGraph *graph);

G_END_DECLS
