/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* What each step of adj_stages_list_steps() changed, and whether it computes the same as the step
 * before; found in other threads, while nothing else runs. Signals: "changed": a summary was
 * updated. */
#define ADJ_TYPE_STAGE_SUMMARIES (adj_stage_summaries_get_type ())
G_DECLARE_FINAL_TYPE (AdjStageSummaries, adj_stage_summaries, ADJ, STAGE_SUMMARIES, GObject)

typedef enum
{
  ADJ_CHECK_PENDING,
  ADJ_CHECK_NONE, /* there is nothing to compare it with; @text says why */
  ADJ_CHECK_EQUAL,
  ADJ_CHECK_WITHIN,
  ADJ_CHECK_DIFFERS,
} AdjCheckState;

typedef struct
{
  gint before;      /* index in the document of the graph that it was made from; -1: none */
  gboolean is_half; /* a half of a pair, which is compared instead */
  gboolean counted; /* the counts below are set */
  guint n_added, n_removed, n_changed; /* nodes; changes of metadata do not count */
  guint32 *origins; /* (owned) (nullable): per node, its origin in @before; G_MAXUINT32: none */
  GBytes *changes;  /* (owned) (nullable): per node, an AdjChangeKind */
  gint64 ns;        /* time it took; -1: unknown */
  AdjCheckState check;
  char *text; /* (nullable): result of the check: "equal, error 3e-07", "first differs at mul_4" */
  AdjNodeId first; /* of its graph: the first node that differs */
} AdjStageSummary;

/* The summaries of @document, which owns them.  (transfer none) */
AdjStageSummaries *adj_stage_summaries_of (AdjDocument *document);
/* Starts again if the document shows other stages than before. */
void adj_stage_summaries_update (AdjStageSummaries *self);
/* The summary of a step; (nullable): there is no such step.  Valid until "changed". */
const AdjStageSummary *adj_stage_summaries_get (AdjStageSummaries *self, guint step);
/* "first differs at mul_4", or until that is known "not checked yet".  Static, or owned by
 * @summary. */
const char *adj_stage_summary_describe (const AdjStageSummary *summary);

G_END_DECLS
