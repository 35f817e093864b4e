/* SPDX-License-Identifier: MIT */
/* Copies, casts, fills, ranges, triangles: a thread per element. */

#include "cuda/args.h"
#include "cuda/class.h"

DEVICE bool
is_float (int type)
{
  return type >= ADJ_K_F16;
}

DEVICE int
bytes_of (int type)
{
  return type <= ADJ_K_I8                            ? 1
         : type == ADJ_K_I16                         ? 2
         : type == ADJ_K_F16 || type == ADJ_K_BF16   ? 2
         : type == ADJ_K_I32 || type == ADJ_K_F32    ? 4
                                                     : 8;
}

/* Through the class that represents both sides exactly, or rounds as the type does. */
DEVICE void
cast (void *dst, int type, int64_t to, const void *src, int src_type, int64_t from)
{
  if (type == src_type)
    copy_element (dst, to, src, from, bytes_of (type));
  else if (type == ADJ_K_F64 || src_type == ADJ_K_F64)
    f64_store (dst, type, to, f64_load (src, src_type, from));
  else if (is_float (type) || is_float (src_type))
    f32_store (dst, type, to, f32_load (src, src_type, from));
  else
    i64_store (dst, type, to, i64_load (src, src_type, from));
}

KERNEL (adj_copy, CopyArgs)
{
  const void *from = args.is_number ? (const void *) &args.number : args.src.data;

  FOR_EACH (i, args.n)
    cast (args.dst.data, args.dst.type, offset_of (&args.dst, i), from, args.src.type,
          args.is_number ? 0 : offset_of (&args.src, i));
}

KERNEL (adj_iota, IotaArgs)
{
  FOR_EACH (i, args.n)
    {
      int64_t to = offset_of (&args.dst, i);

      if (args.is_float)
        f64_store (args.dst.data, args.dst.type, to, args.start.f + (double) i * args.step.f);
      else
        i64_store (args.dst.data, args.dst.type, to,
                   (int64_t) ((uint64_t) args.start.i + (uint64_t) i * (uint64_t) args.step.i));
    }
}

KERNEL (adj_triangle, TriangleArgs)
{
  int rank = args.dst.rank;
  int64_t rows = args.dst.size[rank - 2], cols = args.dst.size[rank - 1];
  const Number zero = { 0 };

  FOR_EACH (i, args.n)
    {
      int64_t across = i % cols - i / cols % rows;
      bool kept = args.upper ? across >= args.diagonal : across <= args.diagonal;
      int64_t to = offset_of (&args.dst, i), from = offset_of (&args.src, i);

      copy_element (args.dst.data, to, kept ? args.src.data : &zero, kept ? from : 0,
                    bytes_of (args.dst.type));
    }
}
