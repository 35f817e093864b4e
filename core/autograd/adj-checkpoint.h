/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"
#include "call/adj-function.h"
#include "ir/adj-recompute.h"

G_BEGIN_DECLS

/* Activation checkpointing, PyTorch's non-reentrant form (autograd/SPEC.md §8.4): tensors that a
 * function saves for backward are not kept; when the first is unpacked, the function runs again.
 *
 * In a trace a checkpoint is a region (autograd/SPEC.md §8.2): its nodes are tagged with its number
 * and with the policy's answer, or PREFER_RECOMPUTE without a policy, and the partitioner
 * recomputes them. */

/* The policy for the results of one call in a selective region; asked in the forward and again in
 * the recomputation.  Results with a save policy are kept. */
typedef AdjRecompute (*AdjCheckpointPolicyFunc) (
    const AdjOp *op, const AdjValue *args, guint n_args, gboolean is_recompute, gpointer data);

typedef struct
{
  gboolean keeps_rng_moving;  /* recomputation does not restore the state of generators */
  gboolean no_early_stop;     /* recomputation runs to the end of the function, even after all saved
                                 values are there */
  gboolean no_metadata_check; /* recomputed values may differ in size and dtype */
  gboolean allows_mutation;   /* values kept by a selective region may be written later */
  AdjCheckpointPolicyFunc policy; /* (nullable) */
  gpointer policy_data;
  GDestroyNotify policy_destroy; /* (nullable): frees @policy_data when the region is gone */
} AdjCheckpointOptions;

/**
 * adj_checkpoint:
 * @function: a reference is kept; must compute the same when called again
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
