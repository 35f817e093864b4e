/* SPDX-License-Identifier: MIT */
/* Progress of a save: reports bytes written and asks whether to go on. */

#include <gio/gio.h>

#include "formats/save-meter-private.h"

#define PIECE_BYTES (1 << 20)

static void
tell (const SaveMeter *meter)
{
  const AdjSaveOptions *options = meter->options;

  if (options != NULL && options->progress != NULL)
    options->progress ((guint) (meter->done / meter->n_passes >> 10), (guint) (meter->size >> 10),
                       options->data);
}

gboolean
save_meter_pass (SaveMeter *meter, GBytes *bytes, SavePiece piece, gpointer data, GError **error)
{
  gsize length;
  const guint8 *at = g_bytes_get_data (bytes, &length);

  while (length > 0)
    {
      gsize n = MIN (length, PIECE_BYTES);

      if (g_cancellable_set_error_if_cancelled (meter->cancellable, error) ||
          !piece (at, n, data, error))
        return FALSE;
      at += n;
      length -= n;
      meter->done += n;
      tell (meter);
    }
  return TRUE;
}
