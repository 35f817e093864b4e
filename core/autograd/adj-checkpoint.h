/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"
#include "call/adj-function.h"
#include "ir/adj-recompute.h"

G_BEGIN_DECLS

/* Activation checkpointing, PyTorch's non-reentrant form (autograd/SPEC.md §8.4): what a function
 * would save for backward is not kept; the first time that it is asked for, the function runs
 * again.
 *
 * While a trace is made, a checkpoint is a region (autograd/SPEC.md §8.2): the nodes that come of
 * it are tagged with its number and with what the policy answers, or PREFER_RECOMPUTE without one,
 * and a partitioner makes them run again. */

/* What becomes of the results of one call in a selective region; asked in the forward and again
 * when it is recomputed.  Save types keep them. */
typedef AdjRecompute (*AdjCheckpointPolicyFunc) (
    const AdjOp *op, const AdjValue *args, guint n_args, gboolean is_recompute, gpointer data);

typedef struct
{
  gboolean keeps_rng_moving;  /* random numbers are drawn anew when it is recomputed */
  gboolean no_early_stop;     /* recomputation runs to the end of the function, even when all saved
                                 values are there */
  gboolean no_metadata_check; /* recomputed values may differ in size and dtype */
  gboolean allows_mutation;   /* values kept by a selective region may be written afterwards */
  AdjCheckpointPolicyFunc policy; /* (nullable) */
  gpointer policy_data;
  GDestroyNotify policy_destroy; /* (nullable): frees @policy_data when the region is gone */
} AdjCheckpointOptions;

/**
 * adj_checkpoint:
 * @function: kept; must do the same again
 * @options: (nullable)
 * @result: (out) (transfer full)
 *
 * Calls @function.  With grad mode off that is all.  A policy's data is taken, even on failure.
 *
 * Returns: %FALSE when the context is in error
 */
ADJ_PUBLIC gboolean adj_checkpoint (AdjContext *cx,
                                    AdjFunction *function,
                                    const AdjValue *args,
                                    guint n_args,
                                    const AdjCheckpointOptions *options,
                                    AdjValue *result);

G_END_DECLS
