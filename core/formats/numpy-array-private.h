/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/saved-values-private.h"

G_BEGIN_DECLS

/* Calls by which numpy pickles arrays and numbers.  Arrays of what tensors cannot hold (texts,
 * dates, objects, other byte orders) are RAW, the name of the call. */
gboolean
numpy_array_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error);
gboolean
numpy_buffer_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error);
gboolean
numpy_number_read (SavedValues *values, const PickleItem *item, AdjValue *out, GError **error);

G_END_DECLS
