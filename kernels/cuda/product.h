/* SPDX-License-Identifier: MIT */
#pragma once

/* Matrix products by tiles: a block of 256 threads makes a tile of 16 × 16, each element a sum over
 * slices of 128 of k, slices in sequence, as on the CPU. */

#include "cuda/args.h"
#include "cuda/fold.h"

enum
{
  PRODUCT_SLICE = 128 /* of k; a multiple of the tile */
};

/* Row and column of the thread in its tile. */
#define PRODUCT_ROW (THREAD / PRODUCT_EDGE)
#define PRODUCT_COLUMN (THREAD % PRODUCT_EDGE)

DEVICE int64_t
tiles_of (int64_t n)
{
  return (n + PRODUCT_EDGE - 1) / PRODUCT_EDGE;
}

/* @acc += Σ A (p) B (p) over 0 <= p < @k, in all threads of the block.  A (p) is an element of the
 * thread's row, if @has_row, B (p) of its column, if @has_column; neither is made elsewhere. */
#define PRODUCT(...) PRODUCT_ (__VA_ARGS__)
#define PRODUCT_(c, T, k, has_row, has_column, A, B, acc)                                          \
  do                                                                                               \
    {                                                                                              \
      SHARED T product_a[PRODUCT_EDGE][PRODUCT_EDGE + 1];                                          \
      SHARED T product_b[PRODUCT_EDGE][PRODUCT_EDGE + 1];                                          \
      int product_r = PRODUCT_ROW, product_q = PRODUCT_COLUMN;                                     \
      T product_sum = 0;                                                                           \
                                                                                                   \
      for (int64_t product_p = 0; product_p < (k); product_p += PRODUCT_EDGE)                      \
        {                                                                                          \
          int64_t product_rest = (k) -product_p;                                                   \
          int product_n = product_rest < PRODUCT_EDGE ? (int) product_rest : PRODUCT_EDGE;         \
          T product_x = 0, product_y = 0;                                                          \
                                                                                                   \
          if ((has_row) && product_q < product_n)                                                  \
            product_x = A (product_p + product_q);                                                 \
          if ((has_column) && product_r < product_n)                                               \
            product_y = B (product_p + product_r);                                                 \
          product_a[product_r][product_q] = product_x;                                             \
          product_b[product_r][product_q] = product_y;                                             \
          sync_block ();                                                                           \
          for (int t = 0; t < product_n; t++)                                                      \
            product_sum =                                                                          \
                c##_add_product (product_sum, product_a[product_r][t], product_b[t][product_q]);   \
          if ((product_p + PRODUCT_EDGE) % PRODUCT_SLICE == 0 || product_rest <= PRODUCT_EDGE)     \
            {                                                                                      \
              acc = c##_sum (acc, product_sum);                                                    \
              product_sum = 0;                                                                     \
            }                                                                                      \
          sync_block ();                                                                           \
        }                                                                                          \
    }                                                                                              \
  while (0)
