/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-format.h"

G_BEGIN_DECLS

/* Whether the file begins as gzip does. */
gboolean gzip_is (const char *path);
/* (transfer full) (nullable): the unpacked content, within bounds; messages begin with @path. */
GBytes *gzip_read (const char *path, GCancellable *cancellable, GError **error);

/* The bytes as text, never %NULL: an empty file has none to point to. */
static inline const char *
text_of_bytes (GBytes *bytes, gsize *length)
{
  const char *text = g_bytes_get_data (bytes, length);

  return text != NULL ? text : "";
}

G_END_DECLS
