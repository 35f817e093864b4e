/* SPDX-License-Identifier: MIT */
/* Unpacks gzip, with a bound on the size of what comes out. */

#include <gio/gio.h>

#include "base/adj-error.h"
#include "base/adj-file-internal.h"
#include "base/adj-format-bytes.h"
#include "formats/text-formats-private.h"

/* A text is compressed 10 to 50 times; a greater ratio is no text. */
#define MAX_RATIO 200
#define MIN_LIMIT (64 << 20)
#define MAX_BYTES (G_GUINT64_CONSTANT (2) << 30)

gboolean
gzip_is (const char *path)
{
  guint8 head[2];

  return adj_file_read_head (path, head, sizeof head, NULL) == sizeof head && head[0] == 0x1f &&
         head[1] == 0x8b;
}

static gboolean
read_stream (
    GInputStream *stream, guint64 limit, GByteArray *all, GCancellable *cancellable, GError **error)
{
  guint8 block[65536];
  gssize n;

  while ((n = g_input_stream_read (stream, block, sizeof block, cancellable, error)) > 0)
    {
      if (all->len + (guint64) n > limit)
        {
          g_autofree char *size = adj_format_bytes (limit);

          g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "more than %s when unpacked", size);
          return FALSE;
        }
      g_byte_array_append (all, block, (guint) n);
    }
  return n == 0;
}

GBytes *
gzip_read (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (GBytes) packed = adj_file_read (path, ADJ_FILE_WHOLE, MAX_BYTES, cancellable, error);
  g_autoptr (GInputStream) memory = NULL;
  g_autoptr (GConverter) inflater =
      G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (GByteArray) all = g_byte_array_new ();
  guint64 limit;

  if (packed == NULL)
    return NULL;
  limit =
      CLAMP (g_bytes_get_size (packed), MIN_LIMIT / MAX_RATIO, MAX_BYTES / MAX_RATIO) * MAX_RATIO;
  memory = g_memory_input_stream_new_from_bytes (packed);
  stream = g_converter_input_stream_new (memory, inflater);
  if (read_stream (stream, limit, all, cancellable, error))
    return g_byte_array_free_to_bytes (g_steal_pointer (&all));
  g_prefix_error (error, "%s: ", path);
  return NULL;
}
