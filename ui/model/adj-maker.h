/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* The origin of an input of a backward graph. */
typedef struct
{
  guint graph;    /* the forward graph, as its place in the document */
  AdjNodeId node; /* that makes the value */
} AdjMaker;

/* Of node @node of the shown graph; %FALSE when it is no input of a backward graph or what a
 * captured backward has of one, or a tangent, or there is no forward graph beside it. Of a region
 * with several (split for DDP) the first is asked, also for backwards of the others. */
gboolean adj_maker_find (AdjDocument *document, AdjNodeId node, AdjMaker *maker);

G_END_DECLS
