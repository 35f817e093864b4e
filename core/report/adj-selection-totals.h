/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-comparison.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* Totals of the selected nodes. */
typedef struct
{
  guint n;
  guint n_backward;
  gint64 bytes;       /* of all their values, each storage once */
  guint n_unknown;    /* nodes of unknown size */
  gint64 saved_bytes; /* of the values that are saved for backward */
  GArray *operators;  /* (owned): of AdjOperatorCount, the most frequent first */
  guint roles[ADJ_N_ROLES];
  gint64 ns;                               /* run time in nanoseconds; -1: not run */
  guint verdicts[ADJ_VERDICT_SKIPPED + 1]; /* number of compared nodes with each verdict */
  gboolean compared;
} AdjSelectionTotals;

typedef struct
{
  const char *target; /* borrowed from the graph */
  guint n;
} AdjOperatorCount;

/* @nodes: of guint32; @scene: knows the roles.  (transfer full) */
AdjSelectionTotals *
adj_selection_totals_new (const AdjGraph *graph, const AdjScene *scene, const GArray *nodes);
/* Adds the run of one of the nodes: its nanoseconds (-1: not known) and the comparison of its value
 * (nullable). */
void adj_selection_totals_add_run (AdjSelectionTotals *totals,
                                   gint64 ns,
                                   const AdjValueComparison *comparison);
void adj_selection_totals_free (AdjSelectionTotals *totals);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjSelectionTotals, adj_selection_totals_free)

G_END_DECLS
