/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

#define LOG_TAIL_MAX_SEAL 256 /* bytes */

/* A file of a log that a program may still be writing, up to where it has been read.  All zero: to
 * be read from its beginning. */
typedef struct
{
  guint64 offset;
  guint n_lines;                  /* before @offset */
  guint8 seal[LOG_TAIL_MAX_SEAL]; /* the last of what has been read */
  gsize n_seal;
} LogTail;

/* (transfer full) (nullable): what stands behind @tail in @path; %NULL with ADJ_ERROR_STALE when
 * what has been read of it no longer stands before that, or with the errors of log_file_read(). */
GBytes *
log_tail_read (const LogTail *tail, const char *path, GCancellable *cancellable, GError **error);
/* The first @n bytes of @text, which stands behind @tail, have been read. */
void log_tail_pass (LogTail *tail, const char *text, gsize n);

/* Behind the last whole line of what stands from @at to @end. */
const char *log_tail_find_end (const char *at, const char *end);

gboolean log_tail_fail_changed (const char *path, GError **error); /* %FALSE */

G_END_DECLS
