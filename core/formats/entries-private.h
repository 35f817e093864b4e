/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "formats/save-meter-private.h"
#include "formats/zip-private.h"

G_BEGIN_DECLS

/* The two forms of .adjoint, a folder and a ZIP archive of it, as one thing: named entries. */
typedef struct _Entries Entries;

#define ENTRIES_MAX_BYTES (G_GUINT64_CONSTANT (1) << 30) /* of an entry that is text */

/* @path: an archive, a folder, or the manifest in a folder. */
Entries *entries_open (const char *path, GCancellable *cancellable, GError **error);
void entries_free (Entries *entries);
/* Whether the folder at @path has the form. */
gboolean entries_are_folder (const char *path);
/* Whether the writer of the folder was stopped after it had written the whole archive and before it
 * had unpacked all parts. */
gboolean entries_are_unfinished (const Entries *entries);
/* To be called when all is read.  %FALSE with ADJ_ERROR_STALE where parts of a folder come from
 * different writes. */
gboolean entries_check_unchanged (const Entries *entries, GError **error);

gboolean entries_has (const Entries *entries, const char *name);
/* @name is made of fixed texts and of ids that bundle_is_id () has accepted.  Errors begin with
 * "path: name: ". */
GBytes *entries_read (
    Entries *entries, const char *name, guint64 max_bytes, AdjDiags *diags, GError **error);

/* The same entry as a part of the file: in memory unless it is large. */
AdjFilePart *entries_get_part (Entries *entries, const char *name, AdjDiags *diags, GError **error);

/* Warns when @bytes do not match the hash in the manifest; @sha256 is nullable. */
void entries_check_hash (
    const char *name, GBytes *bytes, const char *sha256, AdjSeverity severity, AdjDiags *diags);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Entries, entries_free)

/* -- writing -- */

/* Writes @chunks (of GBytes) to the file at @path, by the writer of @meter's options if there is
 * one; when it is stopped, the file is as it was. */
gboolean file_replace (const char *path, GPtrArray *chunks, SaveMeter *meter, GError **error);
/* The same with chunks that are made one by one. */
typedef GBytes *(*ChunkFunc) (gpointer data); /* (transfer full) (nullable): %NULL at the end */
gboolean
file_replace_by (const char *path, ChunkFunc next, gpointer data, SaveMeter *meter, GError **error);

/* (transfer full) (nullable): of the file that entries_write() writes last, which is the only one
 * unless @path is a folder.  While it is open, other writers of the file wait. */
AdjFileWriter *entries_open_writer (const char *path, GCancellable *cancellable, GError **error);
/* To @path, as a folder when that is one, ends in '/' or is the manifest of one, else as an
 * archive, by the writer of @meter's options if there is one.  The first entry is the manifest.  In
 * a folder an archive of everything is written first; it is authoritative until its entries have
 * replaced the older ones, the manifest last. */
gboolean
entries_write (const char *path, const ZipItem *items, guint n, SaveMeter *meter, GError **error);
/* How many times entries_write() processes each byte. */
guint entries_count_passes (const char *path);

G_END_DECLS
