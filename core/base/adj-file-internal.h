/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "base/adj-cancellable.h"

G_BEGIN_DECLS

/* Reads files that other processes may change at any time; what was read does not change. */

typedef enum
{
  ADJ_FILE_WHOLE = 0,
  ADJ_FILE_NO_LINK = 1 << 0,  /* symbolic links are refused: the path is not trusted */
  ADJ_FILE_MAY_GROW = 1 << 1, /* a log, to which another process may append while it is read */
} AdjFileFlags;

/**
 * adj_file_read:
 * @max_bytes: more is ADJ_ERROR_LIMIT
 * @cancellable: (nullable)
 *
 * A consistent copy of a whole regular file: in memory, or for a large file in an unnamed
 * temporary file.  Files that could block, such as pipes, are refused.
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_STALE when the file changed meanwhile,
 * ADJ_ERROR_MEMORY when there is no room for the copy, ADJ_ERROR_PARSE when it is no regular file,
 * or G_IO_ERROR; messages begin with @path
 */
GBytes *adj_file_read (const char *path,
                       AdjFileFlags flags,
                       guint64 max_bytes,
                       GCancellable *cancellable,
                       GError **error);

/* The same for the part behind the first @from bytes; @max_bytes does not count those. */
GBytes *adj_file_read_from (const char *path,
                            guint64 from,
                            AdjFileFlags flags,
                            guint64 max_bytes,
                            GCancellable *cancellable,
                            GError **error);

/**
 * adj_file_read_head:
 * @head: room for @length bytes
 *
 * Returns: how many of the first bytes of a regular file there are, at most @length; -1 with an
 *   error as of adj_file_read()
 */
gssize adj_file_read_head (const char *path, guint8 *head, gsize length, GError **error);

/* For reading, of a regular file; -1 with an error as of adj_file_read(). */
int
adj_file_open_regular (const char *path, AdjFileFlags flags, struct stat *status, GError **error);
/* Whether the file was not written between the two. */
gboolean adj_file_is_same (const struct stat *before, const struct stat *now);

/* An unnamed temporary file for reading and writing, removed when closed even if the process dies;
 * -1 with errno set. */
int adj_file_open_unnamed (void);
/* The folder for temporary files. */
const char *adj_file_temporary_folder (void);

/* %FALSE, with "path: <what errno says>". */
gboolean adj_file_fail (const char *path, int code, GError **error);

G_END_DECLS
