/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "ir/adj-compare.h"
#include "passes/adj-recording.h"

G_BEGIN_DECLS

/* A row of the list of what a stage did and changed: equal changes are one row, a step has no
 * nodes. */
#define ADJ_TYPE_STAGE_CHANGE (adj_stage_change_get_type ())
G_DECLARE_FINAL_TYPE (AdjStageChange, adj_stage_change, ADJ, STAGE_CHANGE, GObject)

AdjChangeKind adj_stage_change_get_kind (AdjStageChange *self); /* NONE: it only says why */
guint adj_stage_change_get_count (AdjStageChange *self);
/* Nothing that is computed: tags, and what the pass did on the way. */
gboolean adj_stage_change_is_metadata (AdjStageChange *self);
/* Of the first of them: in the graph of the stage, and in the one before; or ADJ_NO_NODE. */
AdjNodeId adj_stage_change_get_after (AdjStageChange *self);
AdjNodeId adj_stage_change_get_before (AdjStageChange *self);
const char *adj_stage_change_get_what (AdjStageChange *self); /* "mul, mul_1, mul_2 …" */
const char *adj_stage_change_get_why (AdjStageChange *self);  /* a sentence, or "" */

/* What stage @stage of @recording changed, in order of execution: what a node became, what came and
 * went; then what it has to say of nodes that stayed, changes of metadata, and what it did on the
 * way.  (transfer full): of AdjStageChange.  Halves of a partition say what is saved and what is
 * computed again and why, and name what follows from that by itself. */
GListModel *adj_stage_changes_list (const AdjRecording *recording, guint stage);
/* "Forward and backward in one graph: 7 changed, 30 came, 0 went".  @changes: of that
 * stage.  (transfer full) */
char *adj_stage_changes_describe (const AdjRecording *recording, guint stage, GListModel *changes);
/* Whether @change is of what is computed; tags and other metadata are not.  What came, what went
 * and these are the numbers of a step, wherever they are told. */
gboolean adj_stage_change_is_computed (const AdjChange *change);
/* The nodes of the stage that are new or changed.  (transfer full): of guint32 */
GArray *adj_stage_changes_find_nodes (GListModel *changes);

G_END_DECLS
