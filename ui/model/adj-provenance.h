/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* A node of another stage that the shown one came of, or that came of it. */
typedef struct
{
  const char *step; /* name of the stage, of the recording */
  guint graph;      /* its place in the document */
  AdjNodeId node;
} AdjKin;

/* At most this many of one stage. */
#define ADJ_MAX_KIN 4

/* Those of node @node of the shown graph: its ancestors back to the first stage and its descendants
 * in the last, over forward and backward, in the order of the stages; empty as long as the stages
 * are not laid side by side (adj_stage_summaries_of()).  (transfer full): of AdjKin */
GArray *adj_provenance_find (AdjDocument *document, AdjNodeId node);

G_END_DECLS
