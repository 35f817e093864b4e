/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-storage.h"

G_BEGIN_DECLS

/* (transfer full): of memory that others own and keep for as long as it is used.  @bytes:
 * (nullable): comes later, by adj_storage_lend(). */
AdjStorage *adj_storage_new_lent (gpointer bytes, gsize n_bytes, AdjDevice device);
/* From now on @storage, made by adj_storage_new_lent(), is @bytes, of the same number. */
void adj_storage_lend (AdjStorage *storage, gpointer bytes);

G_END_DECLS
