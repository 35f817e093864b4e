/* SPDX-License-Identifier: MIT */
/* Reading and writing at positions that a tensor gives.  What is written more than once is written
 * by one thread, in the order of the CPU: a thread takes a line, the elements that differ in the
 * given positions alone. */

#include "cuda/args.h"
#include "cuda/class.h"

DEVICE int
bytes_of_type (int type)
{
  return type <= ADJ_K_I8                                                   ? 1
         : type == ADJ_K_I16 || type == ADJ_K_F16 || type == ADJ_K_BF16 ? 2
         : type == ADJ_K_I32 || type == ADJ_K_F32                       ? 4
                                                                        : 8;
}

/* data[to] += factor · src[from], in the class of the data. */
DEVICE void
add_element (void *data, int type, int64_t to, const AdjKView *src, int64_t from, const double *by)
{
  if (type == ADJ_K_F64)
    {
      double x = f64_load (src->data, src->type, from);

      f64_store (data, type, to, f64_load (data, type, to) + (by ? x * *by : x));
    }
  else if (type >= ADJ_K_F16)
    {
      float x = f32_load (src->data, src->type, from);

      f32_store (data, type, to, f32_load (data, type, to) + (by ? x * (float) *by : x));
    }
  else
    {
      int64_t x = i64_load (src->data, src->type, from);

      i64_store (data, type, to,
                 i64_sum (i64_load (data, type, to), by ? i64_prod (x, i64_of_f64 (*by)) : x));
    }
}

KERNEL (adj_gather, GatherArgs)
{
  FOR_EACH (i, args.n)
    {
      int64_t v = i64_load (args.idx.data, args.idx.type, offset_of (&args.idx, i));

      if (v < 0 || v >= args.size)
        set_min (&args.faults->bad_index, v);
      else
        copy_element (args.out.data, offset_of (&args.out, i), args.x.data,
                      offset_of (&args.x, i) + v * args.stride, bytes_of_type (args.out.type));
    }
}

KERNEL (adj_scatter, ScatterArgs)
{
  FOR_EACH (line, args.n_lines)
    {
      int64_t base = offset_of (&args.lines, line), from = offset_of (&args.src, line);
      int64_t idx = offset_of (&args.idx, line);

      for (int64_t j = 0; j < args.n; j++)
        {
          int64_t v = i64_load (args.idx.data, args.idx.type, idx + j * args.idx_stride);
          int64_t to = base + v * args.stride, at = from + j * args.src_stride;
          double factor = args.factor;

          if (v < 0 || v >= args.size)
            {
              set_min (&args.faults->bad_index, v);
              continue;
            }
          if (args.counts)
            factor = 1 / (double) args.counts[v];
          if (v == args.skipped)
            continue;
          if (args.add)
            add_element (args.data, args.type, to, &args.src, at, args.scaled ? &factor : NULL);
          else
            copy_element (args.data, to, args.src.data, at, bytes_of_type (args.type));
        }
    }
}

KERNEL (adj_count, CountArgs)
{
  FOR_EACH (i, args.n)
    {
      int64_t v = i64_load (args.idx.data, args.idx.type, offset_of (&args.idx, i));

      if (v < 0 || v >= args.size)
        set_min (&args.faults->bad_index, v);
      else
        count_one (&args.counts[v]);
    }
}

/* Where the indices of @place lead in x; -1 when one is out of range. */
DEVICE int64_t
pointed_at (const ManyArgs *args, int64_t place)
{
  int64_t at = 0;

  for (int k = 0; k < args->n_idx; k++)
    {
      const AdjKView *idx = &args->idx[k];
      int64_t v = i64_load (idx->data, idx->type, offset_of (idx, place)), size = args->size[k];

      if (v < -size || v >= size)
        {
          set_min (&args->faults->bad_index, v);
          return -1;
        }
      at += (v < 0 ? v + size : v) * args->stride[k];
    }
  return at;
}

/* Reading goes by elements, writing by lines of places. */
KERNEL (adj_many, ManyArgs)
{
  int64_t lines = args.put ? args.n_rest : args.n_rest * args.n_places;
  int bytes = bytes_of_type (args.type);

  FOR_EACH (line, lines)
    {
      int64_t rest = line % args.n_rest, first = args.put ? 0 : line / args.n_rest;
      int64_t end = args.put ? args.n_places : first + 1;
      int64_t x_base = offset_of (&args.x_rest, rest), base = offset_of (&args.rest, rest);

      for (int64_t place = first; place < end; place++)
        {
          int64_t at = pointed_at (&args, place), from = base + offset_of (&args.places, place);

          if (at < 0)
            continue;
          if (args.add)
            add_element (args.x, args.x_type, x_base + at, &args.places, from, NULL);
          else if (args.put)
            copy_element (args.x, x_base + at, args.values, from, bytes);
          else
            copy_element (args.values, from, args.x, x_base + at, bytes);
        }
    }
}
