/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-compare.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* What each node of a stage came of, also where who wrote both graphs did not say. */

/* By the lines of the source: for each node of @after the one of @before of the same line that
 * calls the same, or the one that a node of that line came of last, or the first of that line;
 * G_MAXUINT32: none.  (transfer full) (nullable): nodes of @after have origins, or there are too
 * many pairs */
guint32 *adj_stage_origins_guess (const AdjGraph *before, const AdjGraph *after);

/* The same with what is laid side by side first, then, where @made, origins or lines.
 * @made: @after was made of @before, so that origins of its nodes are nodes of that.
 * (transfer full) */
guint32 *adj_stage_origins_find (const AdjGraph *before,
                                 const AdjGraph *after,
                                 gboolean made,
                                 const AdjAlignment *alignment);

/* "relu" of "torch.ops.aten.relu.default" and of "torch.relu".  (transfer full) */
char *adj_stage_origins_target (const AdjNode *node);

G_END_DECLS
