/* SPDX-License-Identifier: MIT */
/* Tensors under functionalization: wrapped values, recreated after their storage was written. */

#include "call/adj-constant.h"
#include "call/adj-mode.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "tensor/adj-tensor-internal.h"
#include "trace/functional-private.h"

static void
functional_free (gpointer data)
{
  Functional *functional = data;

  adj_tensor_unref (functional->value);
  functional_storage_unref (functional->storage);
  adj_view_chain_unref (functional->chain);
  g_free (functional);
}

static gpointer
functional_copy (gpointer data)
{
  const Functional *functional = data;
  Functional *copy = g_memdup2 (functional, sizeof *functional);

  adj_tensor_ref (copy->value);
  functional_storage_ref (copy->storage);
  adj_view_chain_ref (copy->chain);
  return copy;
}

static const AdjSlotClass slot_class = { .free = functional_free, .copy = functional_copy };

Functional *
functional_find (const AdjTensor *tensor)
{
  return adj_tensor_get_slot (tensor, ADJ_SLOT_FUNCTIONAL);
}

/* @functional: (transfer full) */
static AdjTensor *
make_tensor (Functional *functional)
{
  AdjTensor *tensor =
      adj_tensor_new (adj_tensor_get_meta (functional->value), functional->storage->storage);

  adj_tensor_set_slot (tensor, ADJ_SLOT_FUNCTIONAL, functional, &slot_class);
  return tensor;
}

AdjTensor *
functional_wrap (AdjTensor *value)
{
  Functional *functional = g_new0 (Functional, 1);
  AdjTensor *tensor;

  functional->value = adj_tensor_ref (value);
  functional->storage = functional_storage_new (value);
  tensor = make_tensor (functional);
  adj_constant_share (value, tensor);
  return tensor;
}

/* Its generation is 0: if the storage was ever written, the view is recreated before use. */
AdjTensor *
functional_wrap_view (AdjTensor *base, AdjTensor *value, AdjViewChain *chain)
{
  const Functional *of = functional_find (base);
  Functional *functional = g_new0 (Functional, 1);
  AdjTensor *tensor;

  functional->value = adj_tensor_ref (value);
  functional->storage = functional_storage_ref (of->storage);
  functional->chain = adj_view_chain_ref (chain);
  functional->storage_changed = of->storage_changed;
  functional->is_multi_output = adj_view_chain_is_multi_output (chain);
  tensor = make_tensor (functional);
  adj_tensor_share_version (tensor, base);
  adj_constant_share (value, tensor);
  return tensor;
}

/* As PyTorch, passes the layout too. */
static AdjTensor *
cast (AdjContext *cx, AdjTensor *value, const AdjTensorMeta *meta)
{
  const AdjValue args[] = {
    ADJ_TENSOR (value),
    ADJ_DTYPE (meta->dtype),
    { .kind = ADJ_VALUE_LAYOUT, .layout = meta->layout },
    ADJ_NONE,
    ADJ_NONE,
    ADJ_BOOL (FALSE),
    ADJ_NONE,
  };
  AdjValue result;

  return adj_call_bound (cx, adj_op (ADJ_OP__to_copy), args, &result) ? result.tensor : NULL;
}

/* Gives @tensor the sizes, strides and offset of @value; its dtype stays. */
static gboolean
replace (AdjContext *cx, AdjTensor *tensor, AdjTensor *value)
{
  Functional *functional = functional_find (tensor);
  AdjTensorMeta meta = *adj_tensor_get_meta (tensor);
  AdjTensor *old = functional->value;

  if (adj_tensor_get_meta (value)->dtype != meta.dtype)
    value = cast (cx, value, &meta);
  if (value == NULL)
    return FALSE;
  functional->value = adj_tensor_ref (value);
  adj_tensor_unref (old);
  meta.shape = adj_tensor_get_meta (value)->shape;
  adj_tensor_set (tensor, &meta, NULL);
  return TRUE;
}

gboolean
functional_sync (AdjContext *cx, AdjTensor *tensor)
{
  Functional *functional = functional_find (tensor);
  AdjTensor *value;

  if (functional->generation == functional->storage->generation)
    return TRUE;
  if (!functional_storage_flush (functional->storage, cx))
    return FALSE;
  value = adj_view_chain_replay (functional->chain, cx, functional->storage->base);
  if (value == NULL || !replace (cx, tensor, value))
    return FALSE;
  functional->generation = functional->storage->generation;
  functional_tell (cx, functional->storage, ADJ_TAPE_REMAKE, functional->value, functional->chain);
  return TRUE;
}

