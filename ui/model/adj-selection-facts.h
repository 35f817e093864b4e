/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-evaluation.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* Several nodes at a glance. */
typedef struct
{
  guint n;
  guint n_backward;
  gint64 bytes;       /* of all their values; those of views are not counted twice */
  guint n_unknown;    /* that do not say how large they are */
  gint64 saved_bytes; /* of those that are kept for backward */
  GArray *operators;  /* (owned): of AdjOperatorCount, the most frequent first */
  guint roles[ADJ_N_ROLES];
  gint64 ns;                               /* that they took; -1: not run */
  guint verdicts[ADJ_VERDICT_SKIPPED + 1]; /* of those that were compared */
  gboolean compared;
} AdjSelectionFacts;

typedef struct
{
  const char *target; /* borrowed from the graph */
  guint n;
} AdjOperatorCount;

/* @nodes: of guint32; @scene: knows the roles; @evaluation: (nullable) */
AdjSelectionFacts *adj_selection_facts_new (const AdjGraph *graph,
                                            const AdjScene *scene,
                                            const AdjEvaluation *evaluation,
                                            const GArray *nodes);
void adj_selection_facts_free (AdjSelectionFacts *facts);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjSelectionFacts, adj_selection_facts_free)

G_END_DECLS
