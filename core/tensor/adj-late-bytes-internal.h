/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* Bytes of a tensor, read at first access.  Tensors with the same storage share one of these.
 * Counted atomically. */
typedef struct _AdjLateBytes AdjLateBytes;

/* (transfer full) (nullable): reads all the bytes. */
typedef GBytes *(*AdjLateBytesFunc) (gpointer data, GError **error);

/* (transfer full): @size bytes, which @read is called for once. */
AdjLateBytes *
adj_late_bytes_new (gsize size, AdjLateBytesFunc read, gpointer data, GDestroyNotify destroy);
/* (transfer full): of @bytes, which are already read. */
AdjLateBytes *adj_late_bytes_new_known (GBytes *bytes);
AdjLateBytes *adj_late_bytes_ref (AdjLateBytes *late); /* (transfer full) */
void adj_late_bytes_unref (AdjLateBytes *late);
gsize adj_late_bytes_get_size (const AdjLateBytes *late);

/* adj_tensor_data_new() of bytes that may be read later. */
AdjTensorData *
adj_tensor_data_new_late (const AdjTensorMeta *meta, AdjLateBytes *late, GError **error);
/* (transfer full) (nullable): the same bytes as seen by @meta, without reading them. */
AdjTensorData *
adj_tensor_data_new_view (const AdjTensorMeta *meta, const AdjTensorData *of, GError **error);
/* Reads the bytes if they are not read yet.  %FALSE when that fails, or failed before: then the
 * tensor reads as zeros, and results computed from it are invalid. */
gboolean adj_tensor_data_fetch (const AdjTensorData *data, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjLateBytes, adj_late_bytes_unref)

G_END_DECLS
