/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cpu: work on volumes, the last three dims of a view. */

#include "cpu/tile.h"

enum
{
  AXES = 3 /* of a volume: depth, height, width */
};

/* The dims before the last three: a view of one element per volume. */
AdjKView adj_k_volumes_of (const AdjKView *view);

/* The volume that starts @base elements after the first, to and from dense memory of the class. */
void adj_k_volume_load (const ClassLoops *loops, void *memory, const AdjKView *view, int64_t base);
void adj_k_volume_store (const ClassLoops *loops,
                         const AdjKView *view,
                         int64_t base,
                         const void *memory);

typedef struct
{
  void (*one) (const void *job, int64_t volume, void *memory);
  const void *job;
  size_t memory; /* bytes that one volume needs */
} VolumeWork;

/* Calls @work for volumes 0 … @n - 1, each with memory aligned for any class; false when memory ran
 * out. */
bool adj_k_for_each_volume (const VolumeWork *work, int64_t n, bool threads);

static inline int64_t
volume_count (const int64_t *size)
{
  return size[0] * size[1] * size[2];
}

/* Bytes of a volume, rounded up so that another array may follow. */
static inline size_t
volume_bytes (const ClassLoops *loops, const int64_t *size)
{
  return ((size_t) volume_count (size) * loops->size + 7) / 8 * 8;
}

/* The sizes of the last three dims of @view into @size. */
static inline void
volume_size (const AdjKView *view, int64_t *size)
{
  for (int axis = 0; axis < AXES; axis++)
    size[axis] = view->size[view->rank - AXES + axis];
}
