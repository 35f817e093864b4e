/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-storage.h"

G_BEGIN_DECLS

/* (transfer full): a storage on memory that the caller owns and keeps valid as long as it is used.
 * @bytes: (nullable): set later, by adj_storage_lend(). */
AdjStorage *adj_storage_new_lent (gpointer bytes, gsize n_bytes, AdjDevice device);
/* Sets the memory of @storage, made by adj_storage_new_lent(), to @bytes; the size stays. */
void adj_storage_lend (AdjStorage *storage, gpointer bytes);

G_END_DECLS
