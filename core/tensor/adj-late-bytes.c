/* SPDX-License-Identifier: MIT */
/* Bytes that are read at first use, by the thread that comes first. */

#include "tensor/adj-late-bytes-private.h"

struct _AdjLateBytes
{
  gatomicrefcount ref_count;
  gsize size;
  AdjLateBytesFunc read;
  gpointer data;
  GDestroyNotify destroy; /* (nullable) */
  GMutex lock;
  GBytes *bytes; /* (owned) (nullable): set once, under @lock, and then never changed */
  GError *error; /* (owned) (nullable): why @bytes are zeros */
};

static AdjLateBytes *
new_late (gsize size)
{
  AdjLateBytes *late = g_new0 (AdjLateBytes, 1);

  g_atomic_ref_count_init (&late->ref_count);
  g_mutex_init (&late->lock);
  late->size = size;
  return late;
}

AdjLateBytes *
adj_late_bytes_new (gsize size, AdjLateBytesFunc read, gpointer data, GDestroyNotify destroy)
{
  AdjLateBytes *late = new_late (size);

  late->read = read;
  late->data = data;
  late->destroy = destroy;
  return late;
}

AdjLateBytes *
adj_late_bytes_new_known (GBytes *bytes)
{
  AdjLateBytes *late = new_late (g_bytes_get_size (bytes));

  late->bytes = g_bytes_ref (bytes);
  return late;
}

AdjLateBytes *
adj_late_bytes_ref (AdjLateBytes *late)
{
  g_atomic_ref_count_inc (&late->ref_count);
  return late;
}

void
adj_late_bytes_unref (AdjLateBytes *late)
{
  if (!g_atomic_ref_count_dec (&late->ref_count))
    return;
  if (late->destroy != NULL)
    late->destroy (late->data);
  g_clear_pointer (&late->bytes, g_bytes_unref);
  g_clear_error (&late->error);
  g_mutex_clear (&late->lock);
  g_free (late);
}

gsize
adj_late_bytes_get_size (const AdjLateBytes *late)
{
  return late->size;
}

/* If reading fails, gives zeros of the expected size, so that readers always find enough bytes. */
static GBytes *
read_bytes (AdjLateBytes *late)
{
  GBytes *bytes = late->read (late->data, &late->error);

  if (bytes != NULL && g_bytes_get_size (bytes) == late->size)
    return bytes;
  if (late->error == NULL)
    g_set_error_literal (&late->error, ADJ_ERROR, ADJ_ERROR_STALE,
                         "not as many bytes as there were");
  g_clear_pointer (&bytes, g_bytes_unref);
  return g_bytes_new_take (g_malloc0 (late->size), late->size);
}

GBytes *
late_bytes_get (AdjLateBytes *late, GError **error)
{
  GBytes *bytes = g_atomic_pointer_get (&late->bytes);

  if (bytes == NULL)
    {
      g_mutex_lock (&late->lock);
      if (late->bytes == NULL)
        g_atomic_pointer_set (&late->bytes, read_bytes (late));
      bytes = late->bytes;
      g_mutex_unlock (&late->lock);
    }
  if (late->error != NULL && error != NULL)
    *error = g_error_copy (late->error);
  return bytes;
}
