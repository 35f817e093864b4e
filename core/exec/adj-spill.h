/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* Storage for the value of every node of a run: in memory up to a bound, then in a mapped temporary
 * file.  The file is unlinked, so it vanishes with the last value in it, even when the process
 * dies.  Only one thread at a time may put values in; values may be shared freely. */
typedef struct _AdjSpill AdjSpill;

/* (transfer full).  @memory: bytes that may stay in memory; 0: an eighth of what the machine has
 * free. */
AdjSpill *adj_spill_new (guint64 memory);
/* Values that were taken stay valid. */
void adj_spill_free (AdjSpill *spill);

/**
 * adj_spill_take:
 *
 * Returns: (transfer full) (nullable): @data, or an equal tensor whose bytes are in the file; %NULL
 *   with ADJ_ERROR_MEMORY when the disk is full too
 */
AdjTensorData *adj_spill_take (AdjSpill *spill, AdjTensorData *data, GError **error);

/* Bytes in the file. */
guint64 adj_spill_get_spilled (const AdjSpill *spill);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjSpill, adj_spill_free)

G_END_DECLS
