/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-run-choice.h"
#include "model/adj-task.h"
#include "session/adj-session.h"

G_BEGIN_DECLS

/* The results of running a graph and of comparing them with recorded ones. Immutable, counted
 * atomically. */
typedef struct _AdjEvaluation AdjEvaluation;

AdjEvaluation *adj_evaluation_ref (AdjEvaluation *evaluation);
void adj_evaluation_unref (AdjEvaluation *evaluation);

/* The reference of a comparison: the recorded or kept results for the same inputs, another graph on
 * the same inputs, or the file of values of the run choice. */
typedef struct
{
  AdjGraphSet *graphs;         /* (unowned) (nullable): of @graph */
  const AdjBundleGraph *graph; /* (nullable): %NULL: recorded or kept results */
  gboolean values;
} AdjPeer;

/**
 * adj_evaluation_start:
 * @choice: one that @graph can do
 * @peer: (nullable): to compare with, node by node
 *
 * Runs @graph of @graphs in the compute thread; the result is an AdjEvaluation.
 */
AdjTask *adj_evaluation_start (GObject *owner,
                               AdjGraphSet *graphs,
                               const AdjBundleGraph *graph,
                               AdjRunChoice choice,
                               const AdjPeer *peer,
                               GAsyncReadyCallback done);
const char *adj_evaluation_get_graph_id (AdjTask *task);

AdjGraph *adj_evaluation_get_graph (const AdjEvaluation *evaluation);
const AdjRunResult *adj_evaluation_get_result (const AdjEvaluation *evaluation);
/* (nullable) */
const AdjComparison *adj_evaluation_get_comparison (const AdjEvaluation *evaluation);
/* (nullable): what the node computed */
AdjTensorData *adj_evaluation_get_value (const AdjEvaluation *evaluation, AdjNodeId node);
/* (nullable): the reference value, when it is not equal */
AdjTensorData *adj_evaluation_get_beside (const AdjEvaluation *evaluation, AdjNodeId node);
/* (nullable): the comparison of the node */
const AdjValueComparison *adj_evaluation_find (const AdjEvaluation *evaluation, AdjNodeId node);
/* (nullable): name of the reference: the id of a graph, a file, a run; %NULL: recorded results */
const char *adj_evaluation_get_peer (const AdjEvaluation *evaluation);
/* The run choice that it was made with. */
AdjRunChoice adj_evaluation_get_choice (const AdjEvaluation *evaluation);
/* Whether the run can be kept; one of a pair of graphs cannot. */
gboolean adj_evaluation_can_keep (const AdjEvaluation *evaluation);
/* A run to be kept as @name.  @values: with the values of its nodes.  (transfer full) */
AdjRecordedCall *
adj_evaluation_make_run (const AdjEvaluation *evaluation, const char *name, gboolean values);
/* The bytes that keeping the run adds to a file. */
guint64 adj_evaluation_count_bytes (const AdjEvaluation *evaluation, gboolean values);
/* How many nodes got each verdict. */
void adj_evaluation_count (const AdjEvaluation *evaluation, guint counts[ADJ_VERDICT_SKIPPED + 1]);

/* One sentence; @id: of the graph.  (transfer full) */
char *adj_evaluation_describe (const AdjEvaluation *evaluation, const char *id);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjEvaluation, adj_evaluation_unref)

G_END_DECLS
