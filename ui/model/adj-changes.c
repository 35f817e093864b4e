/* SPDX-License-Identifier: MIT */
/* Steps to the next node that a stage changed, or that differs in a comparison. */

#include "model/adj-changes.h"

#include <gio/gio.h>

#include "model/adj-stages.h"
#include "report/adj-stage-change.h"

static GArray *
list_differing (const AdjComparison *comparison)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < comparison->n_nodes; i++)
    if (comparison->nodes[i].verdict == ADJ_VERDICT_DIFFERS)
      g_array_append_val (nodes, comparison->nodes[i].node.index);
  return nodes;
}

/* (nullable) */
static GArray *
list_changed (AdjDocument *document)
{
  gint stage = adj_stages_get_current (document);
  g_autoptr (GListModel) changes = NULL;

  if (stage < 0)
    return NULL;
  changes = adj_stage_changes_list (adj_stages_get_recording (document), (guint) stage);
  return adj_stage_changes_find_nodes (changes);
}

void
adj_changes_step (AdjDocument *document, gint step)
{
  AdjEvaluation *evaluation = adj_document_get_evaluation (document);
  const AdjComparison *comparison =
      evaluation != NULL ? adj_evaluation_get_comparison (evaluation) : NULL;
  g_autoptr (GArray) nodes =
      comparison != NULL ? list_differing (comparison) : list_changed (document);
  guint32 selected = adj_document_get_selected (document).index, found = G_MAXUINT32;

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      guint32 node = g_array_index (nodes, guint32, i);

      if (step < 0 && node < selected && (found == G_MAXUINT32 || node > found))
        found = node;
      if (step > 0 && (selected == G_MAXUINT32 || node > selected) && node < found)
        found = node;
    }
  if (found != G_MAXUINT32)
    adj_document_set_selected (document, (AdjNodeId){ found });
}
