/* SPDX-License-Identifier: MIT */
#pragma once

/* The compute classes on a device: from the rows that the loops of the CPU are made of, a function
 * per element.  For class f32: f32_load (data, type, i), f32_store (data, type, i, x),
 * f32_op (op, x, y, z), f32_sum (x, y), f32_prod, f32_max, f32_min, F32_SUM_IDENTITY …; so for f64
 * and i64. */

#include "cuda/device.h"

#include "adj-kernels.h"
#include "cpu/class-ops.h"
#include "cpu/vector-math.h"

/* One element of any class. */
typedef union
{
  float f32;
  double f64;
  int64_t i64;
} Scalar;

/* X (TYPE, name) */
#define KERNEL_TYPES(X)                                                                            \
  X (BOOL, bool)                                                                                   \
  X (U8, u8)                                                                                       \
  X (I8, i8)                                                                                       \
  X (I16, i16) X (I32, i32) X (I64, i64) X (F16, f16) X (BF16, bf16) X (F32, f32) X (F64, f64)

#define CLASS f32
#define T float
#define U float
#define OF_FLOAT(x) (x)
#define OF_DOUBLE(x) (x)
#define TO_I32(x) i32_of_f32 (x)
#define TO_I64(x) i64_of_f32 (x)
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define ABOVE(x, y) (((x) > (y)) | ((x) != (x)))
#define BELOW(x, y) (((x) < (y)) | ((x) != (x)))
#define CLASS_ROWS "cpu/loops-float.inc"
#define CLASS_OPS OPS_OF_FLOATS
#include "cuda/class.inc"

#define CLASS f64
#define T double
#define U double
#define OF_FLOAT(x) (x)
#define OF_DOUBLE(x) (x)
#define TO_I32(x) i32_of_f64 (x)
#define TO_I64(x) i64_of_f64 (x)
#define LOWEST (-(double) INFINITY)
#define HIGHEST ((double) INFINITY)
#define ABOVE(x, y) (((x) > (y)) | ((x) != (x)))
#define BELOW(x, y) (((x) < (y)) | ((x) != (x)))
#define CLASS_ROWS "cpu/loops-float.inc"
#define CLASS_OPS OPS_OF_FLOATS
#include "cuda/class.inc"

#define CLASS i64
#define T int64_t
#define U uint64_t
#define OF_FLOAT(x) i64_of_f32 (x)
#define OF_DOUBLE(x) i64_of_f64 (x)
#define TO_I32(x) (x)
#define TO_I64(x) (x)
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#define ABOVE(x, y) ((x) > (y))
#define BELOW(x, y) ((x) < (y))
#define CLASS_ROWS "cpu/loops-int.inc"
#define CLASS_OPS OPS_OF_I64
#include "cuda/class.inc"

/* The element at @i, of @bytes bytes, as it is. */
DEVICE void
copy_element (void *dst, int64_t to, const void *src, int64_t from, int bytes)
{
  if (bytes == 1)
    ((uint8_t *) dst)[to] = ((const uint8_t *) src)[from];
  else if (bytes == 2)
    ((uint16_t *) dst)[to] = ((const uint16_t *) src)[from];
  else if (bytes == 4)
    ((uint32_t *) dst)[to] = ((const uint32_t *) src)[from];
  else
    ((uint64_t *) dst)[to] = ((const uint64_t *) src)[from];
}

/* Where element @i, in row-major order, of @view stands. */
DEVICE int64_t
offset_of (const AdjKView *view, int64_t i)
{
  int64_t offset = 0;

  UNROLLED for (int d = view->rank - 1; d > 0; d--)
  {
    offset += i % view->size[d] * view->stride[d];
    i /= view->size[d];
  }
  return view->rank > 0 ? offset + i * view->stride[0] : offset;
}
