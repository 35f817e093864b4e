/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"

G_BEGIN_DECLS

/* The origin of an input of a backward graph. */
typedef struct
{
  guint graph;    /* index of the forward graph in the document */
  AdjNodeId node; /* the node that makes the value */
} AdjMaker;

/* Finds the maker of node @node of the shown graph; %FALSE when it is no input of a backward graph
 * (or of one that a captured backward inlined), or a tangent, or there is no forward graph in the
 * region.  In a region with several forward graphs (split for DDP) the first one is searched, also
 * for backwards of the others. */
gboolean adj_maker_find (AdjDocument *document, AdjNodeId node, AdjMaker *maker);

G_END_DECLS
