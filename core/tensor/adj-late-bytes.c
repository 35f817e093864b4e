/* SPDX-License-Identifier: MIT */
/* Bytes that are read when they are used: for all uses together, or for each anew. */

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
  GError *error; /* (owned) (nullable): why bytes are zeros from now on */
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
  GBytes *bytes = late->error == NULL ? late->read (late->data, &late->error) : NULL;

  if (bytes != NULL && g_bytes_get_size (bytes) == late->size)
    return bytes;
  if (late->error == NULL)
    g_set_error_literal (&late->error, ADJ_ERROR, ADJ_ERROR_STALE,
                         "not as many bytes as there were");
  g_clear_pointer (&bytes, g_bytes_unref);
  return g_bytes_new_take (g_malloc0 (late->size), late->size);
}

static GBytes *
take_bytes (AdjLateBytes *late, gboolean keep, GError **error)
{
  GBytes *bytes;

  g_mutex_lock (&late->lock);
  bytes = late->bytes != NULL ? g_bytes_ref (late->bytes) : read_bytes (late);
  if (keep && late->bytes == NULL)
    g_atomic_pointer_set (&late->bytes, g_bytes_ref (bytes));
  if (late->error != NULL && error != NULL)
    *error = g_error_copy (late->error);
  g_mutex_unlock (&late->lock);
  return bytes;
}

GBytes *
late_bytes_get (AdjLateBytes *late, GError **error)
{
  GBytes *bytes = error == NULL ? g_atomic_pointer_get (&late->bytes) : NULL;

  if (bytes != NULL)
    return bytes;
  g_bytes_unref (take_bytes (late, TRUE, error));
  return late->bytes;
}

GBytes *
adj_late_bytes_read (AdjLateBytes *late, GError **error)
{
  return take_bytes (late, FALSE, error);
}

gboolean
late_bytes_check (AdjLateBytes *late, GError **error)
{
  gboolean is_read;

  g_mutex_lock (&late->lock);
  is_read = late->error == NULL;
  if (!is_read && error != NULL)
    *error = g_error_copy (late->error);
  g_mutex_unlock (&late->lock);
  return is_read;
}
