/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib-object.h>

#include "tensor/adj-storage.h"
#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* A tensor that a program computes with: metadata and a storage that may be shared with its
 * views.  It belongs to one context and thread. */
typedef struct _AdjTensor AdjTensor;

/* (transfer full).  Takes a reference on @storage; @meta is copied and its storage number replaced.
 */
ADJ_PUBLIC AdjTensor *adj_tensor_new (const AdjTensorMeta *meta, AdjStorage *storage);
/* (transfer full): with a fresh storage of the needed size, zeroed; a fake one when @fake. */
ADJ_PUBLIC AdjTensor *
adj_tensor_new_empty (const AdjTensorMeta *meta, AdjSymbols *symbols, gboolean fake);
/* (transfer full): shares the bytes of @data until they are written; see AdjStorage. */
ADJ_PUBLIC AdjTensor *adj_tensor_new_from_data (AdjTensorData *data);
ADJ_PUBLIC AdjTensor *adj_tensor_ref (AdjTensor *tensor); /* (transfer full) */
ADJ_PUBLIC void adj_tensor_unref (AdjTensor *tensor);     /* @tensor: (nullable) */

/* Valid until @tensor changes or ends. */
ADJ_PUBLIC const AdjTensorMeta *adj_tensor_get_meta (const AdjTensor *tensor);
ADJ_PUBLIC AdjStorage *adj_tensor_get_storage (const AdjTensor *tensor); /* (transfer none) */
ADJ_PUBLIC guint adj_tensor_get_rank (const AdjTensor *tensor);          /* its dimensions */
/* -1 for a symbolic size; adj_size_get_hint() of the metadata says more. */
ADJ_PUBLIC gint64 adj_tensor_get_size (const AdjTensor *tensor, guint dim);

/* The number of in-place writes to @tensor and to tensors that share its version counter: by
 * default all tensors of one storage. */
ADJ_PUBLIC guint32 adj_tensor_get_version (const AdjTensor *tensor);
/* (transfer full): the same elements with a version counter of its own (PyTorch's .data). */
ADJ_PUBLIC AdjTensor *adj_tensor_shallow_copy (AdjTensor *tensor);

/* Whether gradients flow to it: a leaf that was marked so, or a result computed from one. */
ADJ_PUBLIC gboolean adj_tensor_get_requires_grad (const AdjTensor *tensor);

/* (transfer full) (nullable): an immutable copy, or share, of what @tensor holds now; %NULL for a
 * fake tensor. */
ADJ_PUBLIC AdjTensorData *adj_tensor_snapshot (const AdjTensor *tensor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTensor, adj_tensor_unref)

G_END_DECLS
