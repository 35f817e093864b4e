/* SPDX-License-Identifier: MIT */
/* Reading and writing at positions that a tensor gives.  What is written more than once is written
 * by one thread, in the order of the CPU: of positions of their own for each line, the elements that
 * differ in them alone, a thread takes a line; else positions are sorted. */

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

          if (v < 0 || v >= args.size)
            set_min (&args.faults->bad_index, v);
          else if (args.add)
            add_element (args.data, args.type, to, &args.src, at, NULL);
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

KERNEL (adj_many, ManyArgs)
{
  FOR_EACH (i, args.n_rest * args.n_places)
    {
      int64_t place = i / args.n_rest, rest = i % args.n_rest, at = pointed_at (&args, place);

      if (at >= 0)
        copy_element (args.values, offset_of (&args.rest, rest) + offset_of (&args.places, place),
                      args.x, offset_of (&args.x_rest, rest) + at, bytes_of_type (args.type));
    }
}

KERNEL (adj_many_keys, ManyArgs)
{
  FOR_EACH (place, args.n_places)
    args.keys[place] = pointed_at (&args, place);
}

KERNEL (adj_keys, KeysArgs)
{
  FOR_EACH (i, args.n)
    {
      int64_t v = i64_load (args.idx.data, args.idx.type, offset_of (&args.idx, i));

      if (v < 0 || v >= args.size)
        set_min (&args.faults->bad_index, v);
      args.keys[i] = v < 0 || v >= args.size || v == args.skipped ? -1 : v;
    }
}

/* The thread of the first place of a key does for all places of it, in their order. */
KERNEL (adj_put, PutArgs)
{
  FOR_EACH (i, args.n_rest * args.n_places)
    {
      int64_t place = i / args.n_rest, rest = i % args.n_rest, key = args.keys[place];
      int64_t to = offset_of (&args.x_rest, rest) + key * args.stride;
      int64_t base = offset_of (&args.rest, rest);
      double factor = args.factor;

      if (key < 0 || (place > 0 && args.keys[place - 1] == key))
        continue;
      if (args.counts)
        factor = 1 / (double) args.counts[key];
      for (; place < args.n_places && args.keys[place] == key; place++)
        {
          int64_t from = base + offset_of (&args.places, args.order[place]);

          if (args.add)
            add_element (args.x, args.x_type, to, &args.places, from,
                         args.scaled ? &factor : NULL);
          else
            copy_element (args.x, to, args.places.data, from, bytes_of_type (args.x_type));
        }
    }
}
