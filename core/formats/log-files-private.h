/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The files of a TORCH_TRACE log: one for each process, alone or in a folder. */

/* Whether @name, without its folder, is one that PyTorch gives to such a file. */
gboolean log_file_has_name (const char *name);
/* The rank that @name says; -1 when it says none. */
gint log_file_rank (const char *name);

/* @path itself, or the files of a log in the folder @path in the order of their names (transfer
 * full).  %NULL with @error set where the folder cannot be read. */
GPtrArray *log_files_of (const char *path, GError **error);

/* What stands in @path now, unpacked where it is packed; it may grow meanwhile (transfer full).
 * %NULL with @error set: it cannot be read, is larger than 4 GiB, or @cancellable was cancelled. */
GBytes *log_file_read (const char *path, GCancellable *cancellable, GError **error);

G_END_DECLS
