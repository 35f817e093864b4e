/* SPDX-License-Identifier: MIT */
/* The storage of functional tensors: the base value, and queued writes through views. */

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "trace/functional-private.h"

static void
clear_update (gpointer data)
{
  FunctionalUpdate *update = data;

  adj_tensor_unref (update->value);
  adj_view_chain_unref (update->chain);
}

FunctionalStorage *
functional_storage_new (AdjTensor *base)
{
  FunctionalStorage *storage = g_new0 (FunctionalStorage, 1);
  const AdjStorage *below = adj_tensor_get_storage (base);

  storage->n_refs = 1;
  storage->base = adj_tensor_ref (base);
  storage->storage =
      adj_storage_new_fake (adj_storage_get_n_bytes (below), adj_storage_get_device (below));
  storage->updates = g_array_new (FALSE, FALSE, sizeof (FunctionalUpdate));
  g_array_set_clear_func (storage->updates, clear_update);
  return storage;
}

FunctionalStorage *
functional_storage_ref (FunctionalStorage *storage)
{
  storage->n_refs++;
  return storage;
}

void
functional_storage_unref (FunctionalStorage *storage)
{
  if (--storage->n_refs > 0)
    return;
  adj_tensor_unref (storage->base);
  adj_storage_unref (storage->storage);
  g_array_unref (storage->updates);
  g_free (storage);
}

gboolean
functional_storage_push (FunctionalStorage *storage,
                         AdjContext *cx,
                         AdjTensor *value,
                         AdjViewChain *chain)
{
  FunctionalUpdate update;

  if (storage->frozen)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "cannot mutate tensors with frozen storage: set_() gave the tensor that "
                        "held it another one");
      return FALSE;
    }
  if (adj_view_chain_has_late_as_strided (chain))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "cannot write through an as_strided view of a view: it does not compose");
      return FALSE;
    }
  update = (FunctionalUpdate){ adj_tensor_ref (value), adj_view_chain_ref (chain) };
  g_array_append_val (storage->updates, update);
  storage->generation++;
  return TRUE;
}

gboolean
functional_storage_resize (FunctionalStorage *storage, AdjContext *cx, gsize n_bytes)
{
  gsize now = storage->resized ? storage->bytes_after : adj_storage_get_n_bytes (storage->storage);

  if (now != 0 && n_bytes != 0)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "a storage is resized from or to 0 bytes only, not from %" G_GSIZE_FORMAT
                        " to %" G_GSIZE_FORMAT,
                        now, n_bytes);
      return FALSE;
    }
  if (!storage->resized)
    storage->bytes_before = now;
  storage->resized = TRUE;
  storage->bytes_after = n_bytes;
  return TRUE;
}

/* Gives @new the strides of @old, since out= may compute other ones. */
static AdjTensor *
keep_strides (AdjContext *cx, AdjTensor *old, AdjTensor *new)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  const AdjShape *from = &adj_tensor_get_meta (old)->shape;
  const AdjShape *to = &adj_tensor_get_meta (new)->shape;
  gboolean same = TRUE;

  if (from->rank != to->rank || !adj_shape_is_dense (from, symbols))
    return new;
  for (guint i = 0; i < from->rank; i++)
    same &= adj_size_is (symbols, from->size[i], 1) ||
            adj_size_test (symbols, ADJ_SIZE_EQ, from->stride[i], to->stride[i]);
  return same ? new : ADJ_APPLY (cx, ADJ_OP_copy, ADJ_TENSOR (old), ADJ_TENSOR (new));
}

gboolean
functional_storage_flush (FunctionalStorage *storage, AdjContext *cx)
{
  while (storage->updates->len > 0)
    {
      const FunctionalUpdate *update = &g_array_index (storage->updates, FunctionalUpdate, 0);
      g_autoptr (AdjViewChain) chain = adj_view_chain_ref (update->chain);
      AdjTensor *base = adj_view_chain_invert (update->chain, cx, storage->base, update->value);
      AdjTensor *old = storage->base;

      if (base != NULL)
        base = keep_strides (cx, old, base);
      if (base == NULL)
        return FALSE;
      storage->base = adj_tensor_ref (base);
      adj_tensor_unref (old);
      g_array_remove_index (storage->updates, 0);
      functional_tell (cx, storage, ADJ_TAPE_APPLY, base, chain);
    }
  return TRUE;
}
