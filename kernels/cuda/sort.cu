/* SPDX-License-Identifier: MIT */
/* Sorting rows: runs are merged pairwise, each item finding its place by bisection in the run that
 * its own is merged with, so that equal elements stay in order. */

#include "cuda/args.h"
#include "cuda/class.h"

DEVICE bool
comes_before (const SortArgs *args, const SortItem *a, const SortItem *b)
{
  const SortItem *x = args->descending ? b : a, *y = args->descending ? a : b;

  if (!args->is_float)
    return x->key.i < y->key.i;
  return x->key.f < y->key.f || (y->key.f != y->key.f && x->key.f == x->key.f);
}

KERNEL (adj_sort_load, SortArgs)
{
  FOR_EACH (i, args.n_rows * args.n)
    {
      SortItem *item = &args.to[i];
      int64_t at = offset_of (&args.in_kept, i / args.n) + offset_of (&args.in, i % args.n);

      item->index = i % args.n;
      if (args.is_float)
        item->key.f = f64_load (args.in.data, args.in.type, at);
      else
        item->key.i = i64_load (args.in.data, args.in.type, at);
    }
}

KERNEL (adj_sort_merge, SortArgs)
{
  FOR_EACH (i, args.n_rows * args.n)
    {
      int64_t row = i / args.n * args.n, at = i - row, pair = at / (2 * args.run) * 2 * args.run;
      int64_t middle = pair + args.run < args.n ? pair + args.run : args.n;
      int64_t end = middle + args.run < args.n ? middle + args.run : args.n;
      bool left = at < middle;
      int64_t low = left ? middle : pair, high = left ? end : middle;
      const SortItem *item = &args.from[i];

      /* Of the other run: what comes before the item, equal ones too if they stand on its left. */
      while (low < high)
        {
          int64_t half = (low + high) / 2;
          const SortItem *other = &args.from[row + half];

          if (left ? comes_before (&args, other, item) : !comes_before (&args, item, other))
            low = half + 1;
          else
            high = half;
        }
      args.to[row + (left ? at + low - middle : at - middle + low)] = *item;
    }
}

KERNEL (adj_sort_store, SortArgs)
{
  FOR_EACH (i, args.n_rows * args.k)
    {
      int64_t row = i / args.k, place = i % args.k;
      const SortItem *item = &args.from[row * args.n + place];
      int64_t at = offset_of (&args.values_kept, row) + offset_of (&args.values, place);

      if (args.is_float)
        f64_store (args.values.data, args.values.type, at, item->key.f);
      else
        i64_store (args.values.data, args.values.type, at, item->key.i);
      i64_store (args.indices.data, args.indices.type,
                 offset_of (&args.indices_kept, row) + offset_of (&args.indices, place),
                 item->index);
    }
}
