/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "report/adj-stage-change.h"

G_BEGIN_DECLS

struct _AdjStageChange
{
  GObject parent_instance;

  AdjChangeKind kind;
  guint count;
  gboolean is_metadata;
  GArray *nodes; /* AdjNodeId: after, before, after, before … */
  GString *what;
  char *why;
};

void adj_stage_change_add_nodes (AdjStageChange *row, AdjNodeId after, AdjNodeId before);
/* Counts one more node; the first few names are listed. */
void adj_stage_change_add_name (AdjStageChange *row, const char *name);

/* The list under construction. */
typedef struct
{
  const AdjGraph *before, *after;
  GListStore *store;
  GHashTable *rows;    /* key of equal changes → AdjStageChange */
  GHashTable *reasons; /* node after, or before with the top bit → reason */
  guint32 *origins; /* (owned) (nullable): per node after, its origin before; G_MAXUINT32: none */
} AdjStageListing;

const AdjNode *
adj_stage_listing_get_node (const AdjStageListing *self, AdjNodeId after, AdjNodeId before);
/* The row of @key (transfer full), new or not. */
AdjStageChange *
adj_stage_listing_find_row (AdjStageListing *self, char *key, AdjChangeKind kind, const char *why);
AdjStageChange *adj_stage_listing_add (
    AdjStageListing *self, AdjChangeKind kind, AdjNodeId after, AdjNodeId before, const char *why);

/* Whether several stages have the same parent as @stage. */
gboolean adj_stage_is_half (const AdjRecording *recording, const AdjStage *stage);
/* Adds the partitioner's reasons, decisions first. */
void adj_stage_listing_add_reasons (AdjStageListing *self, const AdjStage *stage);
/* For a partition by another program, without reasons: adds what backward reads of forward, and
 * what it recomputes. */
void adj_stage_listing_add_crossing (AdjStageListing *self,
                                     const AdjRecording *recording,
                                     const AdjStage *half);
void adj_stage_halves_count (GListModel *changes, guint *n_saved, guint *n_again);

G_END_DECLS
