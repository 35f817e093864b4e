/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-compare.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The origin of each node of a stage, also where the writer of both graphs did not record it. */

/* Guesses by source lines: for each node of @after the node of @before of the same line that calls
 * the same, or the origin of the last node of that line, or the first node of that line;
 * G_MAXUINT32: none.  (transfer full) (nullable): %NULL if nodes of @after have origins, or there
 * are too many pairs */
guint32 *adj_stage_origins_guess (const AdjGraph *before, const AdjGraph *after);

/* The same from the alignment of both graphs first and then, if @made, from origins or lines.
 * @made: @after was made from @before, so that origins of its nodes are nodes of that.
 * (transfer full) */
guint32 *adj_stage_origins_find (const AdjGraph *before,
                                 const AdjGraph *after,
                                 gboolean made,
                                 const AdjAlignment *alignment);

/* "relu" of "torch.ops.aten.relu.default" and of "torch.relu".  (transfer full) */
char *adj_stage_origins_target (const AdjNode *node);

G_END_DECLS
