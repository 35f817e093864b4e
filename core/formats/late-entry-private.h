/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-file-part-internal.h"
#include "tensor/adj-late-bytes-internal.h"

G_BEGIN_DECLS

/* An entry of a file that is too large to be read when it is opened.  Its hash is compared when its
 * first tensor is used; each tensor is read at its first use.  Counted atomically. */
typedef struct _LateEntry LateEntry;

/* @name: "path: entry", begins messages; @sha256: (nullable) */
LateEntry *late_entry_new (AdjFilePart *part, const char *name, const char *sha256);
LateEntry *late_entry_ref (LateEntry *entry);
void late_entry_unref (LateEntry *entry);

/* (transfer full): @n bytes from @at on; @booleans: each is made 0 or 1. */
AdjLateBytes *late_entry_get_bytes (LateEntry *entry, guint64 at, gsize n, gboolean booleans);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LateEntry, late_entry_unref)

G_END_DECLS
