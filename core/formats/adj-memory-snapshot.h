/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "base/adj-macros.h"

G_BEGIN_DECLS

/* The result of torch.cuda.memory._dump_snapshot(): the segments that the allocator of a GPU holds,
 * and its history (formats/SPEC.md §13).  Immutable. */
typedef struct _AdjMemorySnapshot AdjMemorySnapshot;

typedef struct
{
  guint device;
  guint64 address;
  guint64 total, allocated, active; /* bytes: reserved, in use, in use or waiting to be free */
  guint64 stream;
  guint n_blocks;
  const char *type; /* "small", "large" */
} AdjMemorySegment;

typedef struct
{
  guint device;
  const char *action; /* "alloc", "free_requested", "free_completed", "segment_alloc", "oom" … */
  guint64 address, size; /* bytes */
  gint64 time_us;        /* since 1970; 0: not recorded */
  guint64 allocated; /* bytes in use on the device after the event, counted from the first event */
  const char *frame; /* (nullable): "train.py:12 step": the innermost frame of the user's code */
  /* The innermost running line of a graph, if recorded with "augment_with_fx_traces"; else all
   * three are %NULL. */
  const char *program; /* the generated file: one for each graph */
  const char *node;    /* "mm_1" */
  const char *target;  /* "aten.mm.default", as Python prints it; "": not recorded */
} AdjMemoryEvent;

/* (transfer full) (nullable): %NULL with ADJ_ERROR_PARSE, ADJ_ERROR_LIMIT or G_IO_ERROR; messages
 * begin with @path.  Nothing in the file is executed. */
ADJ_PUBLIC AdjMemorySnapshot *
adj_memory_snapshot_load (const char *path, GCancellable *cancellable, GError **error);
ADJ_PUBLIC void adj_memory_snapshot_free (AdjMemorySnapshot *snapshot);
/* In the order of the file; valid as long as the snapshot. */
ADJ_PUBLIC guint adj_memory_snapshot_get_n_segments (const AdjMemorySnapshot *snapshot);
ADJ_PUBLIC const AdjMemorySegment *
adj_memory_snapshot_get_segment (const AdjMemorySnapshot *snapshot, guint index);
ADJ_PUBLIC guint adj_memory_snapshot_get_n_events (const AdjMemorySnapshot *snapshot);
ADJ_PUBLIC const AdjMemoryEvent *adj_memory_snapshot_get_event (const AdjMemorySnapshot *snapshot,
                                                                guint index);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjMemorySnapshot, adj_memory_snapshot_free)

G_END_DECLS
