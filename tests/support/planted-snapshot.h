/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

/* (transfer full): a memory snapshot as _dump_snapshot (augment_with_fx_traces=True) writes it,
 * of two runs of @graph: every node with memory of its own allocates it in whole blocks of 512
 * bytes, and the last reader frees it.  The second run also allocates @scratch bytes during the
 * call @scratch_at. Code of another graph allocates and frees before and between the runs. */
GBytes *planted_snapshot_new (const AdjGraph *graph, guint scratch_at, guint64 scratch);
