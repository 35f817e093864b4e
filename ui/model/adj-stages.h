/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* Stepping through the stages of what is shown, those of a recording or the graphs of a region of
 * any file.  What is selected goes along from stage to stage by the origins of nodes, or by what is
 * alike. */

/* A place to step to: a stage, or both halves of a partition together before either. */
typedef struct
{
  gint stage;  /* of the recording; -1: the pair */
  guint graph; /* its place in the document; G_MAXUINT: the stage failed */
} AdjStep;

/* The stages that the shown graph, or the one that was asked for last, is one of.
 * (transfer none) (nullable): nothing is open */
AdjRecording *adj_stages_get_recording (AdjDocument *document);
/* (transfer full): of AdjStep, in the order of stepping; empty: nothing is open */
GArray *adj_stages_list_steps (AdjDocument *document);
/* The place in that list that is shown, or was asked for last; -1: none. */
gint adj_stages_get_current_step (AdjDocument *document);
void adj_stages_show_step (AdjDocument *document, guint step);

/* The stage that is shown, or was asked for last, also where it failed; -1: none, or a pair. */
gint adj_stages_get_current (AdjDocument *document);
/* Shows stage @stage; where it failed, the graph before it and what is to blame. */
void adj_stages_show (AdjDocument *document, guint stage);
/* Shows it with node @node selected (ADJ_NO_NODE: none). */
void adj_stages_show_node (AdjDocument *document, guint stage, AdjNodeId node);
/* The node of @b that is called as @node of @a and does the same, or is given what that makes, as
 * the halves of a partition do. */
AdjNodeId adj_stages_find_named (const AdjGraph *a, AdjNodeId node, const AdjGraph *b);
/* @step: -1 or 1: to what is before or after. */
gboolean adj_stages_can_step (AdjDocument *document, gint step);
void adj_stages_step (AdjDocument *document, gint step);

/* Whether the two stages are halves of one partition: "forward" and "backward" of the same stage.
 */
gboolean adj_stages_is_half (const AdjRecording *recording, guint stage);

G_END_DECLS
