/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor.h"

G_BEGIN_DECLS

/* State that modes attach to a tensor. */
typedef enum
{
  ADJ_SLOT_AUTOGRAD,   /* grad, grad_fn, requires_grad, hooks */
  ADJ_SLOT_FUNCTIONAL, /* the wrapper that functionalization sees */
  ADJ_SLOT_COMPOSITE,  /* inner tensors of a composite */
  ADJ_SLOT_CONSTANT,   /* the known value of a traced scalar tensor */
  ADJ_SLOT_PROXY,      /* the node of a trace that represents it */
  ADJ_SLOT_KEPT,       /* which kept value of a fake object it is */
  ADJ_N_SLOTS,
} AdjTensorSlot;

/* How the tensor copies, queries and frees the state of a slot. */
typedef struct
{
  GDestroyNotify free;
  GBoxedCopyFunc copy; /* (nullable): for shallow copies; %NULL: these have no state */
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

/* Whether the refcount of @tensor is @n. */
gboolean adj_tensor_is_held_by (const AdjTensor *tensor, guint n);

/* Prefetches what a cache key reads of @tensor, by steps: 0 the tensor, 1 its storage and autograd
 * state. */
void adj_tensor_prefetch (const AdjTensor *tensor, guint step);

/* A scratch number of a traversal: the value last set, 0 at first.  A caller that numbers tensors
 * must check that the number still refers to this tensor. */
guint adj_tensor_get_number (const AdjTensor *tensor);
void adj_tensor_set_number (AdjTensor *tensor, guint number);

/* In-place change of metadata (resize_, transpose_, set_). @storage: %NULL keeps the old one; with
 * another one, @tensor has a version of its own from then on. */
void adj_tensor_set (AdjTensor *tensor, const AdjTensorMeta *meta, AdjStorage *storage);

/* -- versions -- */

void adj_tensor_bump_version (AdjTensor *tensor);
/* Undoes the last increment: the write was made on behalf of another, counted one. */
void adj_tensor_unbump_version (AdjTensor *tensor);
void adj_storage_unbump_version (AdjStorage *storage);
/* @tensor shares the version counter of @other, a tensor of the same storage. */
void adj_tensor_share_version (AdjTensor *tensor, AdjTensor *other);
/* Gives @tensor a version counter of its own: writes to other tensors of its storage no longer
 * count. */
void adj_tensor_count_apart (AdjTensor *tensor);

G_END_DECLS
