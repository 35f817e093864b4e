/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-block-template.h"

G_BEGIN_DECLS

#define ROUTER_STRAIGHT 0.5f /* lines closer than this are one line */

/* The state of routing one block. Data flows down; an upward block is turned over at the end. */
typedef struct
{
  const AdjTemplateSpec *spec;
  const AdjBlockGraph *graph;
  AdjPlacement *at; /* a copy that is straightened */
  AdjBlockTemplate *template;
  float *in;       /* x where each link ends */
  GArray *jogs;    /* horizontal pieces */
  float *rank_top; /* y of each rank, and of the end of the block */
  float *rank_height;
  float *gap_top;
  float *track_step;  /* of each gap */
  GPtrArray *passing; /* GArray of (x, link's source) by rank */
} BlockRouter;

gboolean router_is_card (const BlockRouter *self, guint32 node);
/* The ends of a card with its chips; of a port, its place. */
float router_get_left (const BlockRouter *self, guint32 node);
float router_get_right (const BlockRouter *self, guint32 node);

/* Whether another card stands between this one and the gutter. */
gboolean router_is_hidden (const BlockRouter *self, guint32 card);
/* Pins of hidden cards run through the gap before them, to their stub. */
gint32 router_get_gap_of_pin (const BlockRouter *self, guint32 card);
float router_get_stub (const BlockRouter *self, guint pin);

/* Sets the x of lines: through ranks, into cards, in and out of the block. */
void router_run_lines (BlockRouter *self);
/* The x at the upper and lower end of gap @gap of link @k. */
void router_get_ends (const BlockRouter *self, guint32 k, gint32 gap, float *upper, float *lower);

/* Gives every gap its tracks and height, and every rank its place. */
void router_stack (BlockRouter *self, float left, float right);
/* The y of the track of @net from @a to @b in @gap. */
float router_get_track (const BlockRouter *self, gint32 gap, float a, float b, guint32 net);

/* Mirrors the placement left to right where that leaves fewer lines and cards between cards with
 * pins and the gutter. */
void router_turn (BlockRouter *self);

G_END_DECLS
