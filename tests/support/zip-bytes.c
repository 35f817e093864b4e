/* SPDX-License-Identifier: MIT */
/* Makes zip archives as bytes, to be damaged by tests. */

#include "support/zip-bytes.h"

#include "formats/zip-private.h"

#define END_SIZE 22

static GByteArray *
join (GPtrArray *chunks)
{
  GByteArray *bytes = g_byte_array_new ();

  for (guint i = 0; i < chunks->len; i++)
    {
      gsize length;
      const guint8 *data = g_bytes_get_data (chunks->pdata[i], &length);

      g_byte_array_append (bytes, data, length);
    }
  return bytes;
}

GByteArray *
zip_bytes_new (const ZipPart *parts)
{
  g_autofree ZipItem *items = NULL;
  g_autoptr (GPtrArray) chunks = NULL;
  g_autoptr (GError) error = NULL;
  guint n = 0;

  while (parts[n].name != NULL)
    n++;
  items = g_new (ZipItem, n);
  for (guint i = 0; i < n; i++)
    items[i] = (ZipItem){ g_strdup (parts[i].name),
                          g_bytes_new_static (parts[i].contents, parts[i].length) };
  chunks = zip_write (items, n, &(SaveMeter){ .n_passes = 1 }, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < n; i++)
    zip_item_clear (&items[i]);
  return join (chunks);
}

guint32
zip_bytes_get32 (const GByteArray *bytes, guint at)
{
  return bytes->data[at] | bytes->data[at + 1] << 8 | bytes->data[at + 2] << 16 |
         (guint) bytes->data[at + 3] << 24;
}

void
zip_bytes_put32 (GByteArray *bytes, guint at, guint32 value)
{
  for (guint i = 0; i < 4; i++)
    bytes->data[at + i] = value >> (8 * i) & 255;
}

guint
zip_bytes_at_end (const GByteArray *bytes, guint field)
{
  return bytes->len - END_SIZE + field;
}

guint
zip_bytes_at_record (const GByteArray *bytes, guint index, guint field)
{
  guint at = zip_bytes_get32 (bytes, zip_bytes_at_end (bytes, 16));

  for (guint i = 0; i < index; i++)
    at += ZIP_RECORD_NAME + (bytes->data[at + 28] | bytes->data[at + 29] << 8);
  return at + field;
}

void
zip_bytes_cut (GByteArray *bytes)
{
  g_byte_array_set_size (bytes, bytes->len - 1);
}

void
zip_bytes_extend (GByteArray *bytes)
{
  g_byte_array_append (bytes, (const guint8 *) "x", 1);
}

void
zip_bytes_encrypt_first (GByteArray *bytes)
{
  bytes->data[zip_bytes_at_record (bytes, 0, 8)] |= 1;
}

void
zip_bytes_change_checksum (GByteArray *bytes)
{
  bytes->data[zip_bytes_at_record (bytes, 1, 16)] ^= 1;
}

void
zip_bytes_change_method (GByteArray *bytes)
{
  bytes->data[zip_bytes_at_record (bytes, 1, 10)] = 12;
}

void
zip_bytes_overlap (GByteArray *bytes)
{
  zip_bytes_put32 (bytes, zip_bytes_at_record (bytes, 1, 42),
                   zip_bytes_get32 (bytes, zip_bytes_at_record (bytes, 0, 42)));
}
