/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"
#include "base/adj-file-part-internal.h"
#include "formats/save-meter-private.h"

G_BEGIN_DECLS

/* ZIP archives, by their central directory alone (formats/SPEC.md §7): archives of PyTorch keep
 * sizes nowhere else.  Names are checked when the archive is opened; none of them ever becomes a
 * path. */
typedef struct _ZipArchive ZipArchive;

#define ZIP_MAX_ENTRIES 1000000
#define ZIP_MAX_ENTRY_BYTES (G_GUINT64_CONSTANT (1) << 30) /* of a compressed entry, unpacked */
#define ZIP_MAX_RATIO 64
#define ZIP_MAX_CHECKED ((gsize) 64 << 20) /* of an entry whose checksum is compared */
#define ZIP_ALIGNMENT 64

/**
 * zip_open:
 * @part: the archive; stored entries share it
 * @name: begins messages
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_PARSE or ADJ_ERROR_LIMIT, or with those
 *   of adj_file_part_read()
 */
ZipArchive *zip_open (AdjFilePart *part, const char *name, GError **error);
void zip_free (ZipArchive *archive);

const char *zip_get_path (const ZipArchive *archive); /* by which it was opened */
guint zip_get_n (const ZipArchive *archive);
const char *zip_get_name (const ZipArchive *archive, guint index);
/* FALSE when there is none of that name. */
gboolean zip_find (const ZipArchive *archive, const char *name, guint *index);
/**
 * zip_read:
 * @diags: (nullable): gets a warning when the checksum is wrong, which is no error, of an entry of
 *   at most ZIP_MAX_CHECKED bytes
 *
 * Returns: (transfer full) (nullable): the content, at most @max_bytes of it
 */
GBytes *
zip_read (ZipArchive *archive, guint index, guint64 max_bytes, AdjDiags *diags, GError **error);

/* (transfer full) (nullable): the content where it lies, unread; %NULL: it is packed. */
AdjFilePart *zip_get_part (const ZipArchive *archive, guint index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ZipArchive, zip_free)

/* An archive of stored entries, in the order given, the data of each at a multiple of 64 bytes.
 * The same entries give the same bytes. */
typedef struct
{
  char *name;    /* (owned) */
  GBytes *bytes; /* (owned) */
} ZipItem;

void zip_item_clear (ZipItem *item);
/* As chunks (of GBytes) to be written one after another; fails beyond 4 GiB. */
GPtrArray *zip_write (const ZipItem *items, guint n, SaveMeter *meter, GError **error);

guint32 zip_crc32 (guint32 crc, const guint8 *data, gsize length);

G_END_DECLS
