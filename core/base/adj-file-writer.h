/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "base/adj-macros.h"

G_BEGIN_DECLS

/* A file on its way to the disk.  It is written beside the file that it replaces, flushed, and
 * takes its place at once, so that whoever looks sees the old file or the new one, and a process
 * that is killed loses neither.
 *
 * As long as a writer is open nobody else writes that file, be it another process or another thread
 * of this one: who changes what a file holds opens the writer, then reads the file. */
typedef struct _AdjFileWriter AdjFileWriter;

/* What is lost may be made again: nothing waits until the disk has it. */
typedef enum
{
  ADJ_FILE_LASTING,
  ADJ_FILE_CACHE,
} AdjFileWorth;

/**
 * adj_file_writer_open:
 * @path: the file; of a link, what it leads to, which need not be there yet
 * @cancellable: (nullable)
 *
 * Waits for another writer of the file, but not for long.
 *
 * Returns: (transfer full) (nullable): %NULL with G_IO_ERROR, G_IO_ERROR_BUSY when the other writer
 *   did not end; messages begin with @path
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
/* What was not committed is gone.  @writer: (nullable) */
ADJ_PUBLIC void adj_file_writer_free (AdjFileWriter *writer);

/* All of it: @n bytes replace the file; %FALSE with G_IO_ERROR. */
ADJ_PUBLIC gboolean
adj_file_write (const char *path, gconstpointer bytes, gsize n, AdjFileWorth worth, GError **error);

/* Removes what killed writers of this user left, wherever they wrote: for the start of a program.
 */
ADJ_PUBLIC void adj_file_writer_sweep (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjFileWriter, adj_file_writer_free)

G_END_DECLS
