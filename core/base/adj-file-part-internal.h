/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-file-internal.h"

G_BEGIN_DECLS

/* A part of a file that other processes may change.  A small file is copied into memory when it is
 * opened, as adj_file_read() does; of a larger one, only requested parts are read, from the
 * descriptor opened first: replacing the file has no effect, and writing into it makes all later
 * reads fail.  Immutable; counted atomically. */
typedef struct _AdjFilePart AdjFilePart;

#define ADJ_FILE_PART_IN_MEMORY (16 << 20) /* bytes of the largest file that is copied */

/* (transfer full) (nullable): the whole file, with the errors of adj_file_read(). */
AdjFilePart *adj_file_part_open (const char *path,
                                 AdjFileFlags flags,
                                 GCancellable *cancellable,
                                 GError **error);
AdjFilePart *adj_file_part_new_for_bytes (GBytes *bytes); /* (transfer full) */
/* (transfer full): @size bytes from @at on, which are within @part. */
AdjFilePart *adj_file_part_new_within (AdjFilePart *part, guint64 at, guint64 size);
AdjFilePart *adj_file_part_ref (AdjFilePart *part); /* (transfer full) */
void adj_file_part_unref (AdjFilePart *part);

guint64 adj_file_part_get_size (const AdjFilePart *part);
/* (transfer none) (nullable): all of it, if it is in memory. */
GBytes *adj_file_part_peek (const AdjFilePart *part);
/* (transfer full) (nullable): @n bytes from @at on, which are within @part: shared if they are in
 * memory, else read now, aligned for all elements; ADJ_ERROR_STALE when the file was written since
 * it was opened.  Messages do not name the file. */
GBytes *adj_file_part_read (const AdjFilePart *part, guint64 at, gsize n, GError **error);
/* The same into @out, without the check for changes: the caller checks once after the last of
 * several pieces. */
gboolean
adj_file_part_copy (const AdjFilePart *part, guint64 at, gsize n, gpointer out, GError **error);
gboolean adj_file_part_check_unchanged (const AdjFilePart *part, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjFilePart, adj_file_part_unref)

G_END_DECLS
