/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The files of a log: one for each process, alone or in a folder and those below it. */

/* Whether @name, without its folder, is one that PyTorch gives to a file of TORCH_TRACE. */
gboolean log_file_has_name (const char *name);
/* The rank that @path says; -1 when it says none. */
gint log_file_rank (const char *path);

typedef void (*LogFileFunc) (const char *path, gpointer data);

/* Visits the files of the folder @path and of those below it, in no order: 10,000 at most, 8
 * folders deep, and none by a link to a folder. */
void log_files_visit (const char *path, LogFileFunc visit, gpointer data);

typedef enum
{
  LOG_FOLDER_NOTHING,
  LOG_FOLDER_TRACES,   /* logs of TORCH_TRACE, by PyTorch's names or by their beginnings */
  LOG_FOLDER_CONSOLES, /* consoles of TORCH_LOGS alone */
} LogFolder;

/* Which logs log_files_of() finds in the folder @path.  A beginning is read once, and none where a
 * name tells. */
LogFolder log_folder_look (const char *path);

/* (transfer full): @path itself or, of a folder, the files of the log in it, in the order of their
 * names: if @named, those with PyTorch's names; if there are none, those whose first 64 KiB are
 * text that @is_one accepts.  %NULL with @error set where the folder cannot be read. */
GPtrArray *log_files_of (const char *path,
                         gboolean named,
                         gboolean (*is_one) (const char *text),
                         GError **error);
/* (transfer none): @path relative to the folder @root; its last component if it is not within
 * @root. */
const char *log_file_name_in (const char *root, const char *path);

/* (transfer full): the content of @path from byte @from on, unpacked where it is packed; empty
 * where the file is shorter.  The file may grow meanwhile.  %NULL with @error set: it cannot be
 * read, is more than 4 GiB, or @cancellable was cancelled. */
GBytes *log_file_read (const char *path, guint64 from, GCancellable *cancellable, GError **error);

G_END_DECLS
