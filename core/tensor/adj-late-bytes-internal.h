/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* Bytes of a tensor in a file.  adj_tensor_data_get_bytes() reads them once and keeps them;
 * adj_tensor_data_read_bytes() and storages read them for one use, unless they are kept.  Tensors
 * with the same storage share one of these.  Counted atomically. */
typedef struct _AdjLateBytes AdjLateBytes;

/* (transfer full) (nullable): reads all the bytes. */
typedef GBytes *(*AdjLateBytesFunc) (gpointer data, GError **error);

/* (transfer full): @size bytes.  Calls of @read do not overlap; after one that fails there is none.
 */
AdjLateBytes *
adj_late_bytes_new (gsize size, AdjLateBytesFunc read, gpointer data, GDestroyNotify destroy);
/* (transfer full): of @bytes, which are already read. */
AdjLateBytes *adj_late_bytes_new_known (GBytes *bytes);
AdjLateBytes *adj_late_bytes_ref (AdjLateBytes *late); /* (transfer full) */
void adj_late_bytes_unref (AdjLateBytes *late);
gsize adj_late_bytes_get_size (const AdjLateBytes *late);
/* (transfer full): the bytes, always of the expected size; @error is set when they are zeros
 * because reading failed. */
GBytes *adj_late_bytes_read (AdjLateBytes *late, GError **error);

/* adj_tensor_data_new() of bytes that may be read later. */
AdjTensorData *
adj_tensor_data_new_late (const AdjTensorMeta *meta, AdjLateBytes *late, GError **error);
/* (transfer full) (nullable): the same bytes as seen by @meta, without reading them. */
AdjTensorData *
adj_tensor_data_new_view (const AdjTensorMeta *meta, const AdjTensorData *of, GError **error);
/* (transfer full): the bytes of the storage, as adj_late_bytes_read(). */
GBytes *adj_tensor_data_read_bytes (const AdjTensorData *data, GError **error);
/* Which storage it is, without reading it: equal for tensors that share memory. */
gpointer adj_tensor_data_get_storage (const AdjTensorData *data);
gsize adj_tensor_data_get_n_bytes (const AdjTensorData *data); /* of its storage */
/* (transfer none) (nullable): %NULL when the bytes are in memory. */
AdjLateBytes *adj_tensor_data_get_late (const AdjTensorData *data);
/* Reads the bytes if they are not read yet, and keeps them.  %FALSE when that fails, or failed
 * before: then the tensor reads as zeros, and results computed from it are invalid. */
gboolean adj_tensor_data_fetch (const AdjTensorData *data, GError **error);
/* Whether no read of it failed until now; else as adj_tensor_data_fetch(). */
gboolean adj_tensor_data_check_read (const AdjTensorData *data, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjLateBytes, adj_late_bytes_unref)

G_END_DECLS
