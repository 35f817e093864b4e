/* SPDX-License-Identifier: MIT */
/* Writes zip archives without compression, contents aligned to 64 bytes as PyTorch does. */

#include <string.h>

#include "formats/zip-private.h"

#define VERSION 20
#define DATE_1980 0x21 /* 1980-01-01, the first day that ZIP knows */
#define MODE_FILE ((guint32) 0100644 << 16)
#define MADE_BY_UNIX (3 << 8)
#define FLAG_UTF8 0x0800

/* Four bits at a time: 16 entries instead of 256, and fast enough beside SHA-256. */
guint32
zip_crc32 (guint32 crc, const guint8 *data, gsize length)
{
  static const guint32 table[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
  };

  crc = ~crc;
  for (gsize i = 0; i < length; i++)
    {
      crc = table[(crc ^ data[i]) & 15] ^ crc >> 4;
      crc = table[(crc ^ data[i] >> 4) & 15] ^ crc >> 4;
    }
  return ~crc;
}

void
zip_item_clear (ZipItem *item)
{
  g_clear_pointer (&item->name, g_free);
  g_clear_pointer (&item->bytes, g_bytes_unref);
}

static void
put16 (GByteArray *out, guint value)
{
  guint8 bytes[] = { value & 255, value >> 8 & 255 };

  g_byte_array_append (out, bytes, sizeof bytes);
}

static void
put32 (GByteArray *out, guint32 value)
{
  put16 (out, value & 0xffff);
  put16 (out, value >> 16);
}

/* The extra field that moves content from @at to the next multiple of 64: PyTorch's "FB". */
static guint
padding_at (guint64 at)
{
  guint padding = (ZIP_ALIGNMENT - at % ZIP_ALIGNMENT) % ZIP_ALIGNMENT;

  return padding > 0 && padding < 4 ? padding + ZIP_ALIGNMENT : padding;
}

/* What local header and central record have in common, from the version to the length of the name.
 */
static void
put_common (GByteArray *out, const ZipItem *item, guint32 crc)
{
  guint32 size = g_bytes_get_size (item->bytes);

  put16 (out, VERSION);
  put16 (out, FLAG_UTF8);
  put16 (out, 0);
  put16 (out, 0);
  put16 (out, DATE_1980);
  put32 (out, crc);
  put32 (out, size);
  put32 (out, size);
  put16 (out, strlen (item->name));
}

static GBytes *
local_header (const ZipItem *item, guint32 crc, guint64 at)
{
  GByteArray *out = g_byte_array_new ();
  guint padding = padding_at (at + 30 + strlen (item->name));

  put32 (out, 0x04034b50);
  put_common (out, item, crc);
  put16 (out, padding);
  g_byte_array_append (out, (const guint8 *) item->name, strlen (item->name));
  if (padding > 0)
    {
      g_byte_array_append (out, (const guint8 *) "FB", 2);
      put16 (out, padding - 4);
      for (guint i = 4; i < padding; i++)
        g_byte_array_append (out, (const guint8 *) "Z", 1);
    }
  return g_byte_array_free_to_bytes (out);
}

static void
put_central (GByteArray *out, const ZipItem *item, guint32 crc, guint32 at)
{
  put32 (out, 0x02014b50);
  put16 (out, MADE_BY_UNIX | VERSION);
  put_common (out, item, crc);
  put16 (out, 0); /* extra */
  put16 (out, 0); /* comment */
  put16 (out, 0); /* disk */
  put16 (out, 0); /* internal attributes */
  put32 (out, MODE_FILE);
  put32 (out, at);
  g_byte_array_append (out, (const guint8 *) item->name, strlen (item->name));
}

static void
put_end (GByteArray *out, guint n, guint32 at)
{
  guint32 size = out->len;

  put32 (out, 0x06054b50);
  put32 (out, 0);
  put16 (out, n);
  put16 (out, n);
  put32 (out, size);
  put32 (out, at);
  put16 (out, 0);
}

static gboolean
add_to_crc (const guint8 *bytes, gsize length, gpointer crc, GError **error)
{
  *(guint32 *) crc = zip_crc32 (*(guint32 *) crc, bytes, length);
  return TRUE;
}

GPtrArray *
zip_write (const ZipItem *items, guint n, SaveMeter *meter, GError **error)
{
  g_autoptr (GPtrArray) chunks = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  g_autoptr (GByteArray) central = g_byte_array_new ();
  guint64 at = 0;

  for (guint i = 0; i < n; i++)
    {
      guint32 crc = 0;
      GBytes *header;

      if (!save_meter_pass (meter, items[i].bytes, add_to_crc, &crc, error))
        return NULL;
      header = local_header (&items[i], crc, at);
      g_ptr_array_add (chunks, header);
      g_ptr_array_add (chunks, g_bytes_ref (items[i].bytes));
      put_central (central, &items[i], crc, at);
      at += g_bytes_get_size (header) + g_bytes_get_size (items[i].bytes);
      if (at + central->len >= G_MAXUINT32 || i >= G_MAXUINT16 - 1)
        {
          g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                       "an archive holds at most 4 GiB in 65534 entries");
          return NULL;
        }
    }
  put_end (central, n, at);
  g_ptr_array_add (chunks, g_byte_array_free_to_bytes (g_steal_pointer (&central)));
  return g_steal_pointer (&chunks);
}
