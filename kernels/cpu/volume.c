/* SPDX-License-Identifier: MIT */
/* Images as volumes of channels, split among threads. */

#include "volume.h"

#include <stdlib.h>

AdjKView
adj_k_volumes_of (const AdjKView *view)
{
  AdjKView volumes = *view;

  volumes.rank -= AXES;
  return volumes;
}

bool
adj_k_for_each_volume (const VolumeWork *work, int64_t n, bool threads)
{
  bool done = true;

#pragma omp parallel for schedule(static) if (threads && n > 1) reduction(&& : done)
  for (int64_t volume = 0; volume < n; volume++)
    {
      void *memory = malloc (work->memory + 1);

      if (memory)
        work->one (work->job, volume, memory);
      else
        done = false;
      free (memory);
    }
  return done;
}

/* The rows of the volume are those of @view from @base on. */
static void *
row_of (const AdjKView *view, int64_t base, int64_t row)
{
  const int64_t *size = view->size + view->rank - AXES, *stride = view->stride + view->rank - AXES;

  return view_at (view, base + row / size[1] * stride[0] + row % size[1] * stride[1]);
}

void
adj_k_volume_load (const ClassLoops *loops, void *memory, const AdjKView *view, int64_t base)
{
  const int64_t *size = view->size + view->rank - AXES;

  for (int64_t row = 0; row < size[0] * size[1]; row++)
    loops->load[view->type]((char *) memory + (size_t) (row * size[2]) * loops->size,
                            row_of (view, base, row), view->stride[view->rank - 1], (int) size[2]);
}

void
adj_k_volume_store (const ClassLoops *loops, const AdjKView *view, int64_t base, const void *memory)
{
  const int64_t *size = view->size + view->rank - AXES;

  for (int64_t row = 0; row < size[0] * size[1]; row++)
    loops->store[view->type](row_of (view, base, row), view->stride[view->rank - 1],
                             (const char *) memory + (size_t) (row * size[2]) * loops->size,
                             (int) size[2]);
}
