/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition-test.h"

G_BEGIN_DECLS

/* A run of a joint graph and of the pair made of it, with the same inputs and generator state. */
typedef struct
{
  gboolean same_outputs;   /* outputs are equal bit for bit */
  gboolean same_again;     /* values repeated in backward equal forward's, bit for bit */
  gboolean same_generator; /* the final generator states are equal */
  guint n_outputs, n_repeated, n_random; /* @n_random: repeated nodes that draw */
  char *where;                           /* (owned) (nullable): the first differing value */
} PairRun;

/* @inputs: @n DATA values, inputs of the joint graph. */
void pair_run (
    const AdjPartition *partition, const AdjValue *inputs, guint n, guint64 seed, PairRun *run);
void pair_run_clear (PairRun *run);

/* (transfer full): the results of the joint graph, DATA. */
AdjValue pair_run_joint (AdjGraph *joint, const AdjValue *inputs, guint n, guint64 seed);

gboolean values_are_same_bits (const AdjValue *a, const AdjValue *b);

G_END_DECLS
