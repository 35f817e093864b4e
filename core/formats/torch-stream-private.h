/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-file-part-internal.h"
#include "formats/saved-values-private.h"

G_BEGIN_DECLS

/* What torch.save wrote before 1.6: pickles, one of them of the value, and the storages behind
 * them. In plain pickles such a stream of one storage stands for each storage. */

/* Whether @data begins as a stream does. */
gboolean torch_stream_is (const guint8 *data, gsize length);

/* A file of pickles without an archive: such a stream, or a pickle.  As torch_save_read(). */
gboolean
torch_stream_read (GBytes *bytes, const char *name, AdjDiags *diags, AdjValue *out, GError **error);

/* (transfer none) (nullable): the one storage of the stream that is the bytes @item (nullable), the
 * argument of `torch.storage._load_from_bytes`; read once. */
const SavedElements *
torch_stream_read_storage (SavedValues *values, const PickleItem *item, GError **error);

G_END_DECLS
