/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* The graphs that a document shows: those of its file, and for each partitioned region the
 * composition of its forward and backward graph (a pair).  Immutable, counted atomically. */
typedef struct _AdjGraphSet AdjGraphSet;

#define ADJ_PAIR_ROLE "forward+backward"

/* @bundle: (transfer full).  Composing pairs is slow: do not call it in the main thread. */
AdjGraphSet *adj_graph_set_new (AdjBundle *bundle);
/* The same for a file that grew: pairs of graphs in @before are reused. */
AdjGraphSet *adj_graph_set_new_grown (AdjBundle *bundle, const AdjGraphSet *before);
AdjGraphSet *adj_graph_set_ref (AdjGraphSet *set);
void adj_graph_set_unref (AdjGraphSet *set);

AdjBundle *adj_graph_set_get_bundle (const AdjGraphSet *set);
guint adj_graph_set_get_n (const AdjGraphSet *set);
const AdjBundleGraph *adj_graph_set_get (const AdjGraphSet *set, guint index);
/* The index by id, or by any text for adj_bundle_find_graph(); G_MAXUINT with an error. */
guint adj_graph_set_find (const AdjGraphSet *set, const char *id, GError **error);

/* The stages that @graph, of @set, or the halves of a pair are among: the recording of a trace, or
 * the graphs of its region in their file.  (transfer none) */
AdjRecording *adj_graph_set_get_stages (const AdjGraphSet *set, const AdjBundleGraph *graph);
/* The pair of which @half is the forward or backward graph.  (transfer none) (nullable) */
const AdjBundleGraph *adj_graph_set_find_pair (const AdjGraphSet *set, const AdjGraph *half);

/* The graph whose recorded calls are used for @graph: itself or, for a pair, the joint graph.
 * (nullable) */
const AdjBundleGraph *adj_graph_set_get_recorded (const AdjGraphSet *set,
                                                  const AdjBundleGraph *graph);
/* The @n-th recorded call of @graph.  (nullable) */
const AdjRecordedCall *
adj_graph_set_find_call (const AdjGraphSet *set, const AdjBundleGraph *graph, guint n);

/* The run of @graph that is kept as @name.  (transfer full) (nullable) */
AdjRecordedCall *
adj_graph_set_find_run (const AdjGraphSet *set, const AdjBundleGraph *graph, const char *name);
/* All kept runs of @graph.  (transfer full) (element-type AdjRecordedCall) */
GPtrArray *adj_graph_set_list_runs (const AdjGraphSet *set, const AdjBundleGraph *graph);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjGraphSet, adj_graph_set_unref)

G_END_DECLS
