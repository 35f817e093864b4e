/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"
#include "partition/adj-partition.h"
#include "support/graphs.h"

G_BEGIN_DECLS

/* Captures of data/graphs that have a joint graph. */
extern const char *const partition_captures[];

/* Options for a capture's joint graph. */
AdjPartitionOptions partition_options (AdjBundle *bundle);

/* Partitions; a failure fails the test. */
AdjPartition *
partition_run (const char *partitioner, AdjGraph *joint, const AdjPartitionOptions *options);

/* "p1 mul sin": names of what is saved, in order. */
char *partition_print_saved (const AdjPartition *partition);
/* Names of nodes with that decision, in joint order. */
char *partition_print_decided (const AdjPartition *partition, AdjDecisionKind kind);

/* Runs @graph on @inputs and asserts that it works; (transfer full). */
AdjValue
partition_interpret (AdjGraph *graph, const AdjValue *inputs, guint n_inputs, const AdjValue *rng);
/* Asserts that both are the same bits. */
void partition_assert_same_bits (const AdjValue *a, const AdjValue *b, const char *what);

/* Forward then backward is the joint graph, bit for bit. */
void partition_assert_equals_joint (const AdjPartition *partition,
                                    const AdjValue *inputs,
                                    guint n_inputs,
                                    const AdjValue *rng);

/* The most memory that tensors take at once while forward and then backward really run, by the
 * allocator.  @inputs: of the joint graph; they stay, and are not counted. */
guint64 partition_measure_peak (const AdjPartition *partition,
                                const AdjValue *inputs,
                                guint n_inputs,
                                const AdjValue *rng);

G_END_DECLS
