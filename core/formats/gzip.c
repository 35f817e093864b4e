/* SPDX-License-Identifier: MIT */
#include <gio/gio.h>
#include <stdio.h>

#include <glib/gstdio.h>

#include "base/adj-error.h"
#include "formats/text-formats-private.h"

/* Text shrinks to a tenth or a fiftieth; what would grow by more is no text. */
#define MAX_RATIO 200
#define MIN_LIMIT (64 << 20)
#define MAX_BYTES (G_GUINT64_CONSTANT (2) << 30)

gboolean
gzip_is (const char *path)
{
  guint8 head[2] = { 0 };
  FILE *file = g_file_test (path, G_FILE_TEST_IS_REGULAR) ? g_fopen (path, "rbe") : NULL;
  gsize n = 0;

  if (file != NULL)
    {
      n = fread (head, 1, sizeof head, file);
      fclose (file);
    }
  return n == sizeof head && head[0] == 0x1f && head[1] == 0x8b;
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
          g_autofree char *size = g_format_size_full (limit, G_FORMAT_SIZE_IEC_UNITS);

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
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) packed = g_file_read (file, cancellable, error);
  g_autoptr (GConverter) inflater =
      G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  g_autoptr (GFileInfo) info = NULL;
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (GByteArray) all = g_byte_array_new ();
  guint64 limit;

  if (packed != NULL)
    info =
        g_file_input_stream_query_info (packed, G_FILE_ATTRIBUTE_STANDARD_SIZE, cancellable, error);
  if (info == NULL)
    return NULL;
  limit =
      CLAMP ((guint64) g_file_info_get_size (info), MIN_LIMIT / MAX_RATIO, MAX_BYTES / MAX_RATIO) *
      MAX_RATIO;
  stream = g_converter_input_stream_new (G_INPUT_STREAM (packed), inflater);
  return read_stream (stream, limit, all, cancellable, error)
             ? g_byte_array_free_to_bytes (g_steal_pointer (&all))
             : NULL;
}
