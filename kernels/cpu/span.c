/* SPDX-License-Identifier: MIT */
/* Views of arrays: sizes of types, merging of dimensions, and walks by runs of the last dimension.
 */

#include <string.h>

#include "tile.h"

static const struct
{
  uint8_t size;
  bool is_float;
} types[ADJ_K_N] = {
  [ADJ_K_BOOL] = { 1, false }, [ADJ_K_U8] = { 1, false },  [ADJ_K_I8] = { 1, false },
  [ADJ_K_I16] = { 2, false },  [ADJ_K_I32] = { 4, false }, [ADJ_K_I64] = { 8, false },
  [ADJ_K_F16] = { 2, true },   [ADJ_K_BF16] = { 2, true }, [ADJ_K_F32] = { 4, true },
  [ADJ_K_F64] = { 8, true },
};

size_t
adj_k_type_get_size (AdjKType type)
{
  return types[type].size;
}

bool
adj_k_type_is_float (AdjKType type)
{
  return types[type].is_float;
}

int64_t
adj_k_view_count (const AdjKView *view)
{
  int64_t n = 1;

  for (int d = 0; d < view->rank; d++)
    n *= view->size[d];
  return n;
}

AdjKView
adj_k_view_keep (const AdjKView *view, uint32_t dims)
{
  AdjKView kept = { .data = view->data, .type = view->type };

  for (int d = 0; d < view->rank; d++)
    if (dims >> d & 1)
      {
        kept.size[kept.rank] = view->size[d];
        kept.stride[kept.rank++] = view->stride[d];
      }
  return kept;
}

static void
move_dim (AdjKView *view, int to, int from)
{
  view->size[to] = view->size[from];
  view->stride[to] = view->stride[from];
}

static bool
can_merge (const AdjKView *views, int n, int outer, int inner)
{
  for (int i = 0; i < n; i++)
    if (views[i].stride[outer] != views[i].stride[inner] * views[i].size[inner])
      return false;
  return true;
}

void
adj_k_views_merge (AdjKView *views, int n)
{
  int rank = 0;

  for (int d = 0; d < views[0].rank; d++)
    {
      if (views[0].size[d] == 1)
        continue;

      bool merge = rank > 0 && can_merge (views, n, rank - 1, d);

      /* Dims before `rank` are final, so d >= rank and nothing unread is overwritten. */
      for (int i = 0; i < n; i++)
        if (merge)
          {
            views[i].size[rank - 1] *= views[i].size[d];
            views[i].stride[rank - 1] = views[i].stride[d];
          }
        else
          move_dim (&views[i], rank, d);
      rank += !merge;
    }

  for (int i = 0; i < n; i++)
    {
      if (rank == 0)
        {
          views[i].size[0] = 1;
          views[i].stride[0] = 1;
        }
      views[i].rank = rank ? rank : 1;
    }
}

void
adj_k_views_merge_any_order (AdjKView *views, int n)
{
  for (int last = 1; last < views[0].rank; last++)
    for (int d = last; d > 0 && views[0].stride[d - 1] < views[0].stride[d]; d--)
      for (int i = 0; i < n; i++)
        {
          int64_t size = views[i].size[d], stride = views[i].stride[d];

          move_dim (&views[i], d, d - 1);
          views[i].size[d - 1] = size;
          views[i].stride[d - 1] = stride;
        }
  adj_k_views_merge (views, n);
}

int64_t
adj_k_view_offset (const AdjKView *view, int64_t index)
{
  int64_t offset = 0;

  for (int d = view->rank; d-- > 0;)
    {
      offset += index % view->size[d] * view->stride[d];
      index /= view->size[d];
    }
  return offset;
}

/* A position in a view that moves by whole runs of the last dim. */
typedef struct
{
  int64_t index[ADJ_K_MAX_RANK];
  int64_t offset;
} Cursor;

