/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-plan-item.h"

G_BEGIN_DECLS

#define ADJ_TRADEOFF_BUDGETS 11

/* The subject of a trade-off: a joint graph, and the pair that was made from it. */
typedef struct
{
  const AdjBundleGraph *joint; /* one of the document's graphs */
  AdjGraph *backward;          /* (unowned) (nullable) */
  gint num_fwd_outputs;        /* -1: unknown */
  gboolean is_ours;            /* the pair was made by Adjoint's partitioner */
} AdjTradeoffSubject;

/* The subject in the region of the graph that @document shows; %FALSE when it has no joint graph.
 */
gboolean adj_tradeoff_find_subject (AdjDocument *document, AdjTradeoffSubject *subject);

/* In another thread: the plans of PyTorch and ours for every budget.  The result is a GListModel of
 * AdjPlanItem, sorted by recomputation, which is counted in FLOP or, when no plan has any FLOP, in
 * bytes read and written. */
AdjTask *
adj_tradeoff_start (GObject *owner, const AdjTradeoffSubject *subject, GAsyncReadyCallback done);

G_END_DECLS
