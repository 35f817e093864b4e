/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-debug-log.h"
#include "session/adj-session.h"

G_BEGIN_DECLS

/* A run of a graph compared with the log of an eager run, which holds hashes of values: the sum of
 * magnitudes, and all bits combined. */

typedef enum
{
  ADJ_LOGGED_EQUAL,      /* the same numbers */
  ADJ_LOGGED_WITHIN,     /* as near to the float64 run as rounding explains */
  ADJ_LOGGED_DIFFERS,    /* further, or of another type */
  ADJ_LOGGED_UNKNOWN,    /* other bits, and the log has no norm to measure the distance by */
  ADJ_LOGGED_UNHASHED,   /* the log has no hash of it */
  ADJ_LOGGED_ONLY_GRAPH, /* no call of the log computes it */
  ADJ_LOGGED_ONLY_LOG,   /* no node of the graph does what the call did */
} AdjLogged;

typedef struct
{
  AdjNodeId node;             /* ADJ_NO_NODE: only in the log */
  const AdjDebugCall *call;   /* (nullable): only in the graph */
  double norm, logged, exact; /* norms: run, log, float64 run; NaN: not known */
  double limit; /* greatest distance of @logged from @exact that passes; NaN: not compared */
  gboolean inputs_agree; /* the inputs of the node agree, as far as they could be compared */
  AdjLogged verdict;
} AdjDebugRow;

typedef struct
{
  GArray *rows; /* (element-type AdjDebugRow): in the order of the graph, with the rows that are
                   only in the log */
  gint first;   /* index of the first row that differs; -1: none */
  guint n_by[ADJ_LOGGED_ONLY_LOG + 1];
} AdjDebugComparison;

/* (transfer full) (nullable): runs the graph, in float64 too, and lays its values beside @log,
 * which has to outlive the result.  %NULL with ADJ_ERROR_NOT_FOUND when the two have no call in
 * common or the log no hashes, or the errors of adj_session_run(). */
ADJ_PUBLIC AdjDebugComparison *adj_session_compare_log (const AdjSessionRun *run,
                                                        const AdjDebugLog *log,
                                                        GCancellable *cancellable,
                                                        GError **error);
ADJ_PUBLIC void adj_debug_comparison_free (AdjDebugComparison *comparison);
/* "differs", "not in the log" */
ADJ_PUBLIC const char *adj_logged_describe (AdjLogged verdict);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjDebugComparison, adj_debug_comparison_free)

G_END_DECLS
