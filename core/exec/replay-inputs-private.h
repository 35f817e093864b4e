/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context-internal.h"
#include "exec/operation-private.h"

G_BEGIN_DECLS

/* Relative size of the perturbation of arguments. */
#define REPLAY_STEP 0x1p-24

/* The inputs on which a node is computed again. */
typedef enum
{
  REPLAY_AS_IT_CAME, /* in the dtypes of the graph */
  REPLAY_AS_IT_IS,
  REPLAY_DECOMPOSED, /* as it is, by the decomposition of the operator */
  REPLAY_ABSOLUTE,
  REPLAY_ONES,             /* every number is one, so that sums count their terms */
  REPLAY_NUDGED,           /* one tensor perturbed, all of its elements alike */
  REPLAY_ROUNDED,          /* every element perturbed at random */
  REPLAY_PERTURBED,        /* and intermediate results, too */
  REPLAY_PERTURBED_INSIDE, /* only intermediate results */
  REPLAY_AROUND,           /* coordinates perturbed by their possible rounding */
  REPLAY_PLACED,           /* coordinates rounded as by another algorithm */
} ReplayKind;

typedef struct
{
  const Operation *operation;
  ReplayKind kind;
  double step;             /* relative size of perturbations */
  guint64 seed;            /* of the random perturbations */
  guint nudged;            /* index of the tensor */
  AdjPlaceRounding places; /* rounding of the coordinates that it blends at */
  const gboolean *unset;   /* (nullable): per node, that its value is uninitialised memory */
  guint8 byte;             /* value of all bytes of such memory */
  guint n_replayed;        /* tensors replayed so far */
  AdjDType coarsest;       /* coarsest dtype of these; ADJ_DTYPE_NONE */
} Replay;

/* The result of the node, and in @rounding its possible rounding.  (transfer full) */
AdjValue replay_compute (Replay *replay, NodeRounding *rounding);

/* (transfer full) (nullable): the @n numbers of result @item; %NULL when it has another number. */
double *replay_compute_item (Replay *replay, guint item, gint64 n);

G_END_DECLS
