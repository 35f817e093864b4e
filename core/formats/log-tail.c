/* SPDX-License-Identifier: MIT */
/* Reads on in a file that grows, as long as it still begins with what has been read. */

#include <string.h>

#include "base/adj-error.h"
#include "formats/log-files-private.h"
#include "formats/log-tail-private.h"
#include "formats/text-formats-private.h"

gboolean
log_tail_fail_changed (const char *path, GError **error)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_STALE, "%s: what was read of it is no longer in it",
               path);
  return FALSE;
}

GBytes *
log_tail_read (const LogTail *tail, const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (GBytes) bytes = log_file_read (path, tail->offset - tail->n_seal, cancellable, error);
  const char *text;
  gsize size;

  if (bytes == NULL)
    return NULL;
  text = text_of_bytes (bytes, &size);
  if (size >= tail->n_seal && memcmp (text, tail->seal, tail->n_seal) == 0)
    return g_bytes_new_from_bytes (bytes, tail->n_seal, size - tail->n_seal);
  log_tail_fail_changed (path, error);
  return NULL;
}

void
log_tail_pass (LogTail *tail, const char *text, gsize n)
{
  gsize n_new = MIN (n, LOG_TAIL_MAX_SEAL);
  gsize n_kept = MIN (tail->n_seal, LOG_TAIL_MAX_SEAL - n_new);

  memmove (tail->seal, tail->seal + tail->n_seal - n_kept, n_kept);
  memcpy (tail->seal + n_kept, text + n - n_new, n_new);
  tail->n_seal = n_kept + n_new;
  tail->offset += n;
}

const char *
log_tail_find_end (const char *at, const char *end)
{
  while (end > at && end[-1] != '\n')
    end--;
  return end;
}
