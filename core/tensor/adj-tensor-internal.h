/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor.h"

G_BEGIN_DECLS

/* What modes hang on a tensor. */
typedef enum
{
  ADJ_SLOT_AUTOGRAD,   /* grad, grad_fn, requires_grad, hooks */
  ADJ_SLOT_FUNCTIONAL, /* the wrapper that functionalization sees */
  ADJ_SLOT_COMPOSITE,  /* inner tensors of a composite */
  ADJ_SLOT_CONSTANT,   /* the known value of a traced scalar tensor */
  ADJ_SLOT_PROXY,      /* the node of a trace that represents it */
  ADJ_SLOT_KEPT,       /* which of the values that fake objects keep it is */
  ADJ_N_SLOTS,
} AdjTensorSlot;

/* What the tensor does with the state that a mode hangs on it. */
typedef struct
{
  GDestroyNotify free;
  GBoxedCopyFunc copy; /* (nullable): for shallow copies of the tensor; without it they have none */
  /* (nullable): of ADJ_SLOT_AUTOGRAD, the answer of adj_tensor_get_requires_grad(). */
  gboolean (*requires_grad) (gconstpointer state);
} AdjSlotClass;

/* (transfer none) (nullable) */
gpointer adj_tensor_get_slot (const AdjTensor *tensor, AdjTensorSlot slot);
/* @state: (transfer full): replaces and frees the previous one; @klass: (unowned): a constant. */
void adj_tensor_set_slot (AdjTensor *tensor,
                          AdjTensorSlot slot,
                          gpointer state,
                          const AdjSlotClass *klass);

/* Whether there are just @n references to @tensor. */
gboolean adj_tensor_is_held_by (const AdjTensor *tensor, guint n);

/* Begins to load what is asked of @tensor for a key, in steps: itself, and what it points to. */
void adj_tensor_prefetch (const AdjTensor *tensor, guint step);

/* What was last set, 0 at first: for who numbers tensors, and looks there whether it is that. */
guint adj_tensor_get_number (const AdjTensor *tensor);
void adj_tensor_set_number (AdjTensor *tensor, guint number);

/* In-place change of metadata (resize_, transpose_, set_); @storage %NULL keeps the old one, else
 * writes to other tensors of the new one are none to @tensor. */
void adj_tensor_set (AdjTensor *tensor, const AdjTensorMeta *meta, AdjStorage *storage);

/* -- versions -- */

void adj_tensor_bump_version (AdjTensor *tensor);
/* Undoes the last increment: the write was made on behalf of another, counted one. */
void adj_tensor_unbump_version (AdjTensor *tensor);
void adj_storage_unbump_version (AdjStorage *storage);
/* From now on @tensor counts with @other, a tensor of the same storage. */
void adj_tensor_share_version (AdjTensor *tensor, AdjTensor *other);
/* From now on writes to other tensors of its storage are none to @tensor. */
void adj_tensor_count_apart (AdjTensor *tensor);

G_END_DECLS
