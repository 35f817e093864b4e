/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* Bytes of a tensor that are read when somebody first looks at them; tensors that share them share
 * one of these.  Counted atomically. */
typedef struct _AdjLateBytes AdjLateBytes;

/* (transfer full) (nullable): all of them. */
typedef GBytes *(*AdjLateBytesFunc) (gpointer data, GError **error);

/* (transfer full): @size bytes that @read gives, once. */
AdjLateBytes *
adj_late_bytes_new (gsize size, AdjLateBytesFunc read, gpointer data, GDestroyNotify destroy);
/* (transfer full): @bytes, which are there already. */
AdjLateBytes *adj_late_bytes_new_known (GBytes *bytes);
AdjLateBytes *adj_late_bytes_ref (AdjLateBytes *late); /* (transfer full) */
void adj_late_bytes_unref (AdjLateBytes *late);
gsize adj_late_bytes_get_size (const AdjLateBytes *late);

/* adj_tensor_data_new() of bytes that may come later. */
AdjTensorData *
adj_tensor_data_new_late (const AdjTensorMeta *meta, AdjLateBytes *late, GError **error);
/* (transfer full) (nullable): the same bytes as seen by @meta, without reading them. */
AdjTensorData *
adj_tensor_data_new_view (const AdjTensorMeta *meta, const AdjTensorData *of, GError **error);
/* Reads the bytes if that has not happened.  %FALSE when it failed, now or before: then the tensor
 * is of zeros, and nothing that was computed of it counts. */
gboolean adj_tensor_data_fetch (const AdjTensorData *data, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjLateBytes, adj_late_bytes_unref)

G_END_DECLS
