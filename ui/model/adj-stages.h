/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* Stepping through the stages of the shown graph: of a recording, or the graphs of a region of any
 * file.  The selection follows the origins of nodes, or their alignment. */

/* A stage to step to, or both halves of a partition together, which come before either half. */
typedef struct
{
  gint stage;  /* index in the recording; -1: the pair */
  guint graph; /* index of its graph in the document; G_MAXUINT: the stage failed */
} AdjStep;

/* The recording that has the shown graph, or the one requested last. (transfer none) (nullable):
 * nothing is open */
AdjRecording *adj_stages_get_recording (AdjDocument *document);
/* (transfer full): of AdjStep, in the order of stepping; empty: nothing is open */
GArray *adj_stages_list_steps (AdjDocument *document);
/* The index in that list of the shown or last requested step; -1: none. */
gint adj_stages_get_current_step (AdjDocument *document);
void adj_stages_show_step (AdjDocument *document, guint step);
/* The index in the document of the graph that the stage of @step was made from; -1: none. */
gint adj_stages_find_before (AdjDocument *document, gint step);

/* The shown or last requested stage, even if it failed; -1: none, or a pair. */
gint adj_stages_get_current (AdjDocument *document);
/* Shows stage @stage; if it failed, the graph before it and the node to blame. */
void adj_stages_show (AdjDocument *document, guint stage);
/* Shows the stage with node @node selected (ADJ_NO_NODE: none). */
void adj_stages_show_node (AdjDocument *document, guint stage, AdjNodeId node);
/* The node of @b that has the name of @node of @a and calls the same, or is the input that receives
 * its value, as between the halves of a partition. */
AdjNodeId adj_stages_find_named (const AdjGraph *a, AdjNodeId node, const AdjGraph *b);
/* @step: -1 or 1: to the step before or after. */
gboolean adj_stages_can_step (AdjDocument *document, gint step);
void adj_stages_step (AdjDocument *document, gint step);

/* Whether the two stages are halves of one partition: "forward" and "backward" of the same stage.
 */
gboolean adj_stages_is_half (const AdjRecording *recording, guint stage);
/* The stage whose graph was partitioned last, before its tags were a stage; -1: none. */
gint adj_stages_find_partitioned (const AdjRecording *recording);

G_END_DECLS
