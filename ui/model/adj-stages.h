/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* Stepping through the stages of a recording: the shown graph is one of them, and what is selected
 * goes along from stage to stage by the origins of nodes. */

/* The stages that @document's graphs came about by.  (transfer none) (nullable) */
AdjRecording *adj_stages_get_recording (AdjDocument *document);
/* The stage that is shown, or was asked for last, also where it failed; -1: none. */
gint adj_stages_get_current (AdjDocument *document);
/* Shows stage @stage; where it failed, the graph before it and what is to blame. */
void adj_stages_show (AdjDocument *document, guint stage);
/* Shows it with node @node selected (ADJ_NO_NODE: none). */
void adj_stages_show_node (AdjDocument *document, guint stage, AdjNodeId node);
/* @step: -1 or 1: to the stage before or after. */
gboolean adj_stages_can_step (AdjDocument *document, gint step);
void adj_stages_step (AdjDocument *document, gint step);

G_END_DECLS
