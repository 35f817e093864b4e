/* SPDX-License-Identifier: MIT */
/* The row of the .adjoint format in the table, and the writer that replaces such a file. */

#include <gio/gio.h>
#include <string.h>

#include "formats/adj-bundle-private.h"
#include "formats/adjoint-private.h"
#include "formats/entries-private.h"

const char *const adjoint_kept_entries[] = { BUNDLE_NOTES, NULL };

/* The name of the first entry stands at byte 30 of an archive that follows the format; a repacked
 * archive is found by its extension. */
static guint
sniff (const guint8 *head, gsize length, const char *path)
{
  static const char name[] = "adjoint.json";
  static const char member[] = "\"format\": \"adjoint\"";

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    return entries_are_folder (path) ? 100 : 0;
  if (length >= 4 && memcmp (head, "PK\003\004", 4) == 0)
    {
      if (length >= 30 + strlen (name) && memcmp (head + 30, name, strlen (name)) == 0)
        return 100;
      return g_str_has_suffix (path, ".adjoint") ? 90 : 0;
    }
  if (g_str_has_suffix (path, name) && length > 0 && head[0] == '{')
    return memmem (head, length, member, strlen (member)) != NULL ? 90 : 50;
  return 0;
}

AdjFileWriter *
adj_bundle_open_writer (const char *path, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return entries_open_writer (path, cancellable, error);
}

const AdjFormat adj_format_adjoint = {
  .name = "adjoint",
  .summary = "graphs with their calls and values, of the capture module and of Adjoint itself",
  .extensions = ".adjoint",
  .mime_type = "application/x-adjoint",
  .sniff = sniff,
  .load = adjoint_load,
  .save = adjoint_save,
};
