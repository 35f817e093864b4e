/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-format.h"

G_BEGIN_DECLS

/* How far saving is.  All code that hashes or writes saved bytes goes through save_meter_pass(),
 * which reports progress and honours cancellation. */
typedef struct
{
  GCancellable *cancellable;     /* (nullable) */
  const AdjSaveOptions *options; /* (nullable) */
  guint64 size;                  /* size of the file in bytes */
  guint n_passes;                /* how many times each byte is processed */
  guint64 done;                  /* bytes processed, over all passes */
} SaveMeter;

/* %FALSE with @error set. */
typedef gboolean (*SavePiece) (const guint8 *bytes, gsize length, gpointer data, GError **error);

/* Gives @bytes to @piece bit by bit; %FALSE when that fails, or with G_IO_ERROR_CANCELLED. */
gboolean
save_meter_pass (SaveMeter *meter, GBytes *bytes, SavePiece piece, gpointer data, GError **error);

G_END_DECLS
