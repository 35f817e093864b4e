/* SPDX-License-Identifier: MIT */
/* AdjTensor: a view of a storage that is computed with; its version counts writes. */

#include "tensor/adj-tensor.h"

#include <string.h>

#include "tensor/adj-storage-internal.h"
#include "tensor/adj-tensor-internal.h"

typedef struct
{
  gpointer state;            /* (owned) (nullable) */
  const AdjSlotClass *klass; /* (nullable): without state */
} Slot;

/* A version counter shared by some tensors of a storage. */
typedef struct
{
  gatomicrefcount ref_count;
  guint32 n;
} Writes;

/* The most used members come first. */
struct _AdjTensor
{
  gatomicrefcount ref_count;
  guint number;        /* scratch of traversals: adj_tensor_get_number() */
  AdjStorage *storage; /* (owned) */
  Writes *writes;      /* (owned) (nullable): version counter apart from the storage's */
  Slot slots[ADJ_N_SLOTS];
  AdjTensorMeta meta;
};

static void
set_writes (AdjTensor *tensor, Writes *writes)
{
  Writes *old = tensor->writes;

  if (writes != NULL)
    g_atomic_ref_count_inc (&writes->ref_count);
  tensor->writes = writes;
  if (old != NULL && g_atomic_ref_count_dec (&old->ref_count))
    g_free (old);
}

static void
count_apart (AdjTensor *tensor, guint32 n)
{
  Writes *writes = g_new0 (Writes, 1);

  writes->n = n;
  set_writes (tensor, NULL);
  g_atomic_ref_count_init (&writes->ref_count);
  tensor->writes = writes;
}

static void
set_meta (AdjTensor *tensor, const AdjTensorMeta *meta)
{
  tensor->meta = *meta;
  tensor->meta.storage = (gint32) (adj_storage_get_id (tensor->storage) & G_MAXINT32);
}

AdjTensor *
adj_tensor_new (const AdjTensorMeta *meta, AdjStorage *storage)
{
  AdjTensor *tensor;

  g_return_val_if_fail (meta != NULL && storage != NULL, NULL);

  tensor = g_new (AdjTensor, 1);
  g_atomic_ref_count_init (&tensor->ref_count);
  tensor->number = 0;
  tensor->storage = adj_storage_ref (storage);
  tensor->writes = NULL;
  memset (tensor->slots, 0, sizeof tensor->slots);
  set_meta (tensor, meta);
  return tensor;
}

/* Bytes of storage that @meta needs; symbolic sizes by their hints, G_MAXSIZE when unknown. */
static gsize
needed_bytes (const AdjTensorMeta *meta, AdjSymbols *symbols)
{
  gsize n_bytes = adj_dtype_info (meta->dtype)->n_bytes;
  gint64 span;
  gint64 offset;

  if (!adj_size_get_hint (symbols, adj_shape_span (&meta->shape, symbols), &span) ||
      !adj_size_get_hint (symbols, meta->shape.offset, &offset) || span <= 0)
    return 0;
  if (offset < 0 || __builtin_add_overflow (span, offset, &span) ||
      !g_size_checked_mul (&n_bytes, n_bytes, (gsize) span))
    return G_MAXSIZE;
  return n_bytes;
}

AdjTensor *
adj_tensor_new_empty (const AdjTensorMeta *meta, AdjSymbols *symbols, gboolean fake)
{
  g_autoptr (AdjStorage) storage = NULL;
  gsize n_bytes;

  g_return_val_if_fail (meta != NULL && meta->dtype < ADJ_N_DTYPES, NULL);

  n_bytes = needed_bytes (meta, symbols);
  storage =
      fake ? adj_storage_new_fake (n_bytes, meta->device) : adj_storage_new (n_bytes, meta->device);
  return adj_tensor_new (meta, storage);
}

AdjTensor *
adj_tensor_new_from_data (AdjTensorData *data)
{
  g_autoptr (AdjStorage) storage = NULL;
  const AdjTensorMeta *meta;

  g_return_val_if_fail (data != NULL, NULL);

  meta = adj_tensor_data_get_meta (data);
  storage = adj_tensor_data_get_late (data) != NULL
                ? adj_storage_new_late (adj_tensor_data_get_late (data), meta->device)
                : adj_storage_new_shared (adj_tensor_data_get_bytes (data), meta->device);
  return adj_tensor_new (meta, storage);
}

AdjTensor *
adj_tensor_ref (AdjTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);

  g_atomic_ref_count_inc (&tensor->ref_count);
  return tensor;
}

void
adj_tensor_unref (AdjTensor *tensor)
{
  if (tensor == NULL || !g_atomic_ref_count_dec (&tensor->ref_count))
    return;

  for (guint i = 0; i < ADJ_N_SLOTS; i++)
    adj_tensor_set_slot (tensor, i, NULL, NULL);
  set_writes (tensor, NULL);
  adj_storage_unref (tensor->storage);
  g_free (tensor);
}

gboolean
adj_tensor_is_held_by (const AdjTensor *tensor, guint n)
{
  g_return_val_if_fail (tensor != NULL, FALSE);

  return g_atomic_ref_count_compare ((gatomicrefcount *) &tensor->ref_count, (gint) n);
}