gboolean
functional_write (AdjContext *cx, AdjTensor *tensor, AdjTensor *value)
{
  Functional *functional = functional_find (tensor);
  FunctionalStorage *storage = functional->storage;

  if (!replace (cx, tensor, value))
    return FALSE;
  storage->n_writes++;
  storage->n_no_grad += !adj_context_get_grad_enabled (cx);
  if (!functional_storage_push (storage, cx, functional->value, functional->chain))
    return FALSE;
  functional_tell (cx, storage, ADJ_TAPE_WRITE, functional->value, functional->chain);
  return functional_sync (cx, tensor);
}

void
functional_turn (AdjContext *cx, AdjTensor *tensor, AdjTensor *value, AdjViewChain *chain)
{
  Functional *functional = functional_find (tensor);
  AdjViewChain *old_chain = functional->chain;
  AdjTensor *old_value = functional->value;
  AdjTensorMeta meta = *adj_tensor_get_meta (tensor);

  functional->chain = adj_view_chain_ref (chain);
  functional->value = adj_tensor_ref (value);
  functional->metadata_changed = TRUE;
  functional->n_turns++;
  functional->turned_with_grad |= adj_context_get_grad_enabled (cx);
  adj_view_chain_unref (old_chain);
  adj_tensor_unref (old_value);
  meta.shape = adj_tensor_get_meta (value)->shape;
  adj_tensor_set (tensor, &meta, NULL);
  functional_tell (cx, functional->storage, ADJ_TAPE_TURN, value, chain);
}

void
functional_become (AdjTensor *tensor, AdjTensor *source)
{
  Functional *old = functional_find (tensor);
  Functional *functional = functional_copy (functional_find (source));

  functional->metadata_changed = old->metadata_changed;
  functional->n_turns = old->n_turns;
  functional->is_multi_output = old->is_multi_output;
  functional->storage_changed = TRUE;
  old->storage->frozen = TRUE;
  adj_tensor_set (tensor, adj_tensor_get_meta (functional->value), functional->storage->storage);
  adj_tensor_set_slot (tensor, ADJ_SLOT_FUNCTIONAL, functional, &slot_class);
}

gboolean
functional_replace_storage (AdjTensor *tensor, AdjTensor *value)
{
  Functional *functional = functional_find (tensor);

  if (functional->chain != NULL || functional->storage->n_refs > 1)
    return FALSE;
  functional_storage_unref (functional->storage);
  adj_tensor_unref (functional->value);
  functional->value = adj_tensor_ref (value);
  functional->storage = functional_storage_new (value);
  functional->generation = 0;
  functional->metadata_changed = TRUE;
  adj_tensor_set (tensor, adj_tensor_get_meta (value), functional->storage->storage);
  return TRUE;
}

/* -- from outside ---- */

gboolean
adj_functional_is_wrapped (const AdjTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, FALSE);

  return functional_find (tensor) != NULL;
}

AdjTensor *
adj_functional_get_whole (AdjContext *cx, AdjTensor *tensor)
{
  const Functional *functional = functional_find (tensor);

  g_return_val_if_fail (cx != NULL && functional != NULL, NULL);

  return adj_scope_add (cx, functional_wrap_view (tensor, functional->storage->base, NULL));
}

AdjTensor *
adj_functional_wrap (AdjContext *cx, AdjTensor *value)
{
  g_return_val_if_fail (cx != NULL && value != NULL && functional_find (value) == NULL, NULL);

  return adj_scope_add (cx, functional_wrap (value));
}

gboolean
adj_functional_get_state (const AdjTensor *tensor, AdjFunctionalState *observed)
{
  const Functional *functional = functional_find (tensor);
  const FunctionalStorage *storage;

  if (functional == NULL)
    return FALSE;
  storage = functional->storage;
  *observed = (AdjFunctionalState){
    .mutated = storage->generation > 0,
    .n_writes = storage->n_writes,
    .n_no_grad = storage->n_no_grad,
    .n_hidden = storage->n_hidden,
    .metadata_changed = functional->metadata_changed,
    .n_turns = functional->n_turns,
    .turned_with_grad = functional->turned_with_grad,
    .storage_changed = functional->storage_changed,
    .is_multi_output = functional->is_multi_output,
    .storage_resized = storage->resized,
    .bytes_before = storage->bytes_before,
    .bytes_after = storage->bytes_after,
    .chain = functional->chain,
  };
  return TRUE;
}
