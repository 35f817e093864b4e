/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

typedef struct
{
  guint previous, next; /* G_MAXUINT: none */
  double key;           /* increases along the list */
} Place;

/* The nodes of a graph as a linked list, in which they can be moved. */
typedef struct
{
  const AdjGraph *graph;
  Place *places; /* by node */
  guint first;
  GArray *moved; /* guint: nodes moved since it was emptied, in order */
} Order;

void order_init (Order *order, const AdjGraph *graph);
/* Frees what it owns. */
void order_clear (Order *order);
/* Puts @node right behind @after, or right before @before. */
void order_move (Order *order, guint node, guint after);
void order_move_before (Order *order, guint node, guint before);
/* The later one of two nodes. */
guint order_get_later (const Order *order, guint a, guint b);

G_END_DECLS
