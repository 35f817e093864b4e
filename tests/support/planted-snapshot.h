/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

/* A snapshot of memory as _dump_snapshot (augment_with_fx_traces=True) writes it, of two runs of
 * @graph: every node that has memory of its own allocates it, in whole blocks of 512 bytes, and the
 * last reader frees it.  The second run also allocates @scratch bytes in the call @scratch_at for
 * its duration.  Before them and between them code of another graph allocates and frees.
 * (transfer full) */
GBytes *planted_snapshot_new (const AdjGraph *graph, guint scratch_at, guint64 scratch);
