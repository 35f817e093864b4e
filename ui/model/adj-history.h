/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The places that the user visited: pairs of graph and node. */
typedef struct
{
  guint graph;
  AdjNodeId node;
} AdjVisit;

typedef struct
{
  GArray *places; /* of AdjVisit */
  gint at;        /* -1: empty */
} AdjHistory;

void adj_history_init (AdjHistory *history);
void adj_history_clear (AdjHistory *history);
void adj_history_reset (AdjHistory *history);
/* Appends a place and drops those after the current one; the current place is not repeated. */
void adj_history_push (AdjHistory *history, AdjVisit place);
/* Graphs were renumbered: @map has the new index of each. */
void adj_history_renumber (AdjHistory *history, const guint *map);
gboolean adj_history_can_go (const AdjHistory *history, gint step);
/* Moves; the place is valid until the next call. */
const AdjVisit *adj_history_go (AdjHistory *history, gint step); /* (nullable) */

G_END_DECLS
