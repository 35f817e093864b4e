/* SPDX-License-Identifier: MIT */
/* Fuzzes zip archives. */

#include "formats/zip-private.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (AdjFilePart) part = adj_file_part_new_for_bytes (bytes);
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (ZipArchive) archive = zip_open (part, "fuzz", NULL);

  for (guint i = 0; archive != NULL && i < MIN (zip_get_n (archive), 16); i++)
    {
      g_autoptr (GBytes) content = zip_read (archive, i, 1 << 20, diags, NULL);
      guint index;

      g_assert_true (zip_find (archive, zip_get_name (archive, i), &index) && index == i);
    }
  return 0;
}
