/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* A node of another stage that is an origin or a descendant of the shown one. */
typedef struct
{
  const char *step; /* name of the stage, of the recording */
  guint graph;      /* index of its graph in the document */
  AdjNodeId node;
} AdjKin;

/* At most this many per stage. */
#define ADJ_MAX_KIN 4

/* The relatives of node @node of the shown graph: its origins back to the first stage and its
 * descendants in the last, over forward and backward, in the order of the stages; empty until the
 * stages are aligned (adj_stage_summaries_of()).  (transfer full): of AdjKin */
GArray *adj_provenance_find (AdjDocument *document, AdjNodeId node);

G_END_DECLS
