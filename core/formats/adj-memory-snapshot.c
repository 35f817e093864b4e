/* SPDX-License-Identifier: MIT */
/* Memory snapshots of GPUs: a pickle of dicts, lists, texts and numbers. */

#include "formats/adj-memory-snapshot.h"

#include <string.h>

#include "base/adj-file-internal.h"
#include "formats/pickle-private.h"

#define MAX_FILE_BYTES (G_GUINT64_CONSTANT (1) << 30)
#define PROTO 0x80 /* the first byte of a pickle */

struct _AdjMemorySnapshot
{
  AdjArena *arena;
  GArray *segments; /* AdjMemorySegment */
  GArray *events;   /* AdjMemoryEvent */
};

void
adj_memory_snapshot_free (AdjMemorySnapshot *snapshot)
{
  g_array_unref (snapshot->segments);
  g_array_unref (snapshot->events);
  adj_arena_free (snapshot->arena);
  g_free (snapshot);
}

static guint64
get_bytes (const PickleItem *item, const char *key)
{
  return (guint64) MAX (pickle_get_int (item, key, 0), 0);
}

static const char *
get_text (AdjMemorySnapshot *snapshot, const PickleItem *item, const char *key)
{
  const char *text = pickle_get_text (item, key);

  return text != NULL ? adj_arena_intern (snapshot->arena, text) : "";
}

/* (nullable): the list under @key */
static const PickleItem *
get_list (const PickleItem *item, const char *key)
{
  const PickleItem *list = pickle_get (item, key);

  return list != NULL && list->kind == PICKLE_LIST ? list : NULL;
}

/* Describes Python frames, innermost first, without those of PyTorch itself. */
static const char *
describe_frames (AdjMemorySnapshot *snapshot, const PickleItem *event)
{
  const PickleItem *frames = get_list (event, "frames");

  for (guint i = 0; frames != NULL && i < frames->n; i++)
    {
      const char *file = pickle_get_text (frames->items[i], "filename");
      const char *name = pickle_get_text (frames->items[i], "name");
      g_autofree char *base = file != NULL ? g_path_get_basename (file) : NULL;
      g_autofree char *text = NULL;

      if (file == NULL || !g_str_has_suffix (file, ".py") || strstr (file, "/torch/") != NULL)
        continue;
      text =
          g_strdup_printf ("%s:%" G_GINT64_FORMAT " %s", base,
                           pickle_get_int (frames->items[i], "line", 0), name != NULL ? name : "");
      return adj_arena_intern (snapshot->arena, text);
    }
  return NULL;
}

/* Takes the innermost line that belongs to a node of a graph. */
static void
take_node (AdjMemorySnapshot *snapshot, const PickleItem *item, AdjMemoryEvent *event)
{
  const PickleItem *frames = get_list (item, "frames");

  for (guint i = 0; frames != NULL && i < frames->n && event->node == NULL; i++)
    if (pickle_get_text (frames->items[i], "fx_node_name") != NULL)
      {
        event->node = get_text (snapshot, frames->items[i], "fx_node_name");
        event->target = get_text (snapshot, frames->items[i], "fx_node_target");
        event->program = get_text (snapshot, frames->items[i], "filename");
      }
}

static void
add_segment (AdjMemorySnapshot *snapshot, const PickleItem *item)
{
  const PickleItem *blocks = get_list (item, "blocks");
  AdjMemorySegment segment = {
    .device = (guint) CLAMP (pickle_get_int (item, "device", 0), 0, 1 << 20),
    .address = get_bytes (item, "address"),
    .total = get_bytes (item, "total_size"),
    .allocated = get_bytes (item, "allocated_size"),
    .active = get_bytes (item, "active_size"),
    .stream = get_bytes (item, "stream"),
    .n_blocks = blocks != NULL ? blocks->n : 0,
    .type = get_text (snapshot, item, "segment_type"),
  };

  g_array_append_val (snapshot->segments, segment);
}

static void
add_event (AdjMemorySnapshot *snapshot, guint device, const PickleItem *item, guint64 *allocated)
{
  AdjMemoryEvent event = {
    .device = device,
    .action = get_text (snapshot, item, "action"),
    .address = get_bytes (item, "addr"),
    .size = get_bytes (item, "size"),
    .time_us = MAX (pickle_get_int (item, "time_us", 0), 0),
    .frame = describe_frames (snapshot, item),
  };

  take_node (snapshot, item, &event);
  if (strcmp (event.action, "alloc") == 0)
    *allocated += MIN (event.size, G_MAXUINT64 - *allocated);
  else if (strcmp (event.action, "free_completed") == 0)
    *allocated -= MIN (event.size, *allocated);
  event.allocated = *allocated;
  g_array_append_val (snapshot->events, event);
}

static gboolean
take (AdjMemorySnapshot *snapshot, const PickleItem *root, const char *path, GError **error)
{
  const PickleItem *segments = get_list (root, "segments");
  const PickleItem *traces = get_list (root, "device_traces");

  if (segments == NULL && traces == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                   "%s: a pickle, but no snapshot of memory, which has \"segments\" or "
                   "\"device_traces\"",
                   path);
      return FALSE;
    }
  for (guint i = 0; segments != NULL && i < segments->n; i++)
    add_segment (snapshot, segments->items[i]);
  for (guint device = 0; traces != NULL && device < traces->n; device++)
    {
      const PickleItem *events = traces->items[device];
      guint64 allocated = 0;

      for (guint i = 0; events->kind == PICKLE_LIST && i < events->n; i++)
        add_event (snapshot, device, events->items[i], &allocated);
    }
  return TRUE;
}

AdjMemorySnapshot *
adj_memory_snapshot_load (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autoptr (GBytes) bytes =
      adj_file_read (path, ADJ_FILE_WHOLE, MAX_FILE_BYTES, cancellable, error);
  g_autoptr (AdjMemorySnapshot) snapshot = NULL;
  const PickleItem *root;
  gsize length;
  const guint8 *data;

  if (bytes == NULL)
    return NULL;
  data = g_bytes_get_data (bytes, &length);
  if (length == 0 || data[0] != PROTO)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                   "%s: no snapshot of memory, as torch.cuda.memory._dump_snapshot() writes it",
                   path);
      return NULL;
    }
  root = pickle_read (arena, data, length, path, error);
  if (root == NULL)
    return NULL;
  snapshot = g_new0 (AdjMemorySnapshot, 1);
  snapshot->arena = adj_arena_new ();
  snapshot->segments = g_array_new (FALSE, FALSE, sizeof (AdjMemorySegment));
  snapshot->events = g_array_new (FALSE, FALSE, sizeof (AdjMemoryEvent));
  return take (snapshot, root, path, error) ? g_steal_pointer (&snapshot) : NULL;
}

guint
adj_memory_snapshot_get_n_segments (const AdjMemorySnapshot *snapshot)
{
  return snapshot->segments->len;
}

const AdjMemorySegment *
adj_memory_snapshot_get_segment (const AdjMemorySnapshot *snapshot, guint index)
{
  g_return_val_if_fail (index < snapshot->segments->len, NULL);

  return &g_array_index (snapshot->segments, AdjMemorySegment, index);
}

guint
adj_memory_snapshot_get_n_events (const AdjMemorySnapshot *snapshot)
{
  return snapshot->events->len;
}

const AdjMemoryEvent *
adj_memory_snapshot_get_event (const AdjMemorySnapshot *snapshot, guint index)
{
  g_return_val_if_fail (index < snapshot->events->len, NULL);

  return &g_array_index (snapshot->events, AdjMemoryEvent, index);
}
