/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "base/adj-macros.h"

G_BEGIN_DECLS

/* A file being written.  It is written beside the file that it replaces, flushed, and renamed over
 * it atomically: readers see the old file or the new one, also if the process is killed. */
typedef struct _AdjFileWriter AdjFileWriter;

/* Whether commit waits for the disk: a file that can be made again need not be flushed. */
typedef enum
{
  ADJ_FILE_LASTING,
  ADJ_FILE_CACHE,
} AdjFileWorth;

/**
 * adj_file_writer_open:
 * @path: the file, which need not exist; links are followed
 * @cancellable: (nullable)
 *
 * Waits a limited time while another writer has the file.
 *
 * Returns: (transfer full) (nullable): %NULL with G_IO_ERROR, G_IO_ERROR_BUSY when the other writer
 *   is not done then; messages begin with @path
 */
ADJ_PUBLIC AdjFileWriter *
adj_file_writer_open (const char *path, GCancellable *cancellable, GError **error);
/* Appends @n bytes; %FALSE with G_IO_ERROR. */
ADJ_PUBLIC gboolean adj_file_writer_write (AdjFileWriter *writer,
                                           gconstpointer bytes,
                                           gsize n,
                                           GError **error);
/* Puts it in the place of the file, with its owner and rights; %FALSE with G_IO_ERROR: the file is
 * as it was.  @cancellable: (nullable) */
ADJ_PUBLIC gboolean adj_file_writer_commit (AdjFileWriter *writer,
                                            AdjFileWorth worth,
                                            GCancellable *cancellable,
                                            GError **error);
/* Removes what was not committed.  @writer: (nullable) */
ADJ_PUBLIC void adj_file_writer_free (AdjFileWriter *writer);

/* Replaces the file by the @n bytes; %FALSE with G_IO_ERROR. */
ADJ_PUBLIC gboolean
adj_file_write (const char *path, gconstpointer bytes, gsize n, AdjFileWorth worth, GError **error);

/* Removes left-over files of killed writers of this user, in all folders; called when a program
 * starts. */
ADJ_PUBLIC void adj_file_writer_sweep (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjFileWriter, adj_file_writer_free)

G_END_DECLS
