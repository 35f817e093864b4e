/* SPDX-License-Identifier: MIT */

/* Rows that are short enough to be kept in a tile for all passes over them. */

#include "tile.h"

static bool
is_dense (const ClassLoops *loops, const AdjKView *row)
{
  return row->rank == 1 && (row->stride[0] == 1 || row->size[0] == 1) && row->type == loops->type;
}

const void *
adj_k_hold_row (const ClassLoops *loops, void *tile, const AdjKView *row, int64_t base, int n)
{
  if (is_dense (loops, row))
    return view_at (row, base);
  adj_k_load (loops, tile, row, base, 0, n);
  return tile;
}

void *
adj_k_begin_row (const ClassLoops *loops, void *tile, const AdjKView *row, int64_t base)
{
  return is_dense (loops, row) ? view_at (row, base) : tile;
}

void
adj_k_store_row (
    const ClassLoops *loops, const AdjKView *row, int64_t base, const void *from, int n)
{
  if (!is_dense (loops, row))
    adj_k_store (loops, row, base, 0, from, n);
}
