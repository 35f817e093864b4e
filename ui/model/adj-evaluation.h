/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-run-choice.h"
#include "model/adj-work.h"
#include "session/adj-session.h"

G_BEGIN_DECLS

/* What came out of running a graph, and of comparing it with what was recorded.  Immutable,
 * counted atomically. */
typedef struct _AdjEvaluation AdjEvaluation;

AdjEvaluation *adj_evaluation_ref (AdjEvaluation *evaluation);
void adj_evaluation_unref (AdjEvaluation *evaluation);

/* What a run is compared with: what was recorded, or another graph on the same inputs. */
typedef struct
{
  AdjGraphSet *graphs;         /* (unowned) (nullable): of @graph */
  const AdjBundleGraph *graph; /* (nullable): %NULL: what was recorded */
} AdjPeer;

/**
 * adj_evaluation_start:
 * @choice: one that @graph can do
 * @peer: (nullable): to compare with, node by node
 *
 * Runs @graph of @graphs in the compute thread; the result is an AdjEvaluation.
 */
AdjWork *adj_evaluation_start (GObject *owner,
                               AdjGraphSet *graphs,
                               const AdjBundleGraph *graph,
                               AdjRunChoice choice,
                               const AdjPeer *peer,
                               GAsyncReadyCallback done);
const char *adj_evaluation_get_graph_id (AdjWork *work);

AdjGraph *adj_evaluation_get_graph (const AdjEvaluation *evaluation);
const AdjRunResult *adj_evaluation_get_result (const AdjEvaluation *evaluation);
/* (nullable) */
const AdjComparison *adj_evaluation_get_comparison (const AdjEvaluation *evaluation);
/* (nullable): what the node computed */
AdjTensorData *adj_evaluation_get_value (const AdjEvaluation *evaluation, AdjNodeId node);
/* (nullable): what that was compared with, when it is not equal */
AdjTensorData *adj_evaluation_get_beside (const AdjEvaluation *evaluation, AdjNodeId node);
/* (nullable): how the node compared */
const AdjValueComparison *adj_evaluation_find (const AdjEvaluation *evaluation, AdjNodeId node);
/* (nullable): the id of the graph that it was compared with; %NULL: what was recorded */
const char *adj_evaluation_get_peer (const AdjEvaluation *evaluation);
/* What it ran on. */
AdjRunChoice adj_evaluation_get_choice (const AdjEvaluation *evaluation);
/* How many nodes got each verdict. */
void adj_evaluation_count (const AdjEvaluation *evaluation, guint counts[ADJ_VERDICT_SKIPPED + 1]);

/* One sentence; @id: of the graph.  (transfer full) */
char *adj_evaluation_describe (const AdjEvaluation *evaluation, const char *id);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjEvaluation, adj_evaluation_unref)

G_END_DECLS
