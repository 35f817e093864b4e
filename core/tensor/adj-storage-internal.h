/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-late-bytes-internal.h"
#include "tensor/adj-storage.h"

G_BEGIN_DECLS

/* (transfer full): the bytes of @late, read at first use, for this storage alone; shared until
 * written. */
AdjStorage *adj_storage_new_late (AdjLateBytes *late, AdjDevice device);
/* (transfer none) (nullable): what it was made of, unless it was written since. */
AdjLateBytes *adj_storage_get_late (const AdjStorage *storage);
/* Reads the bytes if that is still to be done.  %FALSE when it fails; the storage is zeros then. */
gboolean adj_storage_fetch (AdjStorage *storage, GError **error);
/* (transfer full): a storage on memory that the caller owns and keeps valid as long as it is used.
 * @bytes: (nullable): set later, by adj_storage_lend(). */
AdjStorage *adj_storage_new_lent (gpointer bytes, gsize n_bytes, AdjDevice device);
/* Sets the memory of @storage, made by adj_storage_new_lent(), to @bytes; the size stays. */
void adj_storage_lend (AdjStorage *storage, gpointer bytes);

G_END_DECLS
