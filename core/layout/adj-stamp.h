/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-placement.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* One half of a row with coordinates, routed, relative to its left upper corner.  Made once for all
 * blocks of the same structure and pressed where they stand. */

/* A line through the side of the block that faces the gutter. */
typedef struct
{
  guint32 card;
  float offset; /* from the middle of the card, downwards on the screen */
} AdjStampPin;

typedef struct
{
  float width, height; /* of the card itself */
  float left, right;   /* room for chips beside it */
} AdjStampCard;

/* All that decides what a block looks like. */
typedef struct
{
  gboolean upwards; /* data flows up, the gutter is at the left */
  AdjBlockGraph *graph;
  guint32 n_lines; /* links of the graph that are drawn; those behind only keep ranks short */
  AdjStampCard *cards;
  guint n_pins;
  AdjStampPin *pins;
} AdjStampOrder;

typedef struct
{
  guint32 first, n; /* in the points of the stamp */
} AdjStampPath;

typedef struct
{
  float width, height;
  guint32 n_cards;
  AdjRect *cards;
  float *entries, *exits; /* x at the border where data comes in and goes out */
  AdjStampPath *links;    /* of the lines, with the flow */
  AdjStampPath *pins;     /* from the border to the card */
  GArray *points;         /* of AdjPoint */
} AdjStamp;

AdjStampOrder *adj_stamp_order_new (
    guint32 n_cards, guint32 n_entries, guint32 n_exits, guint32 n_links, guint n_pins);
void adj_stamp_order_free (AdjStampOrder *order);
/* Equal orders have equal keys: a SHA-256 in hexadecimal. */
char *adj_stamp_order_get_key (const AdjStampOrder *order);

AdjStamp *adj_stamp_new (const AdjStampOrder *order, const AdjPlacement *placement);
void adj_stamp_free (AdjStamp *stamp);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjStampOrder, adj_stamp_order_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjStamp, adj_stamp_free)

G_END_DECLS
