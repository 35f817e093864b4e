/* SPDX-License-Identifier: MIT */
/* Storage: bytes shared until the first write, with a version that counts writes. */

#include "tensor/adj-storage.h"

#include <string.h>

#include "tensor/adj-storage-internal.h"
#include "tensor/adj-tensor-internal.h"

/* For vector loads and cache lines. */
#define ALIGNMENT 64
/* The strictest that any element type needs: bytes that are less aligned are copied at once. */
#define ELEMENT_ALIGNMENT 16

struct _AdjStorage
{
  gatomicrefcount ref_count;
  guint32 version;
  AdjDevice device;
  gboolean fake;
  guint64 id;
  gsize n_bytes;
  gboolean lent;
  guint8 *bytes;  /* (nullable): owned unless @lent */
  GBytes *shared; /* (nullable): the bytes until the first write */
  AdjLateBytes
      *late; /* (owned) (nullable): what @shared is read from; %NULL from the first write on
              */
};

static guint64
next_id (void)
{
  static guint64 last;

  return __atomic_add_fetch (&last, 1, __ATOMIC_RELAXED);
}

static AdjStorage *
new_storage (gsize n_bytes, AdjDevice device)
{
  AdjStorage *storage = g_new (AdjStorage, 1);

  *storage = (AdjStorage){ .device = device, .id = next_id (), .n_bytes = n_bytes };
  g_atomic_ref_count_init (&storage->ref_count);
  return storage;
}

static guint8 *
new_bytes (gsize n_bytes)
{
  return g_aligned_alloc0 (MAX (n_bytes, 1), 1, ALIGNMENT);
}

AdjStorage *
adj_storage_new (gsize n_bytes, AdjDevice device)
{
  AdjStorage *storage = new_storage (n_bytes, device);

  storage->bytes = new_bytes (n_bytes);
  return storage;
}

AdjStorage *
adj_storage_new_shared (GBytes *bytes, AdjDevice device)
{
  AdjStorage *storage;
  gconstpointer data;

  g_return_val_if_fail (bytes != NULL, NULL);

  storage = new_storage (g_bytes_get_size (bytes), device);
  data = g_bytes_get_data (bytes, NULL);
  storage->shared = g_bytes_ref (bytes);
  if ((guintptr) data % ELEMENT_ALIGNMENT != 0)
    adj_storage_write (storage);
  return storage;
}

AdjStorage *
adj_storage_new_late (AdjLateBytes *late, AdjDevice device)
{
  AdjStorage *storage = new_storage (adj_late_bytes_get_size (late), device);

  storage->late = adj_late_bytes_ref (late);
  return storage;
}

AdjStorage *
adj_storage_new_fake (gsize n_bytes, AdjDevice device)
{
  AdjStorage *storage = new_storage (n_bytes, device);

  storage->fake = TRUE;
  return storage;
}

AdjStorage *
adj_storage_new_lent (gpointer bytes, gsize n_bytes, AdjDevice device)
{
  AdjStorage *storage = new_storage (n_bytes, device);

  storage->lent = TRUE;
  storage->bytes = bytes;
  return storage;
}

void
adj_storage_lend (AdjStorage *storage, gpointer bytes)
{
  g_assert (storage->lent);

  storage->bytes = bytes;
}

static void
free_bytes (AdjStorage *storage)
{
  if (!storage->lent)
    g_aligned_free (storage->bytes);
  storage->lent = FALSE;
}

/* Releases the bytes that were given. */
static void
forget_given (AdjStorage *storage)
{
  g_clear_pointer (&storage->shared, g_bytes_unref);
  g_clear_pointer (&storage->late, adj_late_bytes_unref);
}

AdjStorage *
adj_storage_ref (AdjStorage *storage)
{
  g_return_val_if_fail (storage != NULL, NULL);

  g_atomic_ref_count_inc (&storage->ref_count);
  return storage;
}

void
adj_storage_unref (AdjStorage *storage)
{
  if (storage == NULL || !g_atomic_ref_count_dec (&storage->ref_count))
    return;

  free_bytes (storage);
  forget_given (storage);
  g_free (storage);
}

gsize
adj_storage_get_n_bytes (const AdjStorage *storage)
{
  return storage->n_bytes;
}

AdjDevice
adj_storage_get_device (const AdjStorage *storage)
{
  return storage->device;
}

gboolean
adj_storage_is_fake (const AdjStorage *storage)
{
  return storage->fake;
}

guint64
adj_storage_get_id (const AdjStorage *storage)
{
  return storage->id;
}

AdjLateBytes *
adj_storage_get_late (const AdjStorage *storage)
{
  return storage->late;
}

gboolean
adj_storage_fetch (AdjStorage *storage, GError **error)
{
  GError *reason = NULL;

  if (storage->late == NULL || storage->shared != NULL)
    return TRUE;
  storage->shared = adj_late_bytes_read (storage->late, &reason);
  if ((guintptr) g_bytes_get_data (storage->shared, NULL) % ELEMENT_ALIGNMENT != 0)
    adj_storage_write (storage);
  if (reason != NULL)
    g_propagate_error (error, reason);
  return reason == NULL;
}

gconstpointer
adj_storage_read (const AdjStorage *storage)
{
  g_return_val_if_fail (storage != NULL && !storage->fake, NULL);

  adj_storage_fetch ((AdjStorage *) storage, NULL);
  /* g_bytes_get_data() of an empty GBytes may be %NULL; readers get a pointer. */
  if (storage->shared != NULL && storage->n_bytes > 0)
    return g_bytes_get_data (storage->shared, NULL);
  return storage->bytes != NULL ? storage->bytes : (gconstpointer) "";
}

gpointer
adj_storage_write (AdjStorage *storage)
{
  g_return_val_if_fail (storage != NULL && !storage->fake, NULL);

  adj_storage_fetch (storage, NULL);
  if (storage->shared != NULL)
    {
      storage->bytes = new_bytes (storage->n_bytes);
      if (storage->n_bytes > 0)
        memcpy (storage->bytes, g_bytes_get_data (storage->shared, NULL), storage->n_bytes);
      forget_given (storage);
    }
  return storage->bytes;
}

void
adj_storage_resize (AdjStorage *storage, gsize n_bytes)
{
  guint8 *bytes;

  g_return_if_fail (storage != NULL);

  if (!storage->fake && n_bytes != storage->n_bytes)
    {
      bytes = new_bytes (n_bytes);
      memcpy (bytes, adj_storage_read (storage), MIN (n_bytes, storage->n_bytes));
      free_bytes (storage);
      forget_given (storage);
      storage->bytes = bytes;
    }
  storage->n_bytes = n_bytes;
}

guint32
adj_storage_get_version (const AdjStorage *storage)
{
  return storage->version;
}

void
adj_storage_bump_version (AdjStorage *storage)
{
  storage->version++;
}

void
adj_storage_unbump_version (AdjStorage *storage)
{
  storage->version--;
}

GBytes *
adj_storage_snapshot (const AdjStorage *storage)
{
  g_return_val_if_fail (storage != NULL && !storage->fake, NULL);

  adj_storage_fetch ((AdjStorage *) storage, NULL);
  if (storage->shared != NULL)
    return g_bytes_ref (storage->shared);
  return g_bytes_new (storage->bytes, storage->n_bytes);
}
