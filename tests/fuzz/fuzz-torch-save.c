/* SPDX-License-Identifier: MIT */
/* Fuzzes archives of torch.save and of torch.export, and pickles without an archive. */

#include "formats/adj-format.h"
#include "formats/torch-save-private.h"
#include "formats/torch-stream-private.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
load_program (GBytes *bytes)
{
  const AdjFormat *format = adj_format_find ("pt2", NULL);
  AdjBundle *bundle = format->load_bytes (bytes, "fuzz", NULL, NULL);

  if (bundle != NULL)
    adj_bundle_unref (bundle);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (AdjFilePart) part = adj_file_part_new_for_bytes (bytes);
  g_auto (AdjValue) value = ADJ_NONE, plain = ADJ_NONE;

  if (!torch_save_read (part, "fuzz", NULL, &value, NULL))
    adj_value_clear (&value);
  if (!torch_stream_read (bytes, "fuzz", NULL, &plain, NULL))
    adj_value_clear (&plain);
  load_program (bytes);
  return 0;
}
