/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition-test.h"

G_BEGIN_DECLS

/* A joint graph, and the pair made of it, on the same numbers and the same generator. */
typedef struct
{
  gboolean same_outputs;   /* bit for bit */
  gboolean same_again;     /* what backward repeats is what forward had, bit for bit */
  gboolean same_generator; /* afterwards */
  guint n_outputs, n_repeated, n_random; /* of the repeated: those that drew */
  char *where;                           /* (owned) (nullable): the first value that is another */
} PairRun;

/* @inputs: of the joint graph, DATA; @n of them. */
void pair_run (
    const AdjPartition *partition, const AdjValue *inputs, guint n, guint64 seed, PairRun *run);
void pair_run_clear (PairRun *run);

/* What the joint graph computes, DATA; (transfer full). */
AdjValue pair_run_joint (AdjGraph *joint, const AdjValue *inputs, guint n, guint64 seed);

gboolean values_are_same_bits (const AdjValue *a, const AdjValue *b);

G_END_DECLS
