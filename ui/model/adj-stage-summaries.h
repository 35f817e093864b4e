/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* What each step of adj_stages_list_steps() changed, and whether it computes what the one before it
 * computes: found in other threads, while nothing else runs.
 * Signals: "changed": something is known that was not. */
#define ADJ_TYPE_STAGE_SUMMARIES (adj_stage_summaries_get_type ())
G_DECLARE_FINAL_TYPE (AdjStageSummaries, adj_stage_summaries, ADJ, STAGE_SUMMARIES, GObject)

typedef enum
{
  ADJ_CHECK_PENDING,
  ADJ_CHECK_NONE, /* there is nothing that it could be compared with; @text says why */
  ADJ_CHECK_EQUAL,
  ADJ_CHECK_WITHIN,
  ADJ_CHECK_DIFFERS,
} AdjCheckState;

typedef struct
{
  gint before;      /* the place in the document of the graph that it was made of; -1: none */
  gboolean is_half; /* of a pair, which is compared instead */
  gboolean counted; /* the next are known */
  guint n_added, n_removed, n_changed; /* nodes; changes of metadata do not count */
  guint32 *origins; /* (owned) (nullable): of each of its nodes, the node of @before; G_MAXUINT32:
                       none */
  GBytes *changes;  /* (owned) (nullable): of each of its nodes an AdjChangeKind */
  gint64 ns;        /* time it took; -1: unknown */
  AdjCheckState check;
  char *text;      /* (nullable): of the check: "equal, error 3e-07", "first differs at mul_4" */
  AdjNodeId first; /* of its graph: the first that differs */
} AdjStageSummary;

/* Those of @document, which has them as long as it lives.  (transfer none) */
AdjStageSummaries *adj_stage_summaries_of (AdjDocument *document);
/* Begins anew where the document shows other stages than before. */
void adj_stage_summaries_update (AdjStageSummaries *self);
/* Of a step; (nullable): there are not as many.  Valid until "changed". */
const AdjStageSummary *adj_stage_summaries_get (AdjStageSummaries *self, guint step);
/* "first differs at mul_4", or while that is not known "not checked yet".  Static, or of
 * @summary. */
const char *adj_stage_summary_describe (const AdjStageSummary *summary);

G_END_DECLS
