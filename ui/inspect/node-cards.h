/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"
#include "partition/adj-partition.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What the cards about a node are made from. */
typedef struct
{
  AdjDocument *document;
  const AdjGraph *graph;
  const AdjScene *scene;
  AdjEvaluation *evaluation; /* (nullable) */
  AdjPartition *partition;   /* (nullable) */
  AdjNodeId id;
  const AdjNode *node;
} AdjNodeSubject;

/* Puts the cards that have something to say about the node into @cards. */
void adj_node_cards_fill (GtkBox *cards, const AdjNodeSubject *subject);

G_END_DECLS
