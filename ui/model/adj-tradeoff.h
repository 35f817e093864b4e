/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-plan-item.h"

G_BEGIN_DECLS

#define ADJ_TRADEOFF_BUDGETS 11

/* What there is to choose from: a joint graph, and the pair that was made of it. */
typedef struct
{
  const AdjBundleGraph *joint; /* of the document's graphs */
  AdjGraph *backward;          /* (unowned) (nullable) */
  gint num_fwd_outputs;        /* -1: unknown */
  gboolean is_ours;            /* the pair was made here, by Adjoint's rules */
} AdjTradeoffSubject;

/* Of the region that @document shows a graph of; %FALSE when there is no joint graph in it. */
gboolean adj_tradeoff_find_subject (AdjDocument *document, AdjTradeoffSubject *subject);

/* In another thread: the plans of PyTorch and ours for every budget.  The result is a GListModel of
 * AdjPlanItem, those that compute less again first; what is computed again counts in FLOP, or, when
 * there is no FLOP in any of them, in bytes read and written. */
AdjTask *
adj_tradeoff_start (GObject *owner, const AdjTradeoffSubject *subject, GAsyncReadyCallback done);

G_END_DECLS
