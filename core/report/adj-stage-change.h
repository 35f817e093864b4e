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
/* Of the first of them: in the graph of the stage, and in the one before; or ADJ_NO_NODE. */
AdjNodeId adj_stage_change_get_after (AdjStageChange *self);
AdjNodeId adj_stage_change_get_before (AdjStageChange *self);
const char *adj_stage_change_get_what (AdjStageChange *self); /* "mul, mul_1, mul_2 …" */
const char *adj_stage_change_get_why (AdjStageChange *self);  /* a sentence, or "" */

/* What stage @stage of @recording did on the way, then what it changed, in order of execution, then
 * what it has to say of nodes that stayed.  (transfer full): of AdjStageChange.  Halves of a
 * partition only say why each of their nodes stands there. */
GListModel *adj_stage_changes_list (const AdjRecording *recording, guint stage);
/* The nodes of the stage that are new or changed.  (transfer full): of guint32 */
GArray *adj_stage_changes_find_nodes (GListModel *changes);

G_END_DECLS
