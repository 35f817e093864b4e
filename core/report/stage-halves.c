/* SPDX-License-Identifier: MIT */
/* The decisions of a partition, as changes of its halves. */

#include <glib/gi18n.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "report/stage-change-private.h"

/* Decisions are listed for each node (@each); consequences are one row for all their nodes. */
static const struct
{
  const char *clause; /* as in the partitioners' reasons */
  gboolean each;
} decisions[] = {
  { "is saved for backward", TRUE },
  { "is computed again", TRUE },
  { "stays in forward", FALSE },
  { "is computed in backward", FALSE },
  { "goes", FALSE },
};

static void
add_reason (AdjStageListing *self, const AdjPassNote *note)
{
  for (guint i = 0; i < G_N_ELEMENTS (decisions); i++)
    if (strstr (note->reason, decisions[i].clause) != NULL && !decisions[i].each)
      {
        AdjStageChange *row = adj_stage_listing_find_row (self, g_strdup (decisions[i].clause),
                                                          ADJ_CHANGE_NONE, _ (decisions[i].clause));

        adj_stage_change_add_name (
            row, adj_stage_listing_get_node (self, note->after, note->before)->name);
        adj_stage_change_add_nodes (row, note->after, note->before);
        return;
      }
  adj_stage_listing_add (self, ADJ_CHANGE_NONE, note->after, note->before, note->reason);
}

static gboolean
is_decided (const AdjPassNote *note)
{
  return strstr (note->reason, decisions[0].clause) != NULL ||
         strstr (note->reason, decisions[1].clause) != NULL;
}

void
adj_stage_listing_add_reasons (AdjStageListing *self, const AdjStage *stage)
{
  for (guint others = 0; others < 2; others++)
    for (guint i = 0; i < stage->n_notes; i++)
      if (adj_node_id_is_valid (stage->notes[i].after) &&
          is_decided (&stage->notes[i]) == (others == 0))
        add_reason (self, &stage->notes[i]);
}

void
adj_stage_listing_add_crossing (AdjStageListing *self,
                                const AdjRecording *recording,
                                const AdjStage *half)
{
  const AdjGraph *other = NULL;

  for (guint i = 0; i < adj_recording_get_n_stages (recording); i++)
    {
      const AdjStage *stage = adj_recording_get_stage (recording, i);

      if (stage != half && stage->from == half->from && stage->graph != NULL && other == NULL)
        other = stage->graph;
    }
  for (guint i = 0; other != NULL && i < adj_graph_get_n_nodes (half->graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (half->graph, i);
      AdjNodeId same = adj_graph_find_node (other, node->name);
      AdjInputRole role = adj_graph_get_input_role (half->graph, i);

      if (!adj_node_id_is_valid (same) || node->opcode == ADJ_OPCODE_OUTPUT)
        continue;
      if (role == ADJ_INPUT_NONE &&
          adj_graph_get_node (other, same.index)->opcode == ADJ_OPCODE_PLACEHOLDER)
        adj_stage_listing_add (self, ADJ_CHANGE_NONE, (AdjNodeId){ i }, node->origin,
                               _ ("is saved for backward"));
      else if (node->opcode == ADJ_OPCODE_PLACEHOLDER &&
               adj_graph_get_node (other, same.index)->opcode != ADJ_OPCODE_PLACEHOLDER)
        adj_stage_listing_add (self, ADJ_CHANGE_NONE, (AdjNodeId){ i }, node->origin,
                               _ ("is saved for backward, by forward"));
      else if (role == ADJ_INPUT_NONE &&
               g_str_equal (adj_graph_get_node (other, same.index)->target, node->target))
        adj_stage_listing_add (self, ADJ_CHANGE_NONE, (AdjNodeId){ i }, node->origin,
                               _ ("is computed again in backward"));
    }
}

gboolean
adj_stage_is_half (const AdjRecording *recording, const AdjStage *stage)
{
  guint n = 0;

  for (guint i = 0; i < adj_recording_get_n_stages (recording); i++)
    n += adj_recording_get_stage (recording, i)->from == stage->from;
  return n > 1;
}

void
adj_stage_halves_count (GListModel *changes, guint *n_saved, guint *n_again)
{
  for (guint i = 0; i < g_list_model_get_n_items (changes); i++)
    {
      g_autoptr (AdjStageChange) row = g_list_model_get_item (changes, i);

      if (row->is_metadata)
        continue;
      *n_saved += strstr (row->why, decisions[0].clause) != NULL ? row->count : 0;
      *n_again += strstr (row->why, decisions[1].clause) != NULL ? row->count : 0;
    }
}
