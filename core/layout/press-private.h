/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-stamp.h"

G_BEGIN_DECLS

#define PRESS_STRAIGHT 0.5f /* what lies less apart is one line */

/* A stamp in the making.  Everything flows down; what flows up is turned over at the end. */
typedef struct
{
  const AdjStampOrder *order;
  const AdjBlockGraph *graph;
  AdjPlacement *at; /* a copy that is straightened */
  AdjStamp *stamp;
  float *in;       /* x where each link ends */
  GArray *jogs;    /* horizontal pieces */
  float *rank_top; /* y of each rank, and of the end */
  float *rank_height;
  float *gap_top;
  float *track_step;  /* of each gap */
  GPtrArray *passing; /* GArray of (x, link's source) by rank */
} Press;

gboolean press_is_card (const Press *self, guint32 node);
/* The ends of a card with its chips; of a port, its place. */
float press_get_left (const Press *self, guint32 node);
float press_get_right (const Press *self, guint32 node);

/* Whether another card stands between this one and the gutter. */
gboolean press_is_hidden (const Press *self, guint32 card);
/* Pins of hidden cards run through the gap before them, to their stub. */
gint32 press_get_gap_of_pin (const Press *self, guint32 card);
float press_get_stub (const Press *self, guint pin);

/* Says where lines run along the x axis: through ranks, into cards, in and out of the block. */
void press_run_lines (Press *self);
/* The x at the upper and lower end of gap @gap of link @k. */
void press_get_ends (const Press *self, guint32 k, gint32 gap, float *upper, float *lower);

/* Gives every gap its tracks and height, and every rank its place. */
void press_stack (Press *self, float left, float right);
/* The y of the track of @net from @a to @b in @gap. */
float press_get_track (const Press *self, gint32 gap, float a, float b, guint32 net);

G_END_DECLS
