/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-dtype.h"

G_BEGIN_DECLS

/* Bytes on a device, shared by the tensors that are views of one another.
 *
 * Bytes that came from outside (a file, a recording) are shared until the first write, which
 * copies them: so nothing that a graph does in place reaches what it was given.  A fake storage
 * has a size and no bytes.  Belongs to the context of its tensors; not locked. */
typedef struct _AdjStorage AdjStorage;

/* Zeroed. */
AdjStorage *adj_storage_new (gsize n_bytes, AdjDevice device);
/* Shares @bytes until written. */
AdjStorage *adj_storage_new_shared (GBytes *bytes, AdjDevice device);
AdjStorage *adj_storage_new_fake (gsize n_bytes, AdjDevice device);
AdjStorage *adj_storage_ref (AdjStorage *storage);
void adj_storage_unref (AdjStorage *storage);

gsize adj_storage_get_n_bytes (const AdjStorage *storage);
AdjDevice adj_storage_get_device (const AdjStorage *storage);
gboolean adj_storage_is_fake (const AdjStorage *storage);
/* Unique within the process run; what "aliases" means. */
guint64 adj_storage_get_id (const AdjStorage *storage);

gconstpointer adj_storage_read (const AdjStorage *storage);
/* For writing: copies shared bytes first.  Does not touch the version. */
gpointer adj_storage_write (AdjStorage *storage);
/* Changes the size, keeping the common prefix (resize_, set_). */
void adj_storage_resize (AdjStorage *storage, gsize n_bytes);

/* Bumped by every in-place write; saved tensors compare it. */
guint32 adj_storage_get_version (const AdjStorage *storage);
void adj_storage_bump_version (AdjStorage *storage);
void adj_storage_unbump_version (AdjStorage *storage);

/* The bytes as they are now, immutable: shared when they already are, else copied.  (transfer full)
 */
GBytes *adj_storage_snapshot (const AdjStorage *storage);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjStorage, adj_storage_unref)

G_END_DECLS
