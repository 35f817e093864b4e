/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context-internal.h"
#include "exec/operation-private.h"

G_BEGIN_DECLS

/* By how much arguments are moved to see what moves with them. */
#define REPLAY_STEP 0x1p-24

/* The inputs with which a node is computed again. */
typedef enum
{
  REPLAY_AS_IT_CAME, /* in the types that the graph has */
  REPLAY_AS_IT_IS,
  REPLAY_ABSOLUTE,
  REPLAY_NUDGED,           /* one tensor, all of its elements alike */
  REPLAY_ROUNDED,          /* every element moved by chance */
  REPLAY_PERTURBED,        /* and intermediate results, too */
  REPLAY_PERTURBED_INSIDE, /* that alone */
  REPLAY_AROUND,           /* places moved by what rounding may move them */
  REPLAY_PLACED,           /* places as another algorithm rounds them */
} ReplayKind;

typedef struct
{
  const Operation *operation;
  ReplayKind kind;
  double step;             /* relative size of random moves */
  guint64 seed;            /* of chance */
  guint nudged;            /* which tensor */
  AdjPlaceRounding places; /* how those are rounded that it blends at */
  const gboolean *unset;   /* (nullable): of each node, that it is memory which nobody wrote */
  guint8 byte;             /* which has this in all of its bytes then */
  guint n_replayed;        /* tensors so far */
  AdjDType coarsest;       /* of them; ADJ_DTYPE_NONE */
} Replay;

/* What the node gives, and in @rounding what rounding may do to it.  (transfer full) */
AdjValue replay_compute (Replay *replay, NodeRounding *rounding);

/* (transfer full) (nullable): the numbers of result @item, @n of them; %NULL when there are not. */
double *replay_compute_item (Replay *replay, guint item, gint64 n);

G_END_DECLS