void
adj_tensor_prefetch (const AdjTensor *tensor, guint step)
{
  if (step == 0)
    {
      __builtin_prefetch (tensor, 1);
      __builtin_prefetch (&tensor->meta);
    }
  else if (step == 1)
    {
      __builtin_prefetch (tensor->storage);
      __builtin_prefetch (tensor->slots[ADJ_SLOT_AUTOGRAD].state);
    }
}

guint
adj_tensor_get_number (const AdjTensor *tensor)
{
  return tensor->number;
}

void
adj_tensor_set_number (AdjTensor *tensor, guint number)
{
  tensor->number = number;
}

const AdjTensorMeta *
adj_tensor_get_meta (const AdjTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);

  return &tensor->meta;
}

AdjStorage *
adj_tensor_get_storage (const AdjTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);

  return tensor->storage;
}

guint
adj_tensor_get_rank (const AdjTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, 0);

  return tensor->meta.shape.rank;
}

gint64
adj_tensor_get_size (const AdjTensor *tensor, guint dim)
{
  AdjSize size;

  g_return_val_if_fail (tensor != NULL && dim < tensor->meta.shape.rank, -1);

  size = tensor->meta.shape.size[dim];
  return adj_size_is_int (size) ? size.word : -1;
}

void
adj_tensor_set (AdjTensor *tensor, const AdjTensorMeta *meta, AdjStorage *storage)
{
  AdjStorage *old;

  g_return_if_fail (tensor != NULL && meta != NULL);

  if (storage != NULL)
    {
      if (storage != tensor->storage)
        count_apart (tensor, adj_tensor_get_version (tensor));
      old = tensor->storage;
      tensor->storage = adj_storage_ref (storage);
      adj_storage_unref (old);
    }
  set_meta (tensor, meta);
}

guint32
adj_tensor_get_version (const AdjTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, 0);

  return tensor->writes != NULL ? tensor->writes->n : adj_storage_get_version (tensor->storage);
}

void
adj_tensor_bump_version (AdjTensor *tensor)
{
  g_return_if_fail (tensor != NULL);

  if (tensor->writes != NULL)
    tensor->writes->n++;
  else
    adj_storage_bump_version (tensor->storage);
}

void
adj_tensor_unbump_version (AdjTensor *tensor)
{
  g_return_if_fail (tensor != NULL);

  if (tensor->writes != NULL)
    tensor->writes->n--;
  else
    adj_storage_unbump_version (tensor->storage);
}

void
adj_tensor_share_version (AdjTensor *tensor, AdjTensor *other)
{
  g_return_if_fail (tensor != NULL && other != NULL);

  if (tensor != other)
    set_writes (tensor, other->writes);
}

void
adj_tensor_count_apart (AdjTensor *tensor)
{
  g_return_if_fail (tensor != NULL);

  count_apart (tensor, 0);
}

AdjTensor *
adj_tensor_shallow_copy (AdjTensor *tensor)
{
  AdjTensor *copy;

  g_return_val_if_fail (tensor != NULL, NULL);

  copy = adj_tensor_new (&tensor->meta, tensor->storage);
  count_apart (copy, 0);
  for (guint i = 0; i < ADJ_N_SLOTS; i++)
    {
      const Slot *slot = &tensor->slots[i];

      if (slot->state != NULL && slot->klass->copy != NULL)
        copy->slots[i] = (Slot){ slot->klass->copy (slot->state), slot->klass };
    }
  return copy;
}

gpointer
adj_tensor_get_slot (const AdjTensor *tensor, AdjTensorSlot slot)
{
  g_return_val_if_fail (tensor != NULL && slot < ADJ_N_SLOTS, NULL);

  return tensor->slots[slot].state;
}

void
adj_tensor_set_slot (AdjTensor *tensor,
                     AdjTensorSlot slot,
                     gpointer state,
                     const AdjSlotClass *klass)
{
  Slot old;

  g_return_if_fail (tensor != NULL && slot < ADJ_N_SLOTS);
  g_return_if_fail (state == NULL || klass != NULL);

  /* The free function may look at the tensor, which must already have the new state. */
  old = tensor->slots[slot];
  tensor->slots[slot] = (Slot){ state, klass };
  if (old.state != NULL)
    old.klass->free (old.state);
}

gboolean
adj_tensor_get_requires_grad (const AdjTensor *tensor)
{
  const Slot *slot;

  g_return_val_if_fail (tensor != NULL, FALSE);

  slot = &tensor->slots[ADJ_SLOT_AUTOGRAD];
  return slot->state != NULL && slot->klass->requires_grad != NULL &&
         slot->klass->requires_grad (slot->state);
}

AdjTensorData *
adj_tensor_snapshot (const AdjTensor *tensor)
{
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (tensor != NULL, NULL);

  if (adj_storage_is_fake (tensor->storage))
    return NULL;
  if (adj_storage_get_late (tensor->storage) != NULL)
    return adj_tensor_data_new_late (&tensor->meta, adj_storage_get_late (tensor->storage), NULL);
  bytes = adj_storage_snapshot (tensor->storage);
  return adj_tensor_data_new (&tensor->meta, bytes, NULL);
}
