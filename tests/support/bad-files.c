/* SPDX-License-Identifier: MIT */
/* The table of damaged files that every reader shows with remarks or refuses with one line. */

#include "support/bad-files.h"

#include <string.h>

const AdjBadList *const adj_bad_lists[] = {
  &adj_bad_logs, &adj_bad_texts, &adj_bad_exports, &adj_bad_archives, NULL,
};

char *
adj_bad_file_taker (const AdjBadFile *file)
{
  return g_strdup_printf ("class G(torch.nn.Module):\n    def forward(self, x: \"%s\"):\n"
                          "        return (x,)\n",
                          file->takes);
}

static GByteArray *
make_bytes (const AdjBadFile *file)
{
  GByteArray *bytes;
  guint64 n;

  if (file->parts != NULL)
    return zip_bytes_new (file->parts);
  bytes = g_byte_array_new ();
  if (file->header != NULL)
    {
      n = GUINT64_TO_LE (strlen (file->header));
      g_byte_array_append (bytes, (const guint8 *) &n, sizeof n);
      g_byte_array_append (bytes, (const guint8 *) file->header, strlen (file->header));
    }
  return g_byte_array_append (bytes, (const guint8 *) file->contents, file->length);
}

GBytes *
adj_bad_file_get_bytes (const AdjBadFile *file)
{
  GByteArray *bytes = make_bytes (file);

  if (file->damage != NULL)
    file->damage (bytes);
  return g_byte_array_free_to_bytes (bytes);
}

char *
adj_bad_file_write (const AdjBadFile *file, const char *folder)
{
  char *path = g_build_filename (folder, file->name, NULL);
  g_autoptr (GBytes) bytes = adj_bad_file_get_bytes (file);
  gsize length;
  const char *data = g_bytes_get_data (bytes, &length);

  g_assert_true (g_file_set_contents (path, data != NULL ? data : "", length, NULL));
  return path;
}
