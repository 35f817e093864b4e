/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib-object.h>

#include "tensor/adj-storage.h"
#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* A tensor that a program computes with: metadata and a storage that may be shared with its
 * views.  It belongs to one context and thread.  Modes hang their state on it through slots. */
typedef struct _AdjTensor AdjTensor;

typedef enum
{
  ADJ_SLOT_AUTOGRAD,   /* grad, grad_fn, requires_grad, hooks */
  ADJ_SLOT_FUNCTIONAL, /* the wrapper that functionalization sees */
  ADJ_SLOT_COMPOSITE,  /* inner tensors of a composite */
  ADJ_SLOT_CONSTANT,   /* the known value of a traced scalar tensor */
  ADJ_SLOT_PROXY,      /* the node of a trace that stands for it */
  ADJ_N_SLOTS,
} AdjTensorSlot;

/* Takes a reference on @storage; @meta is copied and its storage number replaced. */
ADJ_PUBLIC AdjTensor *adj_tensor_new (const AdjTensorMeta *meta, AdjStorage *storage);
/* A fresh storage of the needed size, zeroed; a fake one when @fake. */
ADJ_PUBLIC AdjTensor *
adj_tensor_new_empty (const AdjTensorMeta *meta, AdjSymbols *symbols, gboolean fake);
/* Shares the bytes of @data until they are written; see AdjStorage. */
ADJ_PUBLIC AdjTensor *adj_tensor_new_from_data (AdjTensorData *data);
ADJ_PUBLIC AdjTensor *adj_tensor_ref (AdjTensor *tensor);
ADJ_PUBLIC void adj_tensor_unref (AdjTensor *tensor);
/* Whether anybody else holds @tensor. */
gboolean adj_tensor_is_shared (const AdjTensor *tensor);

ADJ_PUBLIC const AdjTensorMeta *adj_tensor_get_meta (const AdjTensor *tensor);
ADJ_PUBLIC AdjStorage *adj_tensor_get_storage (const AdjTensor *tensor); /* (transfer none) */
ADJ_PUBLIC guint adj_tensor_get_rank (const AdjTensor *tensor);
/* -1 for a symbolic size; adj_size_get_hint() of the metadata says more. */
ADJ_PUBLIC gint64 adj_tensor_get_size (const AdjTensor *tensor, guint dim);

/* In-place change of metadata (resize_, transpose_, set_); @storage %NULL keeps the old one, else
 * writes to other tensors of the new one are none to @tensor. */
void adj_tensor_set (AdjTensor *tensor, const AdjTensorMeta *meta, AdjStorage *storage);

/* How often @tensor was written in place, or a tensor that counts with it: by default all tensors
 * of one storage count together. */
ADJ_PUBLIC guint32 adj_tensor_get_version (const AdjTensor *tensor);
void adj_tensor_bump_version (AdjTensor *tensor);
/* Takes the last one back: what was counted is the doing of who stands in for another write. */
void adj_tensor_unbump_version (AdjTensor *tensor);
/* From now on @tensor counts with @other, a tensor of the same storage. */
void adj_tensor_share_version (AdjTensor *tensor, AdjTensor *other);
/* (transfer full): the same elements, but writes to it count apart (PyTorch's .data). */
ADJ_PUBLIC AdjTensor *adj_tensor_shallow_copy (AdjTensor *tensor);

gpointer adj_tensor_get_slot (const AdjTensor *tensor, AdjTensorSlot slot);
void
adj_tensor_set_slot (AdjTensor *tensor, AdjTensorSlot slot, gpointer state, GDestroyNotify destroy);

/* @copy: (nullable): of the state, for shallow copies of @tensor; without one they have none. */
void adj_tensor_set_slot_copy (AdjTensor *tensor, AdjTensorSlot slot, GBoxedCopyFunc copy);

/* Whether gradients flow to it: a leaf that was told so, or made from one (core/autograd). */
ADJ_PUBLIC gboolean adj_tensor_get_requires_grad (const AdjTensor *tensor);

/* An immutable copy, or share, of what @tensor holds now.  %NULL for a fake tensor. */
ADJ_PUBLIC AdjTensorData *adj_tensor_snapshot (const AdjTensor *tensor);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTensor, adj_tensor_unref)

G_END_DECLS
