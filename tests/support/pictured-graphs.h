/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"

G_BEGIN_DECLS

/* @name: "sac#joint"; "sac at 0.5" for the min-cut partition at a budget, "sac, PyTorch at 0.5"
 * for that in compat mode. */
typedef void (*AdjTestPicture) (const char *name, AdjGraph *graph, gpointer data);

/* Calls @each for every graph of every capture of data/graphs, every composed pair of forward
 * and backward, and every joint graph at eleven budgets, partitioned by Adjoint and in compat
 * mode. */
void adj_test_each_pictured_graph (AdjTestPicture each, gpointer data);

/* Amount of information in the text of a logged graph. */
typedef enum
{
  ADJ_TEST_LOG_LINES,   /* source lines, but neither modules nor sequence numbers */
  ADJ_TEST_LOG_NOTHING, /* operators only */
} AdjTestLog;

/* (transfer full): @graph printed as in a log and parsed again; its nodes are the same. */
AdjGraph *adj_test_through_log (const AdjGraph *graph, AdjTestLog log);

G_END_DECLS
