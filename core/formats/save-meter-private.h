/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-format.h"

G_BEGIN_DECLS

/* How far saving is.  Whoever goes through bytes that are saved, to hash or to write them, does so
 * by save_meter_pass(), so that it can be told and stopped. */
typedef struct
{
  GCancellable *cancellable;     /* (nullable) */
  const AdjSaveOptions *options; /* (nullable) */
  guint64 size;                  /* bytes of the file */
  guint n_passes;                /* that go through each of them */
  guint64 done;                  /* bytes, each once a pass */
} SaveMeter;

/* %FALSE with @error set. */
typedef gboolean (*SavePiece) (const guint8 *bytes, gsize length, gpointer data, GError **error);

/* Gives @bytes to @piece bit by bit; %FALSE when that fails, or with G_IO_ERROR_CANCELLED. */
gboolean
save_meter_pass (SaveMeter *meter, GBytes *bytes, SavePiece piece, gpointer data, GError **error);

G_END_DECLS
