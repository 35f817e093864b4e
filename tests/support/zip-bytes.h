/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

/* A ZIP archive as raw bytes, to be damaged. */
typedef struct
{
  const char *name;
  const char *contents;
  gsize length;
} ZipPart;

/* (transfer full): an archive of stored entries; @parts ends with an entry without a name */
GByteArray *zip_bytes_new (const ZipPart *parts);

/* Returns the position of a field of the end record, or of a record of the central directory. */
guint zip_bytes_at_end (const GByteArray *bytes, guint field);
guint zip_bytes_at_record (const GByteArray *bytes, guint index, guint field);
#define ZIP_RECORD_NAME 46 /* the variable field after the fixed ones */

guint32 zip_bytes_get32 (const GByteArray *bytes, guint at);
void zip_bytes_put32 (GByteArray *bytes, guint at, guint32 value);

/* Damages the whole archive, the first entry, or the second. */
void zip_bytes_cut (GByteArray *bytes);
void zip_bytes_extend (GByteArray *bytes);
void zip_bytes_encrypt_first (GByteArray *bytes);
void zip_bytes_change_checksum (GByteArray *bytes);
void zip_bytes_change_method (GByteArray *bytes);
void zip_bytes_overlap (GByteArray *bytes);
