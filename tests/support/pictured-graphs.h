/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"

G_BEGIN_DECLS

/* @name: "sac#joint", "sac at 0.5" for what min-cut makes of a joint graph at a budget, "sac,
 * PyTorch at 0.5" for what it makes as PyTorch does. */
typedef void (*AdjTestPicture) (const char *name, AdjGraph *graph, gpointer data);

/* Every graph of every capture of data/graphs, every pair of forward and backward graphs put
 * together again, and every joint graph at eleven budgets, as we partition and as PyTorch does. */
void adj_test_each_pictured_graph (AdjTestPicture each, gpointer data);

/* How much the text of a graph tells, as a log prints it. */
typedef enum
{
  ADJ_TEST_LOG_LINES,   /* source lines; neither modules nor sequence numbers */
  ADJ_TEST_LOG_NOTHING, /* operators alone */
} AdjTestLog;

/* (transfer full): @graph printed as a log does, and read again; the nodes are the same. */
AdjGraph *adj_test_through_log (const AdjGraph *graph, AdjTestLog log);

G_END_DECLS
