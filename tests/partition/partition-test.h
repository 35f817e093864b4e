/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"
#include "partition/adj-partition.h"
#include "support/graphs.h"

G_BEGIN_DECLS

/* Names of captures in data/graphs that have a joint graph. */
extern const char *const partition_captures[];

/* Returns options for a capture's joint graph. */
AdjPartitionOptions partition_options (AdjBundle *bundle);

/* Partitions @joint; fails the test on an error. */
AdjPartition *
partition_run (const char *partitioner, AdjGraph *joint, const AdjPartitionOptions *options);

/* "p1 mul sin": names of saved values, in order. */
char *partition_print_saved (const AdjPartition *partition);
/* Names of the nodes with decision @kind, in joint order. */
char *partition_print_decided (const AdjPartition *partition, AdjDecisionKind kind);

/* (transfer full): the results of @graph on @inputs; fails the test on an error. */
AdjValue
partition_interpret (AdjGraph *graph, const AdjValue *inputs, guint n_inputs, const AdjValue *rng);
/* Asserts that both are equal bit for bit. */
void partition_assert_same_bits (const AdjValue *a, const AdjValue *b, const char *what);

/* Asserts that forward then backward give the joint graph's results, bit for bit. */
void partition_assert_equals_joint (const AdjPartition *partition,
                                    const AdjValue *inputs,
                                    guint n_inputs,
                                    const AdjValue *rng);

/* Runs forward and backward and returns the peak number of tensor bytes allocated.  @inputs: of
 * the joint graph; they stay allocated and are not counted. */
guint64 partition_measure_peak (const AdjPartition *partition,
                                const AdjValue *inputs,
                                guint n_inputs,
                                const AdjValue *rng);

G_END_DECLS
