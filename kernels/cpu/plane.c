/* SPDX-License-Identifier: MIT */

#include "plane.h"

#include <stdlib.h>

AdjKView
adj_k_planes_of (const AdjKView *view)
{
  AdjKView planes = *view;

  planes.rank -= 2;
  return planes;
}

bool
adj_k_for_each_plane (const PlaneWork *work, int64_t n, bool threads)
{
  bool done = true;

#pragma omp parallel for schedule(static) if (threads && n > 1) reduction(&& : done)
  for (int64_t plane = 0; plane < n; plane++)
    {
      void *memory = malloc (work->memory + 1);

      if (memory)
        work->one (work->job, plane, memory);
      else
        done = false;
      free (memory);
    }
  return done;
}

void
adj_k_plane_load (const ClassLoops *loops, void *memory, const AdjKView *view, int64_t base)
{
  const int64_t *size = view->size + view->rank - 2, *stride = view->stride + view->rank - 2;

  for (int64_t i = 0; i < size[0]; i++)
    loops->load[view->type]((char *) memory + (size_t) (i * size[1]) * loops->size,
                            view_at (view, base + i * stride[0]), stride[1], (int) size[1]);
}

void
adj_k_plane_store (const ClassLoops *loops, const AdjKView *view, int64_t base, const void *memory)
{
  const int64_t *size = view->size + view->rank - 2, *stride = view->stride + view->rank - 2;

  for (int64_t i = 0; i < size[0]; i++)
    loops->store[view->type](view_at (view, base + i * stride[0]), stride[1],
                             (const char *) memory + (size_t) (i * size[1]) * loops->size,
                             (int) size[1]);
}
