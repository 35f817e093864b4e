/* SPDX-License-Identifier: MIT */
/* Running sums and products, f64 inside for floats: a block brings a tile of some rows into shared
 * memory, where a thread per row goes through it in sequence. */

#include "cuda/args.h"
#include "cuda/class.h"

/* Of element @e of a tile: its row and its position along the scan, from the tile's first. */
DEVICE void
place_of (const ScanArgs *args, int e, int *row, int *i)
{
  int length = SCAN_TILE / args->tile_rows;

  *row = args->across ? e % args->tile_rows : e / length;
  *i = args->across ? e / args->tile_rows : e % length;
}

#define SLOT(row, i) ((row) * (length + 1) + (i))

/* For each element of the tile that starts at @start of rows from @first on: @slot, and @row and
 * @at in the views. */
#define FOR_EACH_OF_TILE(first, start, row, at, slot)                                              \
  for (int e = THREAD, r, i; e < SCAN_TILE; e += THREADS)                                          \
    if (place_of (&args, e, &r, &i), (first) + r < args.n_rows && (start) + i < args.n)            \
      for (int64_t row = (first) + r, at = (start) + i, slot = SLOT (r, i), once = 1; once;        \
           once = 0)

#define SCAN(c, T)                                                                                 \
  KERNEL (adj_scan_##c, ScanArgs)                                                                  \
  {                                                                                                \
    SHARED T tile[SCAN_TILE + SCAN_ROWS];                                                          \
    int length = SCAN_TILE / args.tile_rows;                                                       \
                                                                                                   \
    for (int64_t first = BLOCK * args.tile_rows; first < args.n_rows;                              \
         first += BLOCKS * args.tile_rows)                                                         \
      {                                                                                            \
        T y = args.product;                                                                        \
                                                                                                   \
        for (int64_t start = 0; start < args.n; start += length)                                   \
          {                                                                                        \
            int n = args.n - start < length ? (int) (args.n - start) : length;                     \
                                                                                                   \
            FOR_EACH_OF_TILE (first, start, row, at, slot)                                         \
            tile[slot] = c##_load (args.in.data, args.in.type,                                     \
                                   offset_of (&args.in_kept, row) + offset_of (&args.in, at));     \
            sync_block ();                                                                         \
            if (THREAD < args.tile_rows && first + THREAD < args.n_rows)                           \
              for (int k = SLOT (THREAD, 0); k < SLOT (THREAD, n); k++)                            \
                tile[k] = y = args.product ? c##_prod (y, tile[k]) : c##_sum (y, tile[k]);         \
            sync_block ();                                                                         \
            FOR_EACH_OF_TILE (first, start, row, at, slot)                                         \
            c##_store (args.out.data, args.out.type,                                               \
                       offset_of (&args.out_kept, row) + offset_of (&args.out, at), tile[slot]);   \
          }                                                                                        \
      }                                                                                            \
  }

SCAN (f64, double)
SCAN (i64, int64_t)
