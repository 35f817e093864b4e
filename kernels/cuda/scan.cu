/* SPDX-License-Identifier: MIT */
/* Running sums and products: a thread per row, in sequence, f64 inside for floats. */

#include "cuda/args.h"
#include "cuda/class.h"

#define SCAN(c, T)                                                                                 \
  KERNEL (adj_scan_##c, ScanArgs)                                                                  \
  {                                                                                                \
    FOR_EACH (row, args.n_rows)                                                                    \
      {                                                                                            \
        int64_t from = offset_of (&args.in_kept, row), to = offset_of (&args.out_kept, row);       \
        T y = args.product;                                                                        \
                                                                                                   \
        for (int64_t i = 0; i < args.n; i++)                                                       \
          {                                                                                        \
            T x = c##_load (args.in.data, args.in.type, from + offset_of (&args.in, i));           \
                                                                                                   \
            y = args.product ? c##_prod (y, x) : c##_sum (y, x);                                   \
            c##_store (args.out.data, args.out.type, to + offset_of (&args.out, i), y);            \
          }                                                                                        \
      }                                                                                            \
  }

SCAN (f64, double)
SCAN (i64, int64_t)
