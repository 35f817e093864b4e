/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"
#include "partition/adj-partition.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The subject of the cards about a node. */
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

/* Adds the cards that have content for the node to @cards. */
void adj_node_cards_fill (GtkBox *cards, const AdjNodeSubject *subject);

G_END_DECLS
