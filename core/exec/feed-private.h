/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/operation-private.h"

G_BEGIN_DECLS

/* By how much arguments are moved to see what moves with them. */
#define FEED_STEP 0x1p-24

/* What a node gets when it is computed again. */
typedef enum
{
  FEED_AS_IT_CAME, /* in the types that the graph has */
  FEED_AS_IT_IS,
  FEED_ABSOLUTE,
  FEED_NUDGED,     /* one tensor, all of its elements alike */
  FEED_ROUNDED,    /* every element moved by chance */
  FEED_IN_STEPS,   /* and so is what it computes on the way */
  FEED_STEPS_ONLY, /* that alone */
  FEED_AROUND,     /* places moved by what rounding may move them */
} FeedKind;

typedef struct
{
  const Operation *operation;
  FeedKind kind;
  double step;  /* relative, of what is moved by chance */
  guint64 seed; /* of chance */
  guint nudged; /* which tensor */
  guint n_fed;  /* tensors so far */
} Feed;

/* What the node gives, and in @rounding what rounding may do to it.  (transfer full) */
AdjValue feed_compute (Feed *feed, NodeRounding *rounding);

/* (transfer full) (nullable): the numbers of result @item, @n of them; %NULL when there are not. */
double *feed_compute_item (Feed *feed, guint item, gint64 n);

G_END_DECLS
