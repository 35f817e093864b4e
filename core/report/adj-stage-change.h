/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "ir/adj-compare.h"
#include "passes/adj-recording.h"

G_BEGIN_DECLS

/* A row of the list of changes of a stage: equal changes are one row; a remark on a step of the
 * pass has no nodes. */
#define ADJ_TYPE_STAGE_CHANGE (adj_stage_change_get_type ())
G_DECLARE_FINAL_TYPE (AdjStageChange, adj_stage_change, ADJ, STAGE_CHANGE, GObject)

AdjChangeKind adj_stage_change_get_kind (AdjStageChange *self); /* NONE: it is only a reason */
guint adj_stage_change_get_count (AdjStageChange *self);
/* Whether it changes metadata only: tags, or a remark on a step of the pass. */
gboolean adj_stage_change_is_metadata (AdjStageChange *self);
/* The first of its nodes: in the graph of the stage, and in the one before; or ADJ_NO_NODE. */
AdjNodeId adj_stage_change_get_after (AdjStageChange *self);
AdjNodeId adj_stage_change_get_before (AdjStageChange *self);
const char *adj_stage_change_get_what (AdjStageChange *self); /* "mul, mul_1, mul_2 …" */
const char *adj_stage_change_get_why (AdjStageChange *self);  /* a sentence, or "" */

/* The changes of stage @stage of @recording, in order of execution: nodes that became others, new
 * and removed nodes; then reasons for unchanged nodes, changes of metadata, and remarks on the
 * pass. (transfer full): of AdjStageChange.  Halves of a partition list what is saved and what is
 * recomputed, with the reasons, and summarise what follows from that. */
GListModel *adj_stage_changes_list (const AdjRecording *recording, guint stage);
/* "Forward and backward in one graph: 7 changed, 30 came, 0 went".  @changes: of that
 * stage.  (transfer full) */
char *adj_stage_changes_describe (const AdjRecording *recording, guint stage, GListModel *changes);
/* Whether @change affects what is computed, or what is computed again, and not only metadata.  A
 * step counts its added and removed nodes and these. */
gboolean adj_stage_change_counts (const AdjChange *change);
/* The nodes of the stage that are new or changed.  (transfer full): of guint32 */
GArray *adj_stage_changes_find_nodes (GListModel *changes);

G_END_DECLS