static Cursor
cursor_at (const AdjKView *view, int64_t base, int64_t start)
{
  Cursor cursor;

  cursor.offset = base;
  for (int d = view->rank; d-- > 0;)
    {
      cursor.index[d] = start % view->size[d];
      cursor.offset += cursor.index[d] * view->stride[d];
      start /= view->size[d];
    }
  return cursor;
}

static void
cursor_advance (Cursor *cursor, const AdjKView *view, int64_t run)
{
  int d = view->rank - 1;

  cursor->index[d] += run;
  cursor->offset += run * view->stride[d];
  for (; d > 0 && cursor->index[d] == view->size[d]; d--)
    {
      cursor->offset += view->stride[d - 1] - view->size[d] * view->stride[d];
      cursor->index[d] = 0;
      cursor->index[d - 1]++;
    }
}

static int
cursor_run (const Cursor *cursor, const AdjKView *view, int n)
{
  int last = view->rank - 1;

  return (int) min_i64 (n, view->size[last] - cursor->index[last]);
}

void
adj_k_load (
    const ClassLoops *loops, void *tile, const AdjKView *view, int64_t base, int64_t start, int n)
{
  size_t wide = loops->size;

  if (n == 0)
    return; /* a view without elements has no positions */
  if (view->rank <= 1)
    {
      int64_t stride = view->rank ? view->stride[0] : 1;

      loops->load[view->type](tile, view_at (view, base + start * stride), stride, n);
      return;
    }

  Cursor cursor = cursor_at (view, base, start);

  while (n > 0)
    {
      int run = cursor_run (&cursor, view, n);

      loops->load[view->type](tile, view_at (view, cursor.offset), view->stride[view->rank - 1],
                              run);
      cursor_advance (&cursor, view, run);
      tile = (char *) tile + (size_t) run * wide;
      n -= run;
    }
}

void
adj_k_store (const ClassLoops *loops,
             const AdjKView *view,
             int64_t base,
             int64_t start,
             const void *tile,
             int n)
{
  size_t wide = loops->size;

  if (n == 0)
    return; /* a view without elements has no positions */
  if (view->rank <= 1)
    {
      int64_t stride = view->rank ? view->stride[0] : 1;

      loops->store[view->type](view_at (view, base + start * stride), stride, tile, n);
      return;
    }

  Cursor cursor = cursor_at (view, base, start);

  while (n > 0)
    {
      int run = cursor_run (&cursor, view, n);

      loops->store[view->type](view_at (view, cursor.offset), view->stride[view->rank - 1], tile,
                               run);
      cursor_advance (&cursor, view, run);
      tile = (const char *) tile + (size_t) run * wide;
      n -= run;
    }
}

Scalar
adj_k_load_one (const ClassLoops *loops, const AdjKView *view, int64_t base)
{
  Scalar value;

  loops->load[view->type](&value, view_at (view, base), 1, 1);
  return value;
}

void
adj_k_store_one (const ClassLoops *loops, const AdjKView *view, int64_t base, Scalar value)
{
  loops->store[view->type](view_at (view, base), 1, &value, 1);
}

void
adj_k_walk_begin (Walk *walk, const AdjKView *shape)
{
  *walk = (Walk){ .rank = shape->rank, .left = adj_k_view_count (shape) };
  memcpy (walk->size, shape->size, sizeof walk->size);
}

void
adj_k_walk_add (Walk *walk, const int64_t *stride)
{
  memcpy (walk->stride[walk->n_views++], stride, (size_t) walk->rank * sizeof *stride);
}

void
adj_k_walk_next (Walk *walk)
{
  int d = walk->rank - 1;

  walk->left--;
  for (; d >= 0 && walk->index[d] + 1 == walk->size[d]; d--)
    {
      for (int v = 0; v < walk->n_views; v++)
        walk->offset[v] -= walk->index[d] * walk->stride[v][d];
      walk->index[d] = 0;
    }
  if (d < 0)
    return;
  walk->index[d]++;
  for (int v = 0; v < walk->n_views; v++)
    walk->offset[v] += walk->stride[v][d];
}
