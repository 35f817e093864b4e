/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-dtype.h"

G_BEGIN_DECLS

/* Bytes on a device, shared by the tensors that are views of one another.
 *
 * Bytes that came from outside (a file, a recording) are shared until the first write, which
 * copies them: so in-place operations of a graph never change the bytes it was given.  A fake
 * storage has a size and no bytes.  Belongs to the context of its tensors; not locked. */
typedef struct _AdjStorage AdjStorage;

/* (transfer full): zeroed. */
ADJ_PUBLIC AdjStorage *adj_storage_new (gsize n_bytes, AdjDevice device);
/* (transfer full): shares @bytes until written. */
ADJ_PUBLIC AdjStorage *adj_storage_new_shared (GBytes *bytes, AdjDevice device);
/* (transfer full): no bytes. */
ADJ_PUBLIC AdjStorage *adj_storage_new_fake (gsize n_bytes, AdjDevice device);
ADJ_PUBLIC AdjStorage *adj_storage_ref (AdjStorage *storage); /* (transfer full) */
/* @storage: (nullable) */
ADJ_PUBLIC void adj_storage_unref (AdjStorage *storage);

ADJ_PUBLIC gsize
adj_storage_get_n_bytes (const AdjStorage *storage); /* of a fake one: the size it would have */
ADJ_PUBLIC AdjDevice adj_storage_get_device (const AdjStorage *storage); /* where they are */
ADJ_PUBLIC gboolean adj_storage_is_fake (const AdjStorage *storage);     /* there are no bytes */
/* Unique within the process; tensors alias if their storages have the same id. */
ADJ_PUBLIC guint64 adj_storage_get_id (const AdjStorage *storage);

/* For reading, until the next write; %NULL for a fake one. */
ADJ_PUBLIC gconstpointer adj_storage_read (const AdjStorage *storage);
/* (transfer none) (nullable): for writing; copies shared bytes first.  Does not bump the version.
 */
ADJ_PUBLIC gpointer adj_storage_write (AdjStorage *storage);
/* Changes the size, keeping the common prefix (resize_, set_). */
ADJ_PUBLIC void adj_storage_resize (AdjStorage *storage, gsize n_bytes);

/* Incremented by every in-place write; saved tensors compare it. */
ADJ_PUBLIC guint32 adj_storage_get_version (const AdjStorage *storage);
ADJ_PUBLIC void adj_storage_bump_version (AdjStorage *storage);

/* (transfer full): the bytes as they are now, immutable: shared when they already are, else copied.
 */
ADJ_PUBLIC GBytes *adj_storage_snapshot (const AdjStorage *storage);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjStorage, adj_storage_unref)

G_END_DECLS
