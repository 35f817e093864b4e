/* SPDX-License-Identifier: MIT */
/* Conditions under which commands are possible. */

#include "model/adj-stages.h"
#include "window/window-commands.h"

static gboolean
is_there (AdjDocument *document, gint unused)
{
  return TRUE;
}

static gboolean
has_graph (AdjDocument *document, gint unused)
{
  return adj_document_get_graph (document) != NULL;
}

/* Whether others can open its file, with a graph of it. */
static gboolean
has_file (AdjDocument *document, gint unused)
{
  return has_graph (document, 0) && adj_document_get_file (document) != NULL;
}

static gboolean
has_selection (AdjDocument *document, gint unused)
{
  return adj_node_id_is_valid (adj_document_get_selected (document));
}

static gboolean
has_task (AdjDocument *document, gint unused)
{
  return adj_document_is_running (document) || adj_document_get_status (document) != NULL ||
         adj_document_is_stepping (document);
}

static gboolean
has_run (AdjDocument *document, gint unused)
{
  AdjEvaluation *evaluation = adj_document_get_evaluation (document);

  return evaluation != NULL && adj_evaluation_can_keep (evaluation);
}

static gboolean
has_long_layout (AdjDocument *document, gint unused)
{
  return adj_document_can_show_modules (document);
}

static gboolean
has_problem (AdjDocument *document, gint unused)
{
  return adj_document_get_error (document) != NULL;
}

static gboolean
has_backward (AdjDocument *document, gint unused)
{
  return adj_document_get_captured (document) != NULL;
}

static gboolean
has_step (AdjDocument *document, gint unused)
{
  AdjStepping *stepping = adj_document_get_stepping (document);

  return stepping != NULL &&
         adj_stepping_find_step (stepping, adj_document_get_selected (document)) != G_MAXUINT;
}

static const struct
{
  gboolean (*is_met) (AdjDocument *document, gint step);
  gint step;
} needs[ADJ_N_NEEDS] = {
  [ADJ_NEEDS_NOTHING] = { is_there, 0 },
  [ADJ_NEEDS_GRAPH] = { has_graph, 0 },
  [ADJ_NEEDS_FILE] = { has_file, 0 },
  [ADJ_NEEDS_SELECTION] = { has_selection, 0 },
  [ADJ_NEEDS_TASK] = { has_task, 0 },
  [ADJ_NEEDS_RUN] = { has_run, 0 },
  [ADJ_NEEDS_PROBLEM] = { has_problem, 0 },
  [ADJ_NEEDS_PAST] = { adj_document_can_go, -1 },
  [ADJ_NEEDS_FUTURE] = { adj_document_can_go, 1 },
  [ADJ_NEEDS_DONE] = { adj_document_can_undo, -1 },
  [ADJ_NEEDS_UNDONE] = { adj_document_can_undo, 1 },
  [ADJ_NEEDS_EARLIER] = { adj_stages_can_step, -1 },
  [ADJ_NEEDS_LATER] = { adj_stages_can_step, 1 },
  [ADJ_NEEDS_LONG_LAYOUT] = { has_long_layout, 0 },
  [ADJ_NEEDS_BACKWARD] = { has_backward, 0 },
  [ADJ_NEEDS_STEP] = { has_step, 0 },
};

gboolean
adj_command_is_possible (AdjDocument *document, AdjNeeds need)
{
  return needs[need].is_met (document, needs[need].step);
}
