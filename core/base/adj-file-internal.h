/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "base/adj-cancellable.h"

G_BEGIN_DECLS

/* Files of others, read so that what they do to them later reaches nobody here. */

typedef enum
{
  ADJ_FILE_WHOLE = 0,
  ADJ_FILE_NO_LINK = 1 << 0,  /* a link is refused: the path comes from somebody else */
  ADJ_FILE_MAY_GROW = 1 << 1, /* a log, to which somebody may append meanwhile */
} AdjFileFlags;

/**
 * adj_file_read:
 * @max_bytes: more is ADJ_ERROR_LIMIT
 * @cancellable: (nullable)
 *
 * The whole of a regular file, as it was at one moment: a copy in memory, of a large file in a file
 * of our own without a name.  Nothing is opened that would wait, such as a pipe.
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_STALE when somebody changed the file
 *   meanwhile, ADJ_ERROR_MEMORY when there is no room for the copy, ADJ_ERROR_PARSE when it is no
 *   regular file, or G_IO_ERROR; messages begin with @path
 */
GBytes *adj_file_read (const char *path,
                       AdjFileFlags flags,
                       guint64 max_bytes,
                       GCancellable *cancellable,
                       GError **error);

/* The same of what stands behind the first @from bytes, of which @max_bytes are no part. */
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
/* Whether nobody wrote between the two. */
gboolean adj_file_is_same (const struct stat *before, const struct stat *now);

/* A file without a name, for reading and writing, gone when it is closed even if the process dies;
 * -1 with errno set. */
int adj_file_open_unnamed (void);
/* Where such files are. */
const char *adj_file_temporary_folder (void);

/* %FALSE, with "path: <what errno says>". */
gboolean adj_file_fail (const char *path, int code, GError **error);

G_END_DECLS
