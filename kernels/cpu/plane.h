/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cpu: work on planes, the last two dims of a view. */

#include "tile.h"

/* The dims before the last two: a view of one element per plane. */
AdjKView adj_k_planes_of (const AdjKView *view);

/* The plane that starts @base elements after the first, to and from dense memory of the class. */
void adj_k_plane_load (const ClassLoops *loops, void *memory, const AdjKView *view, int64_t base);
void
adj_k_plane_store (const ClassLoops *loops, const AdjKView *view, int64_t base, const void *memory);

typedef struct
{
  void (*one) (const void *job, int64_t plane, void *memory);
  const void *job;
  size_t memory; /* bytes that one plane needs */
} PlaneWork;

/* Calls @work for planes 0 … @n - 1, each with memory aligned for any class; false when there is
 * none. */
bool adj_k_for_each_plane (const PlaneWork *work, int64_t n, bool threads);

/* Bytes of a plane, rounded up so that another array may follow. */
static inline size_t
plane_bytes (const ClassLoops *loops, const int64_t *size)
{
  return ((size_t) (size[0] * size[1]) * loops->size + 7) / 8 * 8;
}
