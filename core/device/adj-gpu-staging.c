/* SPDX-License-Identifier: MIT */
/* Two pieces of pinned memory that are used alternately and grow as needed. */

#include "device/adj-gpu-staging.h"

#include <string.h>

#define MIN_PIECE ((gsize) 64 << 10)
#define MAX_PIECE ((gsize) 8 << 20)

typedef struct
{
  gpointer memory; /* (nullable): pinned */
  gsize n_room;
  AdjGpuEvent *event; /* recorded after the copy that uses it */
  gboolean on_way;
  gpointer to; /* (nullable): destination of a download */
  gsize n_bytes;
} Piece;

struct _AdjGpuStaging
{
  AdjGpu *gpu; /* (owned) */
  guint generation;
  AdjGpuStream *stream;
  Piece pieces[2];
  guint next;
};

static const AdjGpuRuntimeType *
type_of (const AdjGpuStaging *self)
{
  return adj_gpu_get_runtime (self->gpu)->type;
}

static AdjGpuRuntime *
runtime_of (const AdjGpuStaging *self)
{
  return adj_gpu_get_runtime (self->gpu);
}

/* Grows @piece, which is not in use, to @n_bytes. */
static gboolean
make_room (AdjGpuStaging *self, Piece *piece, gsize n_bytes, GError **error)
{
  gsize n_room = MAX (MIN_PIECE, piece->n_room);

  if (piece->event == NULL)
    piece->event = type_of (self)->event_new (runtime_of (self), error);
  if (piece->event == NULL || piece->n_room >= n_bytes)
    return piece->event != NULL;
  while (n_room < n_bytes)
    n_room *= 2;
  if (piece->memory != NULL)
    type_of (self)->release_pinned (runtime_of (self), piece->memory);
  piece->memory = type_of (self)->alloc_pinned (runtime_of (self), n_room, error);
  piece->n_room = piece->memory != NULL ? n_room : 0;
  return piece->memory != NULL;
}

AdjGpuStaging *
adj_gpu_staging_new (AdjGpu *gpu, GError **error)
{
  AdjGpuStaging *self = g_new0 (AdjGpuStaging, 1);

  self->gpu = adj_gpu_ref (gpu);
  self->generation = adj_gpu_get_generation (gpu);
  self->stream = type_of (self)->stream_new (runtime_of (self), error);
  if (self->stream != NULL)
    return self;
  adj_gpu_staging_free (self);
  return NULL;
}

static void
free_there (AdjGpuStaging *self)
{
  if (self->stream != NULL)
    type_of (self)->stream_free (runtime_of (self), self->stream);
  for (guint i = 0; i < G_N_ELEMENTS (self->pieces); i++)
    {
      if (self->pieces[i].event != NULL)
        type_of (self)->event_free (runtime_of (self), self->pieces[i].event);
      if (self->pieces[i].memory != NULL)
        type_of (self)->release_pinned (runtime_of (self), self->pieces[i].memory);
    }
}

void
adj_gpu_staging_free (AdjGpuStaging *self)
{
  if (self == NULL)
    return;

  if (self->generation == adj_gpu_get_generation (self->gpu))
    free_there (self);
  adj_gpu_unref (self->gpu);
  g_free (self);
}

AdjGpuStream *
adj_gpu_staging_get_stream (AdjGpuStaging *self)
{
  return self->stream;
}

/* Waits until @piece can be reused; a download in it is copied to its destination. */
static gboolean
finish (AdjGpuStaging *self, Piece *piece, GError **error)
{
  gboolean was = piece->on_way;

  piece->on_way = FALSE;
  if (was && !type_of (self)->event_wait (runtime_of (self), piece->event, error))
    return FALSE;
  if (was && piece->to != NULL)
    memcpy (piece->to, piece->memory, piece->n_bytes);
  return TRUE;
}

/* @to: (nullable): destination of a download. */
static gboolean
start (
    AdjGpuStaging *self, Piece *piece, gpointer device, gsize n_bytes, gpointer to, GError **error)
{
  gboolean fetches = to != NULL;

  piece->to = to;
  piece->n_bytes = n_bytes;
  piece->on_way =
      type_of (self)->copy (runtime_of (self), self->stream, fetches ? piece->memory : device,
                            fetches ? device : piece->memory, n_bytes,
                            fetches ? ADJ_GPU_TO_HOST : ADJ_GPU_TO_DEVICE, error) &&
      type_of (self)->event_record (runtime_of (self), piece->event, self->stream, error);
  return piece->on_way;
}

static Piece *
take_piece (AdjGpuStaging *self, gsize n_bytes, GError **error)
{
  Piece *piece = &self->pieces[self->next++ % G_N_ELEMENTS (self->pieces)];

  return finish (self, piece, error) && make_room (self, piece, n_bytes, error) ? piece : NULL;
}

gboolean
adj_gpu_staging_send (
    AdjGpuStaging *self, gpointer to, gconstpointer from, gsize n_bytes, GError **error)
{
  for (gsize at = 0; at < n_bytes; at += MAX_PIECE)
    {
      gsize n = MIN (MAX_PIECE, n_bytes - at);
      Piece *piece = take_piece (self, n, error);

      if (piece == NULL)
        return FALSE;
      memcpy (piece->memory, (const char *) from + at, n);
      if (!start (self, piece, (char *) to + at, n, NULL, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
adj_gpu_staging_fetch (
    AdjGpuStaging *self, gpointer to, gconstpointer from, gsize n_bytes, GError **error)
{
  gboolean done = TRUE;

  for (gsize at = 0; at < n_bytes && done; at += MAX_PIECE)
    {
      gsize n = MIN (MAX_PIECE, n_bytes - at);
      Piece *piece = take_piece (self, n, error);

      done = piece != NULL && start (self, piece, (char *) from + at, n, (char *) to + at, error);
    }
  for (guint i = 0; i < G_N_ELEMENTS (self->pieces); i++)
    done = finish (self, &self->pieces[i], done ? error : NULL) && done;
  return done;
}
